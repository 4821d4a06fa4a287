import type { Client, InputRequiredResult, OAuthClientProvider, Tool, Transport } from '@modelcontextprotocol/client'
import { InspanError, type JsonObject } from '@inspan/protocol'
import { McpServerStatus as Status, type MCPServerConfig } from '@inspan/protocol/chat'
import type { ToolOutcome, ToolRunContext, ToolSuspension } from '@inspan/protocol/driver'
import { CallSignals } from './call-signals.ts'
import { LiveCall, type CallReply, type LiveEvent } from './live-call.ts'
import { loadClient, type McpLibrary } from './load-client.ts'
import type { OutputChecks } from './output-checks.ts'
import { checkServer, timeoutOf } from './server-config.ts'
import { problemOf, sanitised, type ServerProblem } from './server-error.ts'
import { questionOf, responsesOf, retryStateOf, suspensionFor, suspensionOf } from './server-question.ts'
import { outcomeOf } from './tool-result.ts'

/** The library counts time as well, in 32 bits. Our own clock stops while people are asked. */
const NO_TIMEOUT_MS = 2 ** 31 - 1

/** How often a server may ask for the same call again without asking anybody anything. */
const MAX_EMPTY_ROUNDS = 8

export interface ConnectionOptions {
  readonly name: string
  readonly config: MCPServerConfig
  readonly cwd?: string
  readonly callTimeoutMs: number
  readonly auth?: () => Promise<OAuthClientProvider>
  /** Called when status or tools have changed. */
  readonly onChange: () => void
  /** Called when a call has ended or waits for an answer. */
  readonly onCalled: (call: { toolName: string; durationMs: number; isError: boolean }) => void
  /** Called when a server that was connected has ended the connection by itself. */
  readonly onLost?: () => void
}

type McpCallOptions = NonNullable<Parameters<Client['callTool']>[1]> & { readonly allowInputRequired: true }

