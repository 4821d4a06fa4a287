import { randomUUID } from 'node:crypto'
import type { JsonObject, Part } from '@inspan/protocol'
import { asArray, asObject, asText, NO_FIELDS } from '../kit/fields.ts'
import type { Environment } from '../launch/find-cli.ts'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import { promptOf } from '../launch/prompt.ts'
import { SessionLost, type LiveLink, type LivePeer, type LiveTask, type TurnPort } from '../live/live-cli-spec.ts'
import { Replies } from '../live/replies.ts'
import { readySession } from './ready-session.ts'
import { piProfile } from './profile.ts'

export interface PiPeerSetup {
  readonly env: Environment
  /** The provider of models that are named without one. */
  readonly provider: string | undefined
}

interface Steered {
  readonly id: string
  readonly parts: readonly Part[]
}

/** Requests of extensions that need an answer; all others only show something. */
const DIALOGS: ReadonlySet<string | undefined> = new Set(['confirm', 'editor', 'input', 'select'])

/** How Pi reports that it has no key for its model. */
const NO_KEY = /^[^\n]*No API key found/

class AuthRequired extends Error {
  readonly code = 'auth-required'
}

/** Speaks with Pi in its rpc mode: commands and their answers, and events, one record per line. */
export class PiPeer implements LivePeer {
  readonly #link: LiveLink
  readonly #setup: PiPeerSetup
  readonly #replies = new Replies(piProfile.title)
  #port: TurnPort | undefined
  /** Messages that steered this turn, in order. */
  #steered: Steered[] = []
  /** How many of them were not heard yet: the last ones. */
  #waiting = 0
  #isInterrupted = false
  #model: string | undefined

  constructor(link: LiveLink, setup: PiPeerSetup) {
    this.#link = link
    this.#setup = setup
  }

  get isWaiting(): boolean {
    return this.#replies.areOpen
  }

  get undelivered(): readonly string[] {
    return this.#queued().map(({ id }) => id)
  }

  async start({ request, isFirst, handoverText }: LiveTask, port: TurnPort): Promise<void> {
    this.#port = port
    this.#isInterrupted = false
    this.#steered = []
    this.#waiting = 0
    if (isFirst) port.nativeId = await this.#open(request)
    else if (request.model !== undefined && request.model !== this.#model) await this.#useModel(request.model)
    this.#model = request.model ?? this.#model
    const before = await handoverText()
    const earlier: readonly Part[] = before === undefined ? [] : [{ id: 'handover', type: 'text', text: before }]
    try {
      await this.#command('prompt', 'take the task', message([...earlier, ...request.input]))
    } catch (error) {
      throw error instanceof Error && NO_KEY.test(error.message) ? new AuthRequired(error.message) : error
    }
  }

  async steer(parts: readonly Part[], id: string): Promise<'injected' | 'queued'> {
    const steered: Steered = { id, parts }
    this.#steered.push(steered)
    await this.#command('steer', 'accept a message', message(parts))
    return 'injected'
  }

  async interrupt(): Promise<void> {
    this.#isInterrupted = true
    // Otherwise Pi would go on with the messages that it has not heard yet.
    if (this.#waiting > 0) await this.#command('clear_queue', 'drop its queue')
    await this.#command('abort', 'stop')
  }

  gone(): void {
    this.#replies.end('it has ended')
  }

  record(record: JsonObject): void {
    switch (record['type']) {
      case 'response':
        this.#response(record)
        return
      case 'queue_update':
        if (!this.#isInterrupted) this.#waiting = asArray(record['steering'])?.length ?? 0
        return
      case 'agent_settled':
        this.#settled()
        return
      case 'extension_ui_request':
        this.#dismiss(record)
    }
  }

  /** Ends the turn, unless a message was steered at the last moment. */
  #settled(): void {
    const late = this.#queued()
    if (late.length === 0 || this.#isInterrupted) {
      this.#over()
      return
    }
    this.#waiting = 0
    this.#goOn(late).catch(() => this.#over())
  }

  async #goOn(late: readonly Steered[]): Promise<void> {
    await this.#command('clear_queue', 'drop its queue')
    await this.#command('prompt', 'accept a message', message(late.flatMap(({ parts }) => parts)))
  }

  #over(): void {
    const port = this.#port
    this.#port = undefined
    port?.over()
  }

  #queued(): readonly Steered[] {
    return this.#waiting === 0 ? [] : this.#steered.slice(-this.#waiting)
  }

  /** Returns the id of the native session. */
  async #open(request: LaunchRequest): Promise<string | undefined> {
    const { file, because } = await readySession(request, this.#setup.env)
    if (because !== undefined) throw new SessionLost(because)
    if (file !== undefined) await this.#command('switch_session', 'resume its session', { sessionPath: file })
    const state = await this.#command('get_state', 'report its session')
    return asText(state['sessionId'])
  }

  /** Changes the model: `provider/model`, or a model of the current provider. */
  async #useModel(model: string): Promise<void> {
    const slash = model.indexOf('/')
    const state = slash === -1 ? await this.#command('get_state', 'report its model') : NO_FIELDS
    const current = asText(asObject(state['model'])?.['provider'])
    const provider = slash === -1 ? (this.#setup.provider ?? current ?? '') : model.slice(0, slash)
    await this.#command('set_model', 'change its model', { provider, modelId: model.slice(slash + 1) })
  }

  #command(type: string, what: string, fields: JsonObject = {}): Promise<JsonObject> {
    const id = randomUUID()
    const reply = this.#replies.expect(id, what)
    this.#link.send({ id, type, ...fields })
    return reply
  }

  #response(record: JsonObject): void {
    const id = asText(record['id']) ?? ''
    if (record['success'] === true) this.#replies.resolve(id, asObject(record['data']) ?? NO_FIELDS)
    else this.#replies.reject(id, { message: asText(record['error']) ?? 'it does not say why' })
  }

  /** Cancels dialogs of extensions: nobody is asked on their behalf. */
  #dismiss(record: JsonObject): void {
    const id = asText(record['id'])
    if (id === undefined || !DIALOGS.has(asText(record['method']))) return
    this.#link.send({ type: 'extension_ui_response', id, cancelled: true })
  }
}

/** Throws `unsupported` for parts that Pi cannot be given. */
function message(parts: readonly Part[]): JsonObject {
  const { text, images } = promptOf(parts, piProfile.title)
  const pictures = images.map(({ data, mimeType }) => ({ type: 'image', data, mimeType }))
  return { message: text, ...(pictures.length === 0 ? {} : { images: pictures }) }
}
