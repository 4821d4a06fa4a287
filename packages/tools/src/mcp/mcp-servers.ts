import type { Tool } from '@modelcontextprotocol/client'
import { InspanError, type JsonObject, type ToolAnnotations } from '@inspan/protocol'
import {
  McpServerStatus as Status,
  type MCPConfiguration,
  type McpServerInfo,
  type McpToolInfo,
} from '@inspan/protocol/chat'
import type { SourcedTool, ToolOutcome, ToolRunContext, ToolSource, ToolSuspension } from '@inspan/protocol/driver'
import { McpConnection } from './connection.ts'
import type { McpEvent } from './mcp-event.ts'
import type { McpOAuth } from './oauth.ts'
import { isSameServer } from './server-config.ts'
import { toolName } from './tool-names.ts'

const DEFAULT_CALL_TIMEOUT_MS = 10 * 60_000
const DEFAULT_DISCOVERY_WAIT_MS = 5_000
const DEFAULT_RESTART_DELAY_MS = 500
const MAX_RESTARTS = 5
/** A server that has worked so long has recovered: its crashes are counted anew. */
const RECOVERED_MS = 60_000

export interface McpServersOptions {
  /** The folder in which local servers start. Default: that of this process. */
  readonly cwd?: string
  /** Milliseconds that a call may take without progress. Waiting for people does not count. Default: 10 minutes. */
  readonly callTimeout?: number
  /** Milliseconds that a run waits for servers that are still connecting. Default: 5,000. */
  readonly discoveryWait?: number
  /** Asks a person for consent where a remote server requires it. Without it, such a server fails with `http-401`. */
  readonly oauth?: McpOAuth
  /**
   * Milliseconds until a local server that crashed is restarted, doubled with every crash. After the sixth crash within a
   * minute it stays down until it is reconnected. Default: 500.
   */
  readonly restartDelay?: number
  /** Called when the status of a server changes. */
  readonly onEvent?: (event: McpEvent) => void
}

interface Offered {
  readonly connection: McpConnection
  readonly tool: Tool
  readonly sourced: SourcedTool
}

/** MCP servers as a source of tools. They are connected in the background, and one that fails does not disturb others. */
export class McpServers implements ToolSource {
  readonly id: string = 'mcp'
  readonly #options: McpServersOptions
  readonly #servers = new Map<string, McpConnection>()
  readonly #listeners = new Set<() => void>()
  #offered: ReadonlyMap<string, Offered> | undefined
  #isClosed = false

  constructor(servers: MCPConfiguration = {}, options: McpServersOptions = {}) {
    this.#options = options
    this.#start(servers)
  }

