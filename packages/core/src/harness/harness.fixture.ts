import { Agent, type AgentOptions } from '@inspan/agent'
import { toWireEvent, type HarnessEvent, type HarnessEventType, type PlacedEvent } from '@inspan/protocol/harness'
import type { Store } from '@inspan/protocol/store'
import { scriptedModel, type ModelRequest, type Script, type ScriptedModel } from '@inspan/testing'
import { Harness } from './harness.ts'
import type { HarnessConfig, StateShape } from './harness-config.ts'

type HarnessEventOf<Type extends HarnessEventType> = Extract<HarnessEvent, { type: Type }>

const OWN_THREAD: ReadonlySet<HarnessEventType> = new Set([
  'thread_changed',
  'thread_deleted',
  'om_status',
  'om_thread_title_updated',
])

/** Returns what the event itself says, without the session and thread that every event names. */
export function payloadOf(event: PlacedEvent): HarnessEvent {
  const { sessionId: _session, ...rest } = event
  if (OWN_THREAD.has(event.type)) return rest
  const { threadId: _thread, ...payload } = rest
  return payload as HarnessEvent
}

/** A harness with a scripted agent, and every event of its first session, without its place. */
export class HarnessBench<State extends StateShape = StateShape> implements AsyncDisposable {
  readonly model: ScriptedModel
  readonly harness: Harness<State>
  readonly events: HarnessEvent[] = []
  /** The same events as listeners get them. */
  readonly placed: PlacedEvent[] = []
  /** The JSON form of each event at the time it was emitted. */
  readonly kept = new Map<HarnessEvent, string>()

  constructor(
    script: Script<ModelRequest>,
    config: Partial<HarnessConfig<State>> = {},
    agent: Partial<AgentOptions> = {},
  ) {
    this.model = scriptedModel(script)
    this.harness = new Harness<State>({
      id: 'bench',
      agent: new Agent({ id: 'agent', model: this.model, ...agent }),
      modes: [{ id: 'build' }],
      ...config,
    })
    this.harness.session.subscribe((placed) => {
      this.placed.push(placed)
      const event = payloadOf(placed)
      this.events.push(event)
      this.kept.set(event, JSON.stringify(toWireEvent(event)))
    })
  }

  /** The types of all events except `display_state_changed`. */
  types(): HarnessEventType[] {
    return this.events.map(({ type }) => type).filter((type) => type !== 'display_state_changed')
  }

  all<Type extends HarnessEventType>(type: Type): HarnessEventOf<Type>[] {
    return this.events.filter((event): event is HarnessEventOf<Type> => event.type === type)
  }

  /** The next event of the type, or the first that fits. */
  next<Type extends HarnessEventType>(
    type: Type,
    fits: (event: HarnessEventOf<Type>) => boolean = () => true,
  ): Promise<HarnessEventOf<Type>> {
    return nextEvent(this.harness, type, fits)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.harness.destroy()
  }
}

/** Returns another store object on the same data, as another process has one. */
export function storeOfAnotherProcess(store: Store): Store {
  return new Proxy(store, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

interface Subscribable {
  subscribe(listener: (event: PlacedEvent) => void): () => void
}

export function nextEvent<Type extends HarnessEventType>(
  source: Subscribable,
  type: Type,
  fits: (event: HarnessEventOf<Type>) => boolean = () => true,
): Promise<HarnessEventOf<Type>> {
  return new Promise((resolve) => {
    const stop = source.subscribe((event) => {
      const payload = payloadOf(event)
      if (payload.type !== type || !fits(payload as HarnessEventOf<Type>)) return
      stop()
      resolve(payload as HarnessEventOf<Type>)
    })
  })
}
