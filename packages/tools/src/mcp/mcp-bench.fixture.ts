import { fileURLToPath } from 'node:url'
import type { MCPConfiguration, MCPServerConfig, McpServerInfo } from '@inspan/protocol/chat'
import type { ToolOutcome, ToolRunContext, ToolSuspension } from '@inspan/protocol/driver'
import type { McpEvent } from './mcp-event.ts'
import { McpServers, type McpServersOptions } from './mcp-servers.ts'

const path = (name: string): string => fileURLToPath(import.meta.resolve(name))
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

const local = (args: string[]): MCPServerConfig => ({ type: 'stdio', command: process.execPath, args })

export const EVERYTHING: MCPServerConfig = local([path('@modelcontextprotocol/server-everything/dist/index.js')])

export const filesystem = (folder: string): MCPServerConfig =>
  local([path('@modelcontextprotocol/server-filesystem/dist/index.js'), folder])

export const misbehaving = (...how: string[]): MCPServerConfig => local([here('misbehaving-server.fixture.ts'), ...how])

export const modern = (journal: string): MCPServerConfig => local([here('modern-server.fixture.ts'), journal])

/** Servers with everything they reported. */
export class McpBench implements AsyncDisposable {
  readonly servers: McpServers
  readonly events: McpEvent[] = []

  constructor(config: MCPConfiguration, options: McpServersOptions = {}) {
    this.servers = new McpServers(config, { ...options, onEvent: (event) => this.events.push(event) })
  }

  static async ready(config: MCPConfiguration, options: McpServersOptions = {}): Promise<McpBench> {
    const bench = new McpBench(config, options)
    await bench.servers.settled()
    return bench
  }

  info(name: string): McpServerInfo | undefined {
    return this.servers.info().find((each) => each.name === name)
  }

  call(name: string, input: object = {}, more: Partial<ToolRunContext> = {}): Promise<ToolOutcome | ToolSuspension> {
    return this.servers.call(name, input as Record<string, never>, runContext(more))
  }

  /** Resolves when the condition holds after a change. */
  async until(holds: () => boolean): Promise<void> {
    if (holds()) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const stop = this.servers.watch(() => {
      if (holds()) resolve()
    })
    await promise
    stop()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.servers.close()
  }
}

export function runContext(more: Partial<ToolRunContext> = {}): ToolRunContext {
  return {
    signal: new AbortController().signal,
    idempotencyKey: 'r:c1',
    toolCallId: 'c1',
    runId: 'r',
    turnId: 't',
    threadId: 'th',
    agentId: 'a',
    progress: () => undefined,
    ...more,
  }
}