  /** Starts servers that are new, ends those that are gone, restarts those that changed, and leaves the others alone. */
  async update(servers: MCPConfiguration): Promise<void> {
    this.#assertOpen()
    const leaving = [...this.#servers].filter(([name, { config }]) => {
      const next = Object.hasOwn(servers, name) ? servers[name] : undefined
      return next === undefined || !isSameServer(config, next)
    })
    for (const [name] of leaving) this.#servers.delete(name)
    this.#start(servers)
    this.#changed()
    await Promise.all(leaving.map(([, connection]) => connection.close()))
  }

  /** Returns what is known now about every server. */
  info(): McpServerInfo[] {
    return [...this.#servers].map(([name, { problem, status, tools }]) => ({
      name,
      status,
      tools: tools.map((tool) => this.#toolInfo(name, tool)),
      ...(problem === undefined ? {} : { error: problem.message, errorDetail: problem.detail }),
    }))
  }

  /** Connects a server anew. Its tools stay listed until the new ones are known. Resolves when the attempt is over. */
  async reconnect(name: string): Promise<void> {
    const connection = this.#find(name)
    if (connection.status === Status.Disabled) {
      throw new InspanError('misuse', `MCP server "${name}" is disabled.`, {
        hint: 'Set `enabled` in its configuration.',
      })
    }
    if (connection.connecting !== undefined) return connection.connecting
    const began = Date.now()
    this.#emit({ type: 'mcp-server-reconnect-started', serverName: name })
    await this.#discover(name, connection)
    const { status } = connection
    this.#emit({ type: 'mcp-server-reconnect-completed', serverName: name, durationMs: Date.now() - began, status })
  }

  /** Resolves when no server is being connected. */
  async settled(): Promise<void> {
    await Promise.all([...this.#servers.values()].map(async ({ connecting }) => connecting))
  }

  async list(): Promise<readonly SourcedTool[]> {
    await this.#firstDiscovery()
    return [...this.#tools().values()].map(({ sourced }) => sourced)
  }

  call(name: string, input: JsonObject, context: ToolRunContext): Promise<ToolOutcome | ToolSuspension> {
    const found = this.#tools().get(name)
    if (found !== undefined) return found.connection.call(found.tool, input, context)
    return Promise.reject(new InspanError('not-found', `No connected MCP server has a tool "${name}".`))
  }

  /** Returns the server of a tool and what it declares about the tool, by the name that models use. */
  originOf(name: string): Pick<SourcedTool, 'annotations' | 'serverName'> | undefined {
    return this.#tools().get(name)?.sourced
  }

  watch(onChange: () => void): () => void {
    this.#listeners.add(onChange)
    return () => void this.#listeners.delete(onChange)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const all = [...this.#servers.values()]
    this.#servers.clear()
    this.#changed()
    await Promise.all(all.map((connection) => connection.close()))
  }

  #start(servers: MCPConfiguration): void {
    const { callTimeout = DEFAULT_CALL_TIMEOUT_MS, cwd, oauth } = this.#options
    for (const [name, config] of Object.entries(servers)) {
      if (this.#servers.has(name)) continue
      const connection = new McpConnection({
        name,
        config,
        callTimeoutMs: callTimeout,
        ...(cwd === undefined ? {} : { cwd }),
        ...(oauth === undefined || config.type !== 'remote'
          ? {}
          : { auth: () => oauth.provider(name, config, () => this.reconnect(name)) }),
        onChange: () => this.#changed(),
        onCalled: (call) => this.#emit({ type: 'mcp-tool-call-completed', serverName: name, ...call }),
        ...(config.type === 'stdio' ? { onLost: this.#restarter(name) } : {}),
      })
      this.#servers.set(name, connection)
      if (connection.status !== Status.Disabled) void this.#discover(name, connection)
    }
  }

  /** Returns what starts a crashed server again, later and later and not for ever. */
  #restarter(name: string): () => void {
    const { restartDelay = DEFAULT_RESTART_DELAY_MS } = this.#options
    let crashes = 0
    let startedAt = Date.now()
    return () => {
      crashes = Date.now() - startedAt > RECOVERED_MS ? 1 : crashes + 1
      if (crashes > MAX_RESTARTS) return
      const crashed = this.#servers.get(name)
      setTimeout(
        () => {
          startedAt = Date.now()
          // Somebody may have replaced, reconnected or closed it meanwhile.
          if (this.#servers.get(name) !== crashed || crashed?.status !== Status.Error) return
          this.reconnect(name).catch(() => undefined)
        },
        restartDelay * 2 ** (crashes - 1),
      ).unref()
    }
  }

  async #discover(serverName: string, connection: McpConnection): Promise<void> {
    const began = Date.now()
    this.#emit({ type: 'mcp-server-discovery-started', serverName })
    await connection.connect()
    const durationMs = Date.now() - began
    const { problem, tools } = connection
    if (problem === undefined) {
      this.#emit({ type: 'mcp-server-discovery-completed', serverName, durationMs, toolCount: tools.length })
    } else this.#emit({ type: 'mcp-server-discovery-failed', serverName, durationMs, errorDetail: problem.detail })
  }

  /** A run that begins right after the start should find its tools, but not wait for a server that hangs. */
  async #firstDiscovery(): Promise<void> {
    const pending = [...this.#servers.values()].filter(({ status }) => status === Status.Connecting)
    if (pending.length === 0) return
    const { discoveryWait = DEFAULT_DISCOVERY_WAIT_MS } = this.#options
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, discoveryWait)
    await Promise.race([Promise.all(pending.map(async ({ connecting }) => connecting)), late.promise])
    clearTimeout(timer)
  }

  #tools(): ReadonlyMap<string, Offered> {
    this.#offered ??= new Map(
      [...this.#servers].flatMap(([server, connection]) =>
        connection.tools.map((tool): [string, Offered] => {
          const sourced = this.#sourced(server, tool)
          return [sourced.name, { connection, tool, sourced }]
        }),
      ),
    )
    return this.#offered
  }

  #sourced(serverName: string, tool: Tool): SourcedTool {
    const { annotations, description, inputSchema, name } = this.#toolInfo(serverName, tool)
    return {
      name,
      serverName,
      serverToolName: tool.name,
      category: 'mcp',
      ...(description === undefined ? {} : { description }),
      inputSchema: (inputSchema ?? { type: 'object' }) as JsonObject,
      ...(annotations === undefined ? {} : { annotations }),
    }
  }

  #toolInfo(serverName: string, { annotations, description, inputSchema, name }: Tool): McpToolInfo {
    return {
      name: toolName(serverName, name, this.#servers.keys()),
      serverName,
      toolName: name,
      ...(description === undefined ? {} : { description }),
      inputSchema,
      ...(annotations === undefined ? {} : { annotations: annotations as ToolAnnotations }),
    }
  }

  #find(name: string): McpConnection {
    this.#assertOpen()
    const connection = this.#servers.get(name)
    if (connection !== undefined) return connection
    throw new InspanError('not-found', `There is no MCP server "${name}".`, {
      hint: `Known: ${[...this.#servers.keys()].join(', ') || 'none'}.`,
    })
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new InspanError('closed', 'The MCP servers were closed.')
  }

  #changed(): void {
    this.#offered = undefined
    for (const listener of this.#listeners) listener()
  }

  #emit(event: McpEvent): void {
    this.#options.onEvent?.(event)
  }
}
