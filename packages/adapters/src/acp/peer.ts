import type { ClientConnection } from '@agentclientprotocol/sdk'
import { EvenerError, type JsonObject, type Part } from '@evener/protocol'
import { asArray, asObject, asText, NO_FIELDS } from '../kit/fields.ts'
import { handoverText } from '../launch/handover-text.ts'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import type { SessionFacts } from '../live/followed-session.ts'
import type { LiveLink, LivePeer, LiveTask, TurnPort } from '../live/live-harness.ts'
import { AcpError, acpErrorOf } from './acp-error.ts'
import { capabilitiesOf, GREETING, NO_CAPABILITIES, VERSION } from './greeting.ts'
import type { AcpHabits } from './habits.ts'
import { loginsOf } from './outcome.ts'
import { Permissions } from './permissions.ts'
import { mcpServersOf, promptBlocks } from './prompt-blocks.ts'
import { Wire } from './wire.ts'

const PROMPT = 'session/prompt'

export interface AcpPeerSetup {
  readonly title: string
  readonly habits: AcpHabits
  /** The mode its sessions have to be in, so that it asks. */
  readonly mode?: string
  /** Why a tool must not be used; asked before anybody else is. */
  readonly refusal?: (toolName: string, request: LaunchRequest) => string | undefined
  /** MCP servers are given to it when it is started. */
  readonly hasOwnMcp?: boolean
  /** It wants to tell us of the files it writes, though we do not offer to hear of them. It writes them itself. */
  readonly tellsWrites?: boolean
}

/** An agent over the Agent Client Protocol: JSON-RPC, one message per line. */
export class AcpPeer implements LivePeer {
  readonly unheard: readonly string[] = []
  readonly #setup: AcpPeerSetup
  readonly #permissions: Permissions
  readonly #wire: Wire
  #connection: ClientConnection | undefined
  #can = NO_CAPABILITIES
  #logins: readonly string[] = []
  #sessionId: string | undefined
  #models: ModelOption | undefined
  #port: TurnPort | undefined
  #asked = 0

  readonly #facts: SessionFacts

  constructor(link: LiveLink, setup: AcpPeerSetup, facts: SessionFacts) {
    this.#setup = setup
    this.#facts = facts
    this.#permissions = new Permissions(setup.title, setup.habits)
    this.#wire = new Wire((message) => link.send(message))
  }

  get isWaiting(): boolean {
    return this.#asked > 0
  }

