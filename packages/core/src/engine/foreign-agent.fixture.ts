import type { AgentEvent, StoredMessage } from '@inspan/protocol'
import type { AgentDriver, AgentSession, Binding, Capabilities, Host, Turn } from '@inspan/protocol/driver'
import type { CancelReceipt } from '@inspan/protocol/log'

/** What a foreign agent does in one turn. */
export type Act = (turn: Turn, host: Host) => AsyncGenerator<AgentEvent>

const CAPABILITIES: Capabilities = {
  governs: 'all',
  continuity: 'native',
  steer: 'inject',
  resume: 'anchor',
  fork: 'anchor',
  handover: 'text',
  hostTools: 'none',
  interrupt: 'clean',
  usage: 'turn',
  redaction: 'record',
  images: false,
  mcp: false,
  subagents: false,
  systemPrompt: 'append',
  models: null,
  maxSteps: true,
  effort: [],
  output: false,
  limits: false,
  sessions: false,
}

/** A foreign agent: it has its own tools, asks before it acts, and keeps its own session. */
export class ForeignAgent implements AgentDriver {
  readonly port = 1
  readonly id: string
  readonly turns: Turn[] = []
  readonly steered: StoredMessage[] = []
  readonly hosts: Host[] = []
  /** What the agent's tools did. */
  readonly journal: string[] = []
  opened = 0
  closed = 0
  readonly #capabilities: Capabilities
  readonly #acts: Act[]

  constructor(id: string, acts: readonly Act[], capabilities: Partial<Capabilities> = {}) {
    this.id = id
    this.#acts = [...acts]
    this.#capabilities = { ...CAPABILITIES, ...capabilities }
  }

  async describe(): Promise<Capabilities> {
    return this.#capabilities
  }

  async open(binding: Binding | null, host: Host): Promise<AgentSession> {
    this.opened++
    this.hosts.push(host)
    const nativeId = binding?.nativeId ?? `${this.id}-session-${this.opened}`
    const stop = new AbortController()
    let stopTurn = Promise.withResolvers<void>()
    const run = async function* (this: ForeignAgent, turn: Turn): AsyncGenerator<AgentEvent> {
      this.turns.push(turn)
      stopTurn = Promise.withResolvers<void>()
      const act = this.#acts.shift() ?? says('Nothing more.')
      const events = act(turn, host)
      yield { type: 'start' }
      host.bind({ agentId: this.id, nativeId, syncedTo: 0 })
      const stopped = stopTurn.promise.then(() => ({ done: true, value: undefined }) as const)
      for (;;) {
        const next = await Promise.race([events.next(), stopped])
        if (next.done === true) break
        yield next.value
      }
      yield { type: 'finish', finishReason: 'stop' }
    }.bind(this)
    const cancel = async (): Promise<CancelReceipt> => {
      stopTurn.resolve()
      return { how: 'clean', calls: [], orphansKilled: 0, queued: [] }
    }
    return {
      run,
      cancel,
      ...(this.#capabilities.steer === 'inject' || this.#capabilities.steer === 'queue'
        ? {
            steer: async (message: StoredMessage) => {
              this.steered.push(message)
              return this.#capabilities.steer === 'inject' ? 'injected' : 'queued'
            },
          }
        : {}),
      close: async () => {
        if (stop.signal.aborted) return
        stop.abort()
        stopTurn.resolve()
        this.closed++
      },
    }
  }
}

export function says(text: string): Act {
  return async function* () {
    yield { type: 'step-start', stepIndex: 0 }
    yield { type: 'text-delta', text }
    yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
  }
}

/** Does one thing in its folder without asking, and says so. */
export function does(work: (cwd: string) => void): Act {
  return async function* (turn, host) {
    work(turn.cwd ?? '')
    yield* says('Done.')(turn, host)
  }
}

/** Asks for permission to run a command, and runs it if allowed. */
export function runs(agent: () => ForeignAgent, command: string, toolCallId: string = `call-${command}`): Act {
  return async function* (_turn, host) {
    yield { type: 'step-start', stepIndex: 0 }
    yield* callOf(agent, command, toolCallId, host)
    yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
  }
}

export async function* callOf(
  agent: () => ForeignAgent,
  command: string,
  toolCallId: string,
  host: Host,
): AsyncGenerator<AgentEvent> {
  const toolName = 'execute_command'
  const args = { command }
  yield { type: 'tool-call', toolCallId, toolName, args }
  const { policy, reason } = host.decide({ toolCallId, toolName, args, category: 'execute', cwd: '/project' })
  const answer =
    policy === 'ask'
      ? await host.ask({
          id: crypto.randomUUID(),
          kind: 'approval',
          subject: { agentId: agent().id, toolCallId, toolName, args },
          description: `run ${command}`,
          payload: { cwd: '/project' },
        })
      : { decision: policy === 'allow' ? 'approve' : 'decline', reason }
  if (answer.decision === 'approve') agent().journal.push(command)
  const isError = answer.decision !== 'approve'
  yield { type: 'tool-result', toolCallId, toolName, result: isError ? `no: ${answer.reason ?? ''}` : 'ran', isError }
}
