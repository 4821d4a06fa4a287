import { isAbsolute } from 'node:path'
import {
  agent,
  PROTOCOL_VERSION,
  RequestError,
  type AgentApp,
  type AgentContext,
  type InitializeResponse,
  type ListSessionsRequest,
  type ListSessionsResponse,
  type NewSessionRequest,
} from '@agentclientprotocol/sdk'
import type { Harness, Store } from '@inspan/core'
import { InspanError } from '@inspan/protocol'
import { InspanAcpSession } from './acp-session.ts'

const SESSIONS_PER_PAGE = 100

export interface AcpAgentOptions {
  readonly version: string
  readonly store: Store
  /** Makes the harness for a folder. It is asked once per folder. */
  harnessFor(cwd: string): Promise<Harness>
  /** Reports what the protocol has no message for. */
  readonly warn: (message: string) => void
}

/** Inspan as an agent of the Agent Client Protocol. Sessions are threads of the store. */
export class InspanAcpAgent {
  readonly #options: AcpAgentOptions
  readonly #harnesses = new Map<string, Promise<Harness>>()
  readonly #sessions = new Map<string, InspanAcpSession>()

  constructor(options: AcpAgentOptions) {
    this.#options = options
  }

  app(): AgentApp {
    return agent({ name: 'inspan' })
      .onRequest('initialize', () => this.#initialize())
      .onRequest('session/new', ({ client, params }) => explained(() => this.#create(params, client)))
      .onRequest('session/load', ({ client, params }) =>
        explained(async () => {
          const session = await this.#open(params.sessionId, params.cwd, client)
          await session.replay()
          setImmediate(() => session.askOpen())
          return session.choices()
        }),
      )
      .onRequest('session/resume', ({ client, params }) =>
        explained(async () => {
          const session = await this.#open(params.sessionId, params.cwd, client)
          setImmediate(() => session.askOpen())
          return session.choices()
        }),
      )
      .onRequest('session/list', ({ params }) => explained(() => this.#list(params)))
      .onRequest('session/close', ({ params }) => explained(() => this.#close(params.sessionId)))
      .onRequest('session/set_mode', ({ params }) =>
        explained(async () => {
          await this.#session(params.sessionId).setMode(params.modeId)
          return {}
        }),
      )
      .onRequest('session/set_config_option', ({ params }) =>
        explained(async () => {
          const session = this.#session(params.sessionId)
          await session.setConfigOption(params.configId, params.value)
          return { configOptions: (await session.choices()).configOptions }
        }),
      )
      .onRequest('session/prompt', ({ params }) =>
        explained(() => this.#session(params.sessionId).prompt(params.prompt)),
      )
      .onNotification('session/cancel', ({ params }) => this.#sessions.get(params.sessionId)?.cancel())
  }

  /** Ends what this process holds. Open waits stay open. */
  async close(): Promise<void> {
    const ended = [...this.#harnesses.values()].map(async (made) => (await made).destroy())
    await Promise.allSettled(ended)
  }

  #initialize(): InitializeResponse {
    return {
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'inspan', title: 'Inspan', version: this.#options.version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, close: {} },
      },
      authMethods: [],
    }
  }

  async #create(
    { cwd, mcpServers }: NewSessionRequest,
    client: AgentContext,
  ): Promise<{ sessionId: string } & Awaited<ReturnType<InspanAcpSession['choices']>>> {
    const harness = await this.#harness(cwd)
    if (mcpServers.length > 0) {
      this.#options.warn('The MCP servers of the client are not connected. Give them to the harness instead.')
    }
    const session = await harness.createSession({ resourceId: cwd })
    await session.thread.create()
    const made = new InspanAcpSession(harness, session, client, this.#options.warn)
    this.#sessions.set(made.id, made)
    return { sessionId: made.id, ...(await made.choices()) }
  }

  async #open(sessionId: string, cwd: string, client: AgentContext): Promise<InspanAcpSession> {
    const harness = await this.#harness(cwd)
    const thread = await this.#options.store.getThread(sessionId)
    // A thread of another folder is as good as none: its tools would work on the wrong files.
    if (thread === null || thread.resourceId !== cwd) throw RequestError.sessionNotFound(sessionId)
    await this.#sessions.get(sessionId)?.close()
    this.#sessions.delete(sessionId)
    const session = await harness.createSession({ resourceId: cwd })
    await session.thread.switch({ threadId: sessionId })
    const opened = new InspanAcpSession(harness, session, client, this.#options.warn)
    this.#sessions.set(sessionId, opened)
    return opened
  }

  async #list({ cursor, cwd }: ListSessionsRequest): Promise<ListSessionsResponse> {
    const { items, next } = await this.#options.store.listThreads({
      limit: SESSIONS_PER_PAGE,
      ...(cursor === undefined || cursor === null ? {} : { cursor }),
      ...(cwd === undefined || cwd === null ? {} : { resourceId: cwd }),
    })
    const sessions = items
      // Threads of other applications need not belong to a folder.
      .filter(({ resourceId }) => isAbsolute(resourceId))
      .map(({ id, resourceId, title, updatedAt }) => ({
        sessionId: id,
        cwd: resourceId,
        updatedAt: new Date(updatedAt).toISOString(),
        ...(title === null ? {} : { title }),
      }))
    return { sessions, ...(next === null ? {} : { nextCursor: next }) }
  }

  async #close(sessionId: string): Promise<object> {
    const session = this.#session(sessionId)
    this.#sessions.delete(sessionId)
    await session.close()
    return {}
  }

  #session(sessionId: string): InspanAcpSession {
    const session = this.#sessions.get(sessionId)
    if (session === undefined) throw RequestError.sessionNotFound(sessionId)
    return session
  }

  #harness(cwd: string): Promise<Harness> {
    if (!isAbsolute(cwd)) throw RequestError.invalidParams({ cwd }, 'The folder has to be an absolute path.')
    const known = this.#harnesses.get(cwd)
    if (known !== undefined) return known
    const made = this.#options.harnessFor(cwd)
    this.#harnesses.set(cwd, made)
    made.catch(() => this.#harnesses.delete(cwd))
    return made
  }
}

/** The SDK hides the messages of errors that are not its own. */
async function explained<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!InspanError.is(error)) throw error
    const data = { code: error.code }
    throw error.code === 'invalid-input'
      ? RequestError.invalidParams(data, error.message)
      : RequestError.internalError(data, error.message)
  }
}