  async start(task: LiveTask, port: TurnPort): Promise<void> {
    const { request, isFirst } = task
    const { title, refusal } = this.#setup
    this.#port = port
    this.#facts.isSettled = false
    this.#permissions.begin({
      port,
      cwd: request.cwd,
      servers: Object.keys(request.mcp),
      refusal: (toolName) => refusal?.(toolName, request),
    })
    if (isFirst) {
      await this.#greet()
      await this.#open(request, port)
    }
    await this.#useModel(request.model)
    const before = [await this.#unheard(task), declinedText(this.#permissions.takeDeclined())]
    const told = before.flatMap((text): readonly Part[] => (text === undefined ? [] : [{ id: '', type: 'text', text }]))
    const prompt = promptBlocks([...told, ...request.input], title, this.#can)
    // Its answer is read from the agent's output, like everything else that it says.
    this.#agent.request(PROMPT, { sessionId: this.#sessionId, prompt }).catch(() => undefined)
  }

  record(record: JsonObject): void {
    const update = record['method'] === 'session/update' ? asObject(record['params'])?.['update'] : undefined
    if (update !== undefined) this.#permissions.read(asObject(update) ?? NO_FIELDS)
    if (this.#wire.receive(record) === PROMPT) this.#over()
  }

  async steer(): Promise<never> {
    throw new EvenerError('unsupported', `${this.#setup.title} cannot be told anything while it works.`, {
      hint: 'Cancel the turn and give the message to the next one.',
    })
  }

  async interrupt(): Promise<void> {
    const { title } = this.#setup
    if (this.#sessionId === undefined) throw new EvenerError('conflict', `${title} has not begun yet.`)
    await this.#agent.notify('session/cancel', { sessionId: this.#sessionId })
    this.#permissions.end()
  }

  gone(): void {
    this.#facts.isGone = true
    this.#permissions.end()
    this.#connection?.close()
  }

  /** What was said in the thread and not to it: a session that had to be begun anew knows nothing of it. */
  async #unheard(task: LiveTask): Promise<string | undefined> {
    const { request, isFirst, handover } = task
    const isLost = isFirst && request.session.kind !== 'new' && this.#facts.nativeId !== undefined
    if (!isLost) return task.handoverText()
    const { messages } = await handover(() => false)
    const history = async function* (): AsyncGenerator<(typeof messages)[number]> {
      yield* messages.toReversed()
    }
    return (await handoverText(history, { kind: 'new', id: '' }, null, { runId: '' }))?.text
  }

  #over(): void {
    const port = this.#port
    this.#port = undefined
    this.#facts.isSettled = true
    port?.over()
    this.#permissions.end()
  }

  get #agent(): ClientConnection['agent'] {
    if (this.#connection === undefined) throw new EvenerError('misuse', 'Nobody has greeted the agent yet.')
    return this.#connection.agent
  }

  /** Asks, and has the answer read however slow the taker of the events is. */
  async #ask(method: string, params: JsonObject): Promise<JsonObject> {
    this.#asked += 1
    try {
      return (await this.#agent.request<JsonObject | null>(method, params)) ?? NO_FIELDS
    } catch (error) {
      throw acpErrorOf(error, this.#logins)
    } finally {
      this.#asked -= 1
    }
  }

  async #greet(): Promise<void> {
    const { title, tellsWrites } = this.#setup
    const { client } = await import('@agentclientprotocol/sdk')
    const app = client({ name: 'evener' })
    if (tellsWrites === true)
      app.onRequest(
        'fs/write_text_file',
        (params) => params,
        () => ({}),
      )
    this.#connection = app
      .onRequest(
        'session/request_permission',
        (params) => params as JsonObject,
        ({ params, requestId, signal }) => this.#permissions.answer(params, String(requestId), signal),
      )
      .connect(this.#wire.stream)
    const greeted = await this.#ask('initialize', GREETING)
    this.#logins = loginsOf(greeted)
    const version = greeted['protocolVersion']
    if (version !== VERSION) {
      throw new EvenerError('unsupported', `${title} speaks version ${JSON.stringify(version)} of the protocol.`, {
        hint: `Use a version of ${title} that speaks version ${VERSION}.`,
      })
    }
    this.#can = capabilitiesOf(asObject(greeted['agentCapabilities']) ?? NO_FIELDS)
  }

  async #open(request: LaunchRequest, port: TurnPort): Promise<void> {
    const { session, cwd, mcp } = request
    const { title, hasOwnMcp } = this.#setup
    const place = { cwd, mcpServers: hasOwnMcp === true ? [] : mcpServersOf(mcp, title, this.#can) }
    const opened = session.kind === 'new' ? await this.#begin(place) : await this.#goOn(session.nativeId, place, port)
    this.#models = modelOption(opened)
    await this.#useMode(opened)
  }

  async #begin(place: JsonObject): Promise<JsonObject> {
    const opened = await this.#ask('session/new', place)
    this.#sessionId = asText(opened['sessionId'])
    return opened
  }

  /** A session that is gone is no reason not to answer. */
  async #goOn(sessionId: string, place: JsonObject, port: TurnPort): Promise<JsonObject> {
    const { title } = this.#setup
    const { canResume, canLoad } = this.#can
    let because = 'it cannot go on with one'
    if (canResume || canLoad) {
      try {
        const opened = await this.#ask(canResume ? 'session/resume' : 'session/load', { sessionId, ...place })
        this.#sessionId = sessionId
        return opened
      } catch (error) {
        if (!(error instanceof AcpError) || error.isAuthRequired) throw error
        because = error.message
      }
    }
    port.warn(`${title} begins a new session: ${because}.`, 'new-session')
    const opened = await this.#begin(place)
    this.#facts.nativeId = this.#sessionId
    return opened
  }

  async #useMode(opened: JsonObject): Promise<void> {
    const { mode } = this.#setup
    const current = asObject(opened['modes'])?.['currentModeId']
    if (mode === undefined || current === mode) return
    await this.#ask('session/set_mode', { sessionId: this.#sessionId ?? '', modeId: mode })
  }

  /** Without a model it goes on with the one it had chosen itself. */
  async #useModel(model: string | undefined): Promise<void> {
    const { title } = this.#setup
    const models = this.#models
    const wanted = model ?? models?.own
    if (wanted === undefined || wanted === models?.current) return
    if (models === undefined) {
      throw new EvenerError('unsupported', `${title} does not let its model be chosen.`, {
        hint: 'Choose it in its own settings, and leave it out here.',
      })
    }
    const { id: configId } = models
    await this.#ask('session/set_config_option', { sessionId: this.#sessionId ?? '', configId, value: wanted })
    this.#models = { ...models, current: wanted }
  }
}

function declinedText(declined: readonly string[]): string | undefined {
  return declined.length === 0 ? undefined : ['What was declined before, and why:', ...declined].join('\n- ')
}

interface ModelOption {
  readonly id: string
  readonly current: string | undefined
  /** What the agent had chosen by itself. */
  readonly own: string | undefined
}

function modelOption(opened: JsonObject): ModelOption | undefined {
  const options = (asArray(opened['configOptions']) ?? []).map((option) => asObject(option) ?? NO_FIELDS)
  const models = options.filter(({ category, type }) => category === 'model' && type === 'select')
  const option = models.find(({ id }) => id === 'model') ?? models[0]
  const id = asText(option?.['id'])
  const current = asText(option?.['currentValue'])
  return id === undefined ? undefined : { id, current, own: current }
}
