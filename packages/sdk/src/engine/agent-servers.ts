import { InspanError } from '@inspan/protocol'
import type { McpAuth, MCPConfiguration, McpServerInfo } from '@inspan/protocol/chat'
import { McpServers, type McpEvent } from '@inspan/core'
import { AgentSDKError } from '../errors.ts'

/** The MCP servers of one agent. Servers whose configuration stays the same stay connected over an update. */
export class AgentServers {
  readonly source: McpServers
  #config: MCPConfiguration = {}
  /** Credentials that replaced those of the config. They are not persisted. */
  readonly #auth = new Map<string, McpAuth>()

  constructor(cwd: string, onEvent: (event: McpEvent) => void) {
    this.source = new McpServers({}, { cwd, onEvent })
  }

  async update(config: MCPConfiguration = {}): Promise<void> {
    this.#config = config
    await this.source.update(this.#authorized())
  }

  info(): McpServerInfo[] {
    return this.source.info()
  }

  originOf(toolName: string): ReturnType<McpServers['originOf']> {
    return this.source.originOf(toolName)
  }

  async reconnect(name: string): Promise<void> {
    this.#require(name)
    try {
      await this.source.reconnect(name)
    } catch (error) {
      if (!InspanError.is(error, 'misuse')) throw error
      throw new AgentSDKError('MCP_RECONNECT_FAILED', error.message, { cause: error })
    }
  }

  async refreshAuth(name: string, auth: McpAuth): Promise<void> {
    this.#require(name)
    if (this.#config[name]?.type !== 'remote') {
      throw new AgentSDKError('MCP_RECONNECT_FAILED', `MCP server "${name}" is local and takes no headers.`)
    }
    this.#auth.set(name, auth)
    await this.source.update(this.#authorized())
  }

  close(): Promise<void> {
    return this.source.close()
  }

  #authorized(): MCPConfiguration {
    const entries = Object.entries(this.#config).map(([name, config]) => {
      const auth = this.#auth.get(name)
      if (auth === undefined || config.type !== 'remote') return [name, config]
      return [name, { ...config, headers: { ...config.headers, ...auth.headers } }]
    })
    return Object.fromEntries(entries) as MCPConfiguration
  }

  #require(name: string): void {
    if (Object.hasOwn(this.#config, name)) return
    throw new AgentSDKError('MCP_SERVER_NOT_FOUND', `The agent has no MCP server "${name}".`, {
      hint: `Known: ${Object.keys(this.#config).join(', ') || 'none'}.`,
    })
  }
}
