import { randomUUID } from 'node:crypto'
import type { JsonObject, Part } from '@evener/protocol'
import { signalParts, type Signal, type SignalContents, type SignalType } from './signal-part.ts'
import { laneState, stateFacts, type StateSignal } from './state-lane.ts'
import type { ThreadPort } from './thread-port.ts'

/** What happens to a signal while a run is going on or waiting, and while there is none. */
export interface SignalRouting {
  /** `deliver`: heard before the next model step. `persist`: in the conversation, nobody is told. Default: deliver. */
  readonly ifActive?: { readonly behavior?: 'deliver' | 'persist' | 'discard' }
  /** `wake`: starts a run. Default: wake. */
  readonly ifIdle?: { readonly behavior?: 'wake' | 'persist' | 'discard' }
}

/** A user's words with their routing in one object. */
export interface UserSignalInput extends SignalRouting {
  readonly content: SignalContents
  readonly attributes?: Signal['attributes']
  readonly metadata?: JsonObject
}

export type SignalInput = Signal | UserSignalInput

export type SignalAction = 'wake' | 'deliver' | 'persist' | 'discard'

export interface SignalAccepted {
  readonly accepted: true
  readonly action: SignalAction
  /** The run that hears it. */
  readonly runId?: string
}

export interface SentSignal {
  readonly id: string
  readonly type: SignalType
  readonly accepted: Promise<SignalAccepted>
}

/** Says at once what it is; what became of it is known when it is on record. */
export function sendSignal(port: ThreadPort, input: SignalInput, routing: SignalRouting = {}): SentSignal {
  const signal: Signal = 'type' in input ? input : { type: 'user', contents: input.content, ...extras(input) }
  const own: SignalRouting = 'type' in input ? {} : input
  const id = signal.id ?? randomUUID()
  const accepted = route(port, signalParts(signal, id), id, { ...own, ...routing })
  // Whoever does not look at it must not be ended by it.
  accepted.catch(() => undefined)
  return { id, type: signal.type, accepted }
}

export type StateSignalResult =
  | { readonly skipped: true; readonly reason: 'unchanged' }
  | { readonly skipped: false; readonly version: number }

/** Tells the model of a state unless it knows it. Nobody is woken: a state is context, not a request. */
export async function sendStateSignal(port: ThreadPort, signal: StateSignal): Promise<StateSignalResult> {
  const last = await laneState(port, signal.id)
  const facts = stateFacts(signal, last)
  if (facts.length === 0) return { skipped: true, reason: 'unchanged' }
  await port.record(facts)
  return { skipped: false, version: (last?.version ?? 0) + 1 }
}

export async function route(
  port: ThreadPort,
  parts: readonly Part[],
  messageId: string,
  routing: SignalRouting,
): Promise<SignalAccepted> {
  const { run } = port.state.head
  const action =
    run === null ? (routing.ifIdle?.behavior ?? 'wake') : (routing.ifActive?.behavior ?? ('deliver' as const))
  switch (action) {
    case 'discard':
      return { accepted: true, action }
    case 'persist':
      await port.record([{ type: 'message.added', messageId, role: 'user', parts }])
      return { accepted: true, action }
    case 'wake':
    case 'deliver': {
      if (run?.status === 'parked') {
        // It answers no question: it is heard when the run goes on.
        await port.record([{ type: 'queue.added', item: { id: messageId, lane: 'steer', parts } }])
        return { accepted: true, action, runId: run.runId }
      }
      const { runId } = await port.submit(parts)
      return { accepted: true, action, runId }
    }
  }
}

function extras(input: UserSignalInput): Partial<Signal> {
  return {
    ...(input.attributes === undefined ? {} : { attributes: input.attributes }),
    ...(input.metadata === undefined ? {} : { metadata: input.metadata }),
  }
}
