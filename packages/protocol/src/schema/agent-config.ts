import { z } from 'zod'
import type { AgentConfig, Model, ToolDefinition } from '../agent-config.ts'
import type {
  McpServerErrorDetail,
  McpServerInfo,
  MCPReconnectionOptions,
  MCPRemoteServerConfig,
  MCPStdioServerConfig,
  McpToolInfo,
} from '../mcp.ts'
import type { Wire } from '../wire-form.ts'
import { toolAnnotationsSchema } from './agent-event.ts'
import { exact, type Schema } from './exact.ts'
import { listOf, mapOf, object, optional, taggedUnion } from './fields.ts'
import { jsonObjectSchema } from './json.ts'

/** The form in a file, where a URL is text. */
type RemoteServerJson = Omit<Wire<MCPRemoteServerConfig>, 'url'> & { readonly url: string }
type MCPConfigurationJson = { readonly [name: string]: Wire<MCPStdioServerConfig> | RemoteServerJson }
export type AgentConfigJson = Omit<Wire<AgentConfig>, 'mcpServers'> & { readonly mcpServers?: MCPConfigurationJson }

export const toolDefinitionSchema: Schema<Wire<ToolDefinition>> = exact<Wire<ToolDefinition>>()(
  object({
    name: z.string(),
    description: optional(z.string()),
    inputSchema: jsonObjectSchema,
    annotations: optional(toolAnnotationsSchema),
  }),
)

export const modelSchema: Schema<Model> = exact<Model>()(
  object({
    id: z.string(),
    provider: z.string(),
    nativeId: z.string(),
    contextWindow: z.number(),
    maxOutputTokens: optional(z.number()),
    supportedFormats: z.nullable(
      object({
        formats: listOf(object({ mimeType: z.string(), maxBytes: z.number() })),
        maxFiles: z.number(),
      }),
    ),
    reasoning: optional(z.boolean()),
  }),
)

const reconnection: Schema<Wire<MCPReconnectionOptions>> = exact<Wire<MCPReconnectionOptions>>()(
  object({
    maxRetries: optional(z.number()),
    initialReconnectionDelay: optional(z.number()),
    maxReconnectionDelay: optional(z.number()),
    reconnectionDelayGrowFactor: optional(z.number()),
  }),
)

const stdioServer: Schema<Wire<MCPStdioServerConfig>> = exact<Wire<MCPStdioServerConfig>>()(
  object({
    type: z.literal('stdio'),
    command: z.string(),
    args: optional(listOf(z.string())),
    env: optional(mapOf(z.string())),
    enabled: optional(z.boolean()),
    timeout: optional(z.number()),
  }),
)

const remoteServer: Schema<RemoteServerJson> = exact<RemoteServerJson>()(
  object({
    type: z.literal('remote'),
    url: z.string(),
    headers: optional(mapOf(z.string())),
    enabled: optional(z.boolean()),
    timeout: optional(z.number()),
    reconnectionOptions: optional(reconnection),
  }),
)

const mcpServers: Schema<MCPConfigurationJson> = exact<MCPConfigurationJson>()(
  mapOf(taggedUnion([stdioServer, remoteServer])),
)

/** Keeps unknown keys: those of a harness, and anything a person wrote into the file. */
export const agentConfigSchema: Schema<AgentConfigJson> = exact<AgentConfigJson>()(
  object({
    profile: optional(z.string()),
    orgAlias: optional(z.string()),
    modelId: optional(z.union([z.string(), modelSchema])),
    name: optional(z.string()),
    description: optional(z.string()),
    instructions: optional(z.string()),
    tools: optional(listOf(toolDefinitionSchema)),
    mcpServers: optional(mcpServers),
    skills: optional(listOf(z.string())),
    rules: optional(listOf(z.string())),
  }),
)

export const mcpToolInfoSchema: Schema<Wire<McpToolInfo>> = exact<Wire<McpToolInfo>>()(
  object({
    name: z.string(),
    serverName: z.string(),
    toolName: z.string(),
    description: optional(z.string()),
    inputSchema: optional(jsonObjectSchema),
    annotations: optional(toolAnnotationsSchema),
  }),
)

const errorDetail: Schema<McpServerErrorDetail> = exact<McpServerErrorDetail>()(
  object({
    category: z.enum([
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
    ]),
    code: optional(z.number()),
    retriable: z.boolean(),
  }),
)

export const mcpServerInfoSchema: Schema<Wire<McpServerInfo>> = exact<Wire<McpServerInfo>>()(
  object({
    name: z.string(),
    status: z.enum(['connected', 'connecting', 'disabled', 'error', 'reconnecting']),
    tools: listOf(mcpToolInfoSchema),
    error: optional(z.string()),
    errorDetail: optional(errorDetail),
  }),
)
