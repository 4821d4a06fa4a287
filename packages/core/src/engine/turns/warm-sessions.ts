import type { AgentDriver, AgentSession, Binding, HandoverBudget, Host } from '@inspan/protocol/driver'
import { timerMs } from '../checks/check-options.ts'
import { withEndTimeout } from './time-limits.ts'

const DEFAULT_KEEP_MS = 15 * 60_000

/** The door whose agent it is. Another door may have another agent with the same id. */
interface WarmDoor {
  readonly keepWarm?: number
}

interface WarmSession {
  readonly session: AgentSession
  readonly host: TurnsHost
  readonly door: WarmDoor
  /** The binding of the session. A different or rewound native session needs a new session. */
  binding: Binding | null
  timer: NodeJS.Timeout | undefined
}

/** Keeps the sessions of a thread's foreign agents open between turns, one for each agent. */
export class WarmSessions {
  readonly #onCold: () => void
  readonly #sessions = new Map<string, WarmSession>()
  /** Sessions being closed, by agent. Only the agent's next session has to wait for it. */
  readonly #closing = new Map<string, Promise<unknown>>()

  constructor(onCold: () => void) {
    this.#onCold = onCold
  }

  get size(): number {
    return this.#sessions.size
  }

  /** Returns the open session of the agent if its binding still fits, else a new one. */
  async open(driver: AgentDriver, binding: Binding | null, host: Host, door: WarmDoor): Promise<AgentSession> {
    const warm = this.#sessions.get(driver.id)
    if (warm !== undefined) {
      clearTimeout(warm.timer)
      if (warm.door === door && isSameSession(warm.binding, binding)) {
        warm.host.current = host
        return warm.session
      }
      await this.drop(driver.id)
    }
    await this.#closing.get(driver.id)
    const turns = new TurnsHost(host)
    const session = await driver.open(binding, turns)
    // While it started, the turn may have been given up and another turn may have opened its own session.
    if (!this.#sessions.has(driver.id)) {
      this.#sessions.set(driver.id, { session, host: turns, door, binding, timer: undefined })
    }
    return session
  }

  /** Called at the end of a turn. Keeps the session for the next turn, for `keepMs`. */
  rest(agentId: string, binding: Binding | null): void {
    const warm = this.#sessions.get(agentId)
    if (warm === undefined) return
    warm.binding = binding
    clearTimeout(warm.timer)
    warm.timer = setTimeout(
      () => {
        // Even if closing fails, the session is not used again.
        void this.drop(agentId).then(this.#onCold)
      },
      timerMs(warm.door.keepWarm ?? DEFAULT_KEEP_MS),
    ).unref()
  }

  /** Closes the session of an agent, or exactly the session `opened`. */
  async drop(agentId: string, opened?: AgentSession): Promise<void> {
    const warm = this.#sessions.get(agentId)
    if (opened === undefined || warm?.session === opened) {
      this.#sessions.delete(agentId)
      clearTimeout(warm?.timer)
    }
    const session = opened ?? warm?.session
    if (session === undefined) return
    const closing = withEndTimeout(session.close())
    this.#closing.set(agentId, closing)
    await closing
    if (this.#closing.get(agentId) === closing) this.#closing.delete(agentId)
  }

  /** Closes the sessions of all agents, or of those of one door. */
  async close(door?: WarmDoor): Promise<void> {
    const open = [...this.#sessions].filter(([, warm]) => door === undefined || warm.door === door)
    await Promise.all(open.map(([agentId]) => this.drop(agentId)))
  }
}

function isSameSession(a: Binding | null, b: Binding | null): boolean {
  return b?.stale === undefined && (a?.nativeId ?? null) === (b?.nativeId ?? null)
}

/** The host of a session that outlives its turns: passes every request on to the current turn. */
class TurnsHost implements Host {
  current: Host

  constructor(host: Host) {
    this.current = host
  }

  get signal(): AbortSignal {
    return this.current.signal
  }

  ask: Host['ask'] = (request) => this.current.ask(request)
  withdraw: Host['withdraw'] = (waitId) => this.current.withdraw(waitId)
  decide: Host['decide'] = (call) => this.current.decide(call)
  history: Host['history'] = (query) => this.current.history(query)
  context: Host['context'] = (request) => this.current.context(request)
  listen: Host['listen'] = () => this.current.listen()
  turn: Host['turn'] = () => this.current.turn()
  listTools: Host['listTools'] = () => this.current.listTools()
  callTool: Host['callTool'] = (call) => this.current.callTool(call)
  bind: Host['bind'] = (binding) => this.current.bind(binding)
  noteProcess: Host['noteProcess'] = (note) => this.current.noteProcess(note)
  noteHandover: Host['noteHandover'] = (note) => this.current.noteHandover(note)
  noteLimit: Host['noteLimit'] = (limit) => this.current.noteLimit(limit)
  noteActivity: Host['noteActivity'] = (activity, native) => this.current.noteActivity(activity, native)
  remind: Host['remind'] = (text) => this.current.remind(text)
  warn: Host['warn'] = (text, data) => this.current.warn(text, data)
  redact: Host['redact'] = (text) => this.current.redact(text)
  now: Host['now'] = () => this.current.now()
  log: Host['log'] = (level, message, context) => this.current.log(level, message, context)

  get handover(): HandoverBudget {
    return this.current.handover
  }
}
