import type { JsonObject, Part } from '@inspan/protocol'
import { defined } from '@inspan/protocol/internal'
import type { RequestContextInput } from '../agents/request-context.ts'
import { signalParts, type Signal, type SignalContents, type SignalType } from './signal-part.ts'
import { laneState, stateFacts, type StateSignal } from './state-lane.ts'
import type { SubmittedMessage, ThreadPort } from './thread-port.ts'

/** What happens to a signal while there is a run, at work or waiting, and while there is none. */
export interface SignalRouting {
  /**
   * `deliver`: sent before the next step. `persist`: added to the conversation without telling the agent. Default:
   * deliver.
   */
  readonly ifActive?: { readonly behavior?: 'deliver' | 'persist' | 'discard' }
  /** `wake`: starts a run. Default: wake. */
  readonly ifIdle?: { readonly behavior?: 'wake' | 'persist' | 'discard' }
}

/** A user's message together with its routing. */
export interface UserSignalInput extends SignalRouting {
  readonly id?: string
  readonly content: SignalContents
  readonly attributes?: Signal['attributes']
  readonly metadata?: JsonObject
  /** For the tools of the run that hears it. */
  readonly requestContext?: RequestContextInput
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

/**
 * Puts a signal into the conversation; its id is that of the message. `requestContext` is the recorded part of the
 * context.
 */
export async function sendSignal(
  port: ThreadPort,
  input: SignalInput,
  routing: SignalRouting = {},
  requestContext?: JsonObject,
): Promise<SignalAccepted> {
  const { attributes, metadata } = input
  const signal: Signal =
    'type' in input ? input : { type: 'user', contents: input.content, ...defined({ attributes, metadata }) }
  const own: SignalRouting = 'type' in input ? {} : input
  const messageId = input.id ?? port.newId()
  const message = { messageId, ...defined({ requestContext }) }
  return route(port, signalParts(signal, messageId), message, { ...own, ...routing })
}

export type StateSignalResult =
  | { readonly skipped: true; readonly reason: 'unchanged' }
  | { readonly skipped: false; readonly version: number }

/** Tells the model of a state unless it knows it already. Starts no run: a state is context, not a request. */
export async function sendStateSignal(port: ThreadPort, signal: StateSignal): Promise<StateSignalResult> {
  const last = await laneState(port, signal.id)
  const facts = stateFacts(signal, last, port.newId)
  if (facts.length === 0) return { skipped: true, reason: 'unchanged' }
  await port.record(facts)
  return { skipped: false, version: (last?.version ?? 0) + 1 }
}

export async function route(
  port: ThreadPort,
  parts: readonly Part[],
  message: SubmittedMessage & { readonly messageId: string },
  routing: SignalRouting,
): Promise<SignalAccepted> {
  const { messageId } = message
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
      const { runId } = await port.submit(parts, message)
      return { accepted: true, action, runId }
    }
  }
}
