import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { holds, type Equal, type IsUnion } from '../test/type-check.ts'
import { DEFAULT_MAX_STEPS, type AgentConfig, type HarnessAgentConfig } from './agent-config.ts'
import {
  SUPPORTED_PROTOCOL_VERSIONS,
  type AgentHarness,
  type ConfigOf,
  type HarnessFactory,
  type HarnessOf,
  type WithAgentConfig,
} from './agent-harness.ts'
import { MCP_RECONNECTION_DEFAULTS, McpServerErrorCategory, McpServerStatus, type MCPConfiguration } from './mcp.ts'
import type { TelemetryEvent, TelemetryEventType } from './telemetry.ts'

interface OwnConfig extends AgentConfig {
  toolSearch?: { alwaysActive: string[] }
}

interface OwnHarness extends AgentHarness, WithAgentConfig<OwnConfig> {
  readonly extensions: { readonly search: (agentId: string) => string[] }
}

suite('a harness', () => {
  test('reports which config it takes; one that reports none takes the common one', () => {
    holds(true satisfies Equal<ConfigOf<AgentHarness>, AgentConfig>)
    holds(true satisfies Equal<ConfigOf<OwnHarness>, OwnConfig>)
    holds(false satisfies Equal<ConfigOf<OwnHarness>, ConfigOf<AgentHarness>>)
    const config: ConfigOf<OwnHarness> & { agentId?: string } = { agentId: 'a', toolSearch: { alwaysActive: [] } }
    assert.equal(config.agentId, 'a')
  })

  test('gives its type to whatever its factory is passed to', () => {
    interface OwnFactory extends HarnessFactory<OwnHarness> {
      readonly permissionMode: string
    }
    holds(true satisfies Equal<HarnessOf<OwnFactory>, OwnHarness>)
    holds(true satisfies Equal<HarnessOf<HarnessFactory>, AgentHarness>)
    holds(true satisfies Equal<HarnessOf<OwnFactory>['extensions'], OwnHarness['extensions']>)
  })

  test('gets its own fields, but no partner in its config', () => {
    holds(true satisfies Equal<Extract<keyof HarnessAgentConfig, 'modelId' | 'profile' | 'orgAlias'>, never>)
    holds(true satisfies 'toolSearch' extends keyof HarnessAgentConfig<OwnConfig> ? true : false)
  })

  test('is of a version that can be driven', () => {
    assert.deepEqual([...SUPPORTED_PROTOCOL_VERSIONS], [1])
    assert.equal(DEFAULT_MAX_STEPS, 1024)
  })
})

suite('MCP', () => {
  test('states and categories are constants with the type of the same name', () => {
    const status: McpServerStatus = McpServerStatus.Reconnecting
    assert.equal(status, 'reconnecting')
    holds(true satisfies Equal<McpServerStatus, 'connected' | 'connecting' | 'disabled' | 'error' | 'reconnecting'>)
    assert.deepEqual(Object.values(McpServerErrorCategory), [
      'connect-timeout',
      'http-401',
      'http-403',
      'http-4xx',
      'http-5xx',
      'transport-eof',
      'protocol-error',
      'config-error',
      'aborted',
      'unknown',
    ])
  })

  test('a server is a program or an address, and reconnects as the MCP client does by default', () => {
    const servers: MCPConfiguration = {
      files: { type: 'stdio', command: 'files-server', args: ['--root', '.'], env: { A: '1' }, timeout: 5_000 },
      search: { type: 'remote', url: new URL('https://example.com/mcp'), reconnectionOptions: { maxRetries: 5 } },
    }
    assert.deepEqual(Object.keys(servers), ['files', 'search'])
    assert.deepEqual(MCP_RECONNECTION_DEFAULTS, {
      maxRetries: 2,
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 30_000,
      reconnectionDelayGrowFactor: 1.5,
    })
  })
})

test('a telemetry event is recognised by its type', () => {
  holds(true satisfies Equal<TelemetryEvent['type'], TelemetryEventType>)
  type Ambiguous = {
    [Type in TelemetryEventType]: IsUnion<Extract<TelemetryEvent, { type: Type }>> extends false ? never : Type
  }[TelemetryEventType]
  holds(true satisfies Equal<Ambiguous, never>)
  const toolCountOf = (event: TelemetryEvent): number =>
    event.type === 'mcp-server-discovery-completed' ? event.toolCount : 0
  const event: TelemetryEvent = {
    type: 'mcp-server-discovery-completed',
    timestamp: 1,
    agentId: 'a',
    serverName: 'files',
    durationMs: 2,
    toolCount: 3,
  }
  assert.equal(toolCountOf(event), 3)
})
