import type { JsonObject, JsonValue } from '@inspan/protocol'
import { defined } from '@inspan/protocol/internal'
import { STATE_SIGNAL_SETTING } from '@inspan/protocol/log'
import type { ControlFact } from '../../engine/index.ts'
import { signalPart } from './signal-part.ts'
import type { SignalAttributes } from './signal-xml.ts'
import type { ThreadPort } from './thread-port.ts'

/** A state that the model should know: all of it, or what changed since it was last told. */
export interface StateSignal {
  /** Names the lane: signals with the same id are about the same thing. */
  readonly id: string
  /** Identifies the state; a signal with the key that the model saw last is not said again. */
  readonly cacheKey: string
  readonly mode?: 'snapshot' | 'delta'
  readonly contents: string
  readonly tagName?: string
  readonly attributes?: SignalAttributes
  readonly value?: JsonValue
  readonly delta?: JsonValue
}

/** What the model was last told in a lane. */
export interface LaneState {
  readonly cacheKey: string
  readonly mode: 'snapshot' | 'delta'
  /** The number of signals said in the lane. */
  readonly version: number
  /** The number of deltas since the last snapshot. */
  readonly deltas: number
}

/**
 * Returns what the model last saw in a lane; `null` when it sees nothing (any more): never said, rewound, or covered by
 * memory.
 */
export async function laneState(port: ThreadPort, id: string): Promise<LaneState | null> {
  const noted = port.state.head.settings.get(settingOf(id)) as JsonObject | undefined
  const { messageId, cacheKey } = noted ?? {}
  if (noted === undefined || typeof messageId !== 'string' || typeof cacheKey !== 'string') return null
  const message = await port.getMessage(messageId)
  if (message === null || message.order <= (port.state.head.om?.coversTo ?? 0)) return null
  return {
    cacheKey,
    mode: noted['mode'] === 'delta' ? 'delta' : 'snapshot',
    version: Number(noted['version']),
    deltas: Number(noted['deltas']),
  }
}

/**
 * Returns the message and the note that it was said, written in one transaction; none when the model knows the state
 * already.
 */
export function stateFacts(signal: StateSignal, last: LaneState | null, newId: () => string): readonly ControlFact[] {
  const mode = signal.mode ?? 'snapshot'
  if (last !== null && last.cacheKey === signal.cacheKey) return []
  const messageId = newId()
  const version = (last?.version ?? 0) + 1
  const part = signalPart(
    'state_signal',
    {
      tagName: signal.tagName ?? signal.id,
      message: signal.contents,
      ...defined({ attributes: signal.attributes }),
    },
    {
      id: messageId,
      stateId: signal.id,
      mode,
      cacheKey: signal.cacheKey,
      version,
      ...defined({ value: signal.value, delta: signal.delta }),
    },
  )
  const deltas = mode === 'delta' ? (last?.deltas ?? 0) + 1 : 0
  return [
    { type: 'message.added', messageId, role: 'user', parts: [part] },
    {
      type: 'config.changed',
      settings: { [settingOf(signal.id)]: { messageId, cacheKey: signal.cacheKey, mode, version, deltas } },
    },
  ]
}

function settingOf(id: string): string {
  return STATE_SIGNAL_SETTING + id
}
