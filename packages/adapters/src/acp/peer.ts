import { InspanError, type JsonObject, type Part, type StoredMessage } from '@inspan/protocol'
import { asObject, NO_FIELDS } from '../kit/fields.ts'
import { handoverText } from '../launch/handover-text.ts'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import { refuseInstead } from '../launch/strict.ts'
import type { LiveLink, LivePeer, LiveTask, TurnPort } from '../live/live-cli-spec.ts'
import { AcpConnection, type ConnectionSetup } from './connection.ts'
import type { AcpHabits } from './habits.ts'
import { Permissions } from './permissions.ts'
import { promptBlocks } from './prompt-blocks.ts'
import { AcpSession, type SessionSetup } from './session.ts'

const PROMPT = 'session/prompt'

export interface AcpPeerSetup extends ConnectionSetup, SessionSetup {
  readonly habits: AcpHabits
  /** Returns why a tool must not be used. Called before anybody is asked. */
  readonly refusal?: (toolName: string, request: LaunchRequest) => string | undefined
}

/** Speaks with an agent over the Agent Client Protocol: JSON-RPC, one message per line. */
export class AcpPeer implements LivePeer {
  readonly undelivered: readonly string[] = []
  readonly #setup: AcpPeerSetup
  readonly #permissions: Permissions
  readonly #connection: AcpConnection
  #session: AcpSession | undefined
  #port: TurnPort | undefined

  constructor(link: LiveLink, setup: AcpPeerSetup) {
    this.#setup = setup
    this.#permissions = new Permissions(setup.title, setup.habits)
    this.#connection = new AcpConnection(
      setup,
      (message) => link.send(message),
      (params, key, signal) => this.#permissions.answer(params, key, signal),
    )
  }

  get isWaiting(): boolean {
    return this.#connection.isWaiting
  }

  async start(task: LiveTask, port: TurnPort): Promise<void> {
    const { request } = task
    const { title, refusal } = this.#setup
    this.#port = port
    this.#permissions.begin({
      port,
      cwd: request.cwd,
      servers: Object.keys(request.mcp),
      refusal: (toolName) => refusal?.(toolName, request),
    })
    const session = task.isFirst ? await this.#open(request, port) : this.#session
    if (session === undefined) throw new InspanError('misuse', `${title} has no session.`)
    await session.useModel(request.model)
    const input = [...(await this.#missedBefore(task, session)), ...request.input]
    const prompt = promptBlocks(input, title, this.#connection.can)
    this.#connection.begin(PROMPT, { sessionId: session.id, prompt })
  }

  record(record: JsonObject): void {
    const update = record['method'] === 'session/update' ? asObject(record['params'])?.['update'] : undefined
    if (update !== undefined) this.#permissions.read(asObject(update) ?? NO_FIELDS)
    if (this.#connection.receive(record) === PROMPT) this.#over()
  }

  async steer(): Promise<never> {
    throw new InspanError('unsupported', `${this.#setup.title} takes no messages while it works.`, {
      hint: 'Cancel the turn and give the message to the next one.',
    })
  }

  async interrupt(): Promise<void> {
    const { title } = this.#setup
    if (this.#session === undefined) throw new InspanError('conflict', `${title} has not begun yet.`)
    await this.#connection.notify('session/cancel', { sessionId: this.#session.id })
    this.#permissions.end()
  }

  gone(): void {
    this.#permissions.end()
    this.#connection.close()
  }

  #over(): void {
    const port = this.#port
    this.#port = undefined
    port?.over()
    this.#permissions.end()
  }

  async #open(request: LaunchRequest, port: TurnPort): Promise<AcpSession> {
    const { title } = this.#setup
    await this.#connection.greet()
    const session = await AcpSession.open(this.#connection, request, this.#setup)
    this.#session = session
    if (session.because !== undefined) {
      const warning = { message: `${title} begins a new session: ${session.because}.`, code: 'new-session' }
      if (request.strict === true) refuseInstead([warning])
      port.warn(warning.message, warning.code)
      port.nativeId = session.id
    }
    return session
  }

  /** Returns what others said in the thread, and refusals that the protocol could not explain when they happened. */
  async #missedBefore(task: LiveTask, session: AcpSession): Promise<readonly Part[]> {
    const isLost = task.isFirst && session.because !== undefined
    const missed = isLost ? await everything(task) : await task.handoverText()
    const declined = declinedText(this.#permissions.takeDeclined())
    return [missed, declined].flatMap((text): readonly Part[] =>
      text === undefined ? [] : [{ id: '', type: 'text', text }],
    )
  }
}

/** Returns the hand-over for a session that had to be begun anew and knows nothing of the thread. */
async function everything({ handover }: LiveTask): Promise<string | undefined> {
  const { messages } = await handover(() => false)
  const history = async function* (): AsyncGenerator<StoredMessage> {
    yield* messages.toReversed()
  }
  return (await handoverText(history, { kind: 'new', id: '' }, null, { runId: '' }))?.text
}

function declinedText(declined: readonly string[]): string | undefined {
  return declined.length === 0 ? undefined : ['What was declined before, and why:', ...declined].join('\n- ')
}