/** One server: connecting, its tools, and their calls. */
export class McpConnection {
  readonly config: MCPServerConfig
  readonly #options: ConnectionOptions
  readonly #live = new Map<string, LiveCall>()
  readonly #signals = new CallSignals()
  readonly #closing = new AbortController()
  #clock: NodeJS.Timeout | undefined
  #status: Status
  #tools: readonly Tool[] = []
  #problem: ServerProblem | undefined
  #library: McpLibrary | undefined
  #client: Client | undefined
  #transport: Transport | undefined
  #checks: OutputChecks | undefined
  #connecting: Promise<void> | undefined

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.config = options.config
    this.#status = options.config.enabled === false ? Status.Disabled : Status.Connecting
  }

  get status(): Status {
    return this.#status
  }

  get tools(): readonly Tool[] {
    return this.#tools
  }

  /** Why the server cannot be used, when its status is `error`. */
  get problem(): ServerProblem | undefined {
    return this.#problem
  }

  /** The attempt under way, if there is one. */
  get connecting(): Promise<void> | undefined {
    return this.#connecting
  }

  /** Connects, or connects anew. Attempts do not overlap: a second call joins the first. Never rejects. */
  connect(): Promise<void> {
    if (this.#status === Status.Disabled || this.#closing.signal.aborted) return Promise.resolve()
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined
    })
    return this.#connecting
  }

  async close(): Promise<void> {
    this.#closing.abort(new InspanError('closed', 'The server is no longer wanted.'))
    await this.#connecting
    await this.#drop()
    clearTimeout(this.#clock)
  }

  /** One function awaits the reply and accounts for it: every further promise costs each call. */
  async call(tool: Tool, input: JsonObject, context: ToolRunContext): Promise<ToolOutcome | ToolSuspension> {
    const began = Date.now()
    let isError = true
    let live: LiveCall | undefined
    try {
      live = this.#liveCall(tool, input, context)
      const outcome = live === undefined ? LOST : this.#outcomeOf(tool, context, await live.next())
      isError = 'result' in outcome && outcome.isError === true
      return outcome
    } catch (error) {
      // Nothing was sent yet: the error is ours.
      if (live === undefined) throw error
      this.#live.delete(context.idempotencyKey)
      throw this.#callFailure(error)
    } finally {
      this.#options.onCalled({ toolName: tool.name, durationMs: Date.now() - began, isError })
    }
  }

  /** Returns the call to wait for: one that an answer continues, or a new one. Undefined if it was lost. */
  #liveCall(tool: Tool, input: JsonObject, context: ToolRunContext): LiveCall | undefined {
    const { idempotencyKey: key, resume, state } = context
    const asking = resume === undefined ? undefined : this.#live.get(key)
    if (resume !== undefined && asking !== undefined) {
      asking.answer(resume)
      return asking
    }
    if (resume !== undefined && state === undefined) return undefined
    const retry = resume === undefined || state === undefined ? undefined : { ...retryStateOf(state), answer: resume }
    const live = this.#begin(
      tool,
      input,
      context,
      retry && { ...requestStateOf(retry), inputResponses: responsesOf(retry, retry.answer) },
    )
    this.#live.set(key, live)
    this.#clock ??= this.#watch(this.#options.callTimeoutMs)
    return live
  }

  /** One timer for all calls, which are many and short. It ends after the last of them. */
  #watch(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      const { callTimeoutMs } = this.#options
      const left = [...this.#live.values()].map((live) => live.expire(callTimeoutMs))
      this.#clock = left.length === 0 ? undefined : this.#watch(Math.min(...left))
    }, Math.ceil(delayMs)).unref()
  }

  #outcomeOf(tool: Tool, { idempotencyKey }: ToolRunContext, event: LiveEvent): ToolOutcome | ToolSuspension {
    if ('question' in event) {
      const { suspend } = suspensionFor(this.#options.name, { answer: event.question })
      return { suspend: { ...suspend, resumable: false } }
    }
    this.#live.delete(idempotencyKey)
    if (isInputRequired(event.reply)) return suspensionOf(this.#options.name, event.reply)
    const wrong = this.#checks?.problem(tool, event.reply)
    return wrong === undefined ? outcomeOf(event.reply) : { result: wrong, isError: true }
  }

  #begin(tool: Tool, input: JsonObject, { progress, signal }: ToolRunContext, retry: object | undefined): LiveCall {
    const client = this.#client
    if (client === undefined) {
      throw new InspanError('closed', `MCP server "${this.#options.name}" is not connected.`, {
        hint: 'Reconnect it with reconnectMcpServer.',
      })
    }
    const live = new LiveCall(signal, this.#signals)
    const options: McpCallOptions = {
      signal: live.signal,
      timeout: NO_TIMEOUT_MS,
      allowInputRequired: true,
      toolDefinition: withoutOutputSchema(tool),
      onprogress: ({ message, progress: done, total }) => {
        live.touch()
        // Everything that a call shows is one text, so each report is a line of it.
        progress(`${message ?? `${done}${total === undefined ? '' : `/${total}`}`}\n`)
      },
    }
    const send = (more: object | undefined, round: number): void => {
      client.callTool({ name: tool.name, arguments: input, ...more }, options).then(
        (reply: CallReply) => {
          if (!isEmptyRound(reply)) live.succeed(reply)
          else if (round < MAX_EMPTY_ROUNDS) send(requestStateOf(reply), round + 1)
          else live.fail(new InspanError('io', 'The server asks for the same call again and again.'))
        },
        (error: unknown) => live.fail(error),
      )
    }
    send(retry, 0)
    return live
  }

  /** Keeps what the engine needs to tell a cancel, and says nothing about this machine. */
  #callFailure(error: unknown): unknown {
    if (!(error instanceof Error) || error.name === 'AbortError') return error
    const { message } = problemOf(error)
    return new InspanError('io', `MCP server "${this.#options.name}": ${message}`)
  }

  async #connect(): Promise<void> {
    const { config, name } = this.#options
    this.#set(this.#status === Status.Connected ? Status.Reconnecting : Status.Connecting)
    const timeoutMs = timeoutOf(config)
    const late = new InspanError('expired', `The server was not ready within ${timeoutMs} ms.`)
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(late), timeoutMs)
    const signal = AbortSignal.any([deadline.signal, this.#closing.signal])
    try {
      checkServer(name, config)
      await this.#drop()
      this.#library = await loadClient()
      await this.#open(this.#library, timeoutMs, signal)
      await this.#list(signal)
      this.#set(Status.Connected)
    } catch (error) {
      await this.#drop()
      this.#fail(signal.aborted ? signal.reason : error)
    } finally {
      clearTimeout(timer)
    }
  }

  async #open(library: McpLibrary, timeoutMs: number, signal: AbortSignal): Promise<void> {
    const { auth, config, cwd } = this.#options
    // Needed only by programs that have servers.
    const [{ connect }, checks] = await Promise.all([import('./connect.ts'), import('./output-checks.ts')])
    const { client, transport } = await connect({
      config,
      library,
      timeoutMs,
      signal,
      ...(cwd === undefined ? {} : { cwd }),
      ...(auth === undefined ? {} : { auth: await auth() }),
      prepare: (prepared) => this.#listen(prepared),
      onToolsChanged: () => void this.#refresh(),
    })
    this.#client = client
    this.#transport = transport
    this.#checks = new checks.OutputChecks(library)
    const onclose = (): void => {
      if (this.#client === client) this.#lost(transport)
    }
    Object.assign(client, { onclose })
  }

  /** Older servers ask while a call is under way, and do not say which: it is the one that has waited longest. */
  #listen(client: Client): void {
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      const [call] = this.#live.values()
      return call === undefined ? { action: 'cancel' } : call.ask(questionOf(params))
    })
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { tools } = (await this.#client?.listTools(undefined, { signal, cacheMode: 'refresh' })) ?? { tools: [] }
    const first = new Map<string, Tool>()
    for (const tool of tools) if (!first.has(tool.name)) first.set(tool.name, tool)
    this.#tools = [...first.values()]
  }

  /** The server says that its tools have changed. */
  async #refresh(): Promise<void> {
    const client = this.#client
    try {
      await this.#list(AbortSignal.any([this.#closing.signal, AbortSignal.timeout(timeoutOf(this.config))]))
      if (this.#client === client) this.#options.onChange()
    } catch (error) {
      if (this.#client !== client || this.#closing.signal.aborted) return
      await this.#drop()
      this.#fail(error)
    }
  }

  /** The connection ended without us. */
  #lost(transport: Transport): void {
    this.#client = undefined
    const said = 'stderr' in transport ? sanitised(String(transport.stderr)) : ''
    const error = new Error(`The server has ended the connection.${said === '' ? '' : ` Its last words: ${said}`}`)
    this.#fail(Object.assign(error, { code: 'CONNECTION_CLOSED' }))
    this.#options.onLost?.()
  }

  async #drop(): Promise<void> {
    const { [0]: client, [1]: transport } = [this.#client, this.#transport] as const
    this.#client = undefined
    this.#transport = undefined
    await client?.close().catch(() => undefined)
    await transport?.close().catch(() => undefined)
  }

  #fail(error: unknown): void {
    this.#tools = []
    this.#problem = problemOf(error)
    this.#set(Status.Error)
  }

  #set(status: Status): void {
    this.#status = status
    if (status !== Status.Error) this.#problem = undefined
    this.#options.onChange()
  }
}

const LOST: ToolOutcome = {
  result:
    'The server had asked a question, and the process that was connected to it is gone. Whether the call had an effect ' +
    'is unknown. Check before making it again.',
  isError: true,
}

/** What the library is given: its output schema is checked by us, because a question is no output. */
function withoutOutputSchema(tool: Tool): Tool {
  if (tool.outputSchema === undefined) return tool
  const { outputSchema: _outputSchema, ...rest } = tool
  return rest
}

/** The server wants the call again, and asks nobody anything. */
function isEmptyRound(reply: CallReply): reply is InputRequiredResult {
  return isInputRequired(reply) && Object.keys(reply.inputRequests ?? {}).length === 0
}

function isInputRequired(reply: CallReply): reply is Extract<CallReply, { resultType: 'input_required' }> {
  return 'resultType' in reply && reply.resultType === 'input_required'
}

function requestStateOf({ requestState }: { readonly requestState?: string }): object {
  return requestState === undefined ? {} : { requestState }
}
