import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type {
  Agent,
  AgentConfig,
  AgentHarness,
  AgentManager,
  ChatEvent,
  ChatOptions,
  ConfigOf,
  ErrorEvent,
  FinishEvent,
  FinishReason,
  HarnessAgentConfig,
  HarnessFactory,
  MCPRemoteServerConfig,
  MCPStdioServerConfig,
  McpToolAnnotations,
  McpToolInfo,
  Message,
  MessagePart,
  ModelConnectivityInfo,
  NativeAgentHarness,
  ReasoningDeltaEvent,
  StartEvent,
  StepFinishEvent,
  StepStartEvent,
  StreamOptions,
  TextDeltaEvent,
  ToolApprovalMode,
  ToolApprovalRequestEvent,
  ToolCallDeltaEvent,
  ToolCallEvent,
  ToolProgressEvent,
  ToolResultEvent,
  UsageMetadata,
  WithAgentConfig,
} from './index.ts'
import type { createAgentManager, NativeHarnessFactory } from './index.ts'
import { McpServerErrorCategory as ProtocolCategory } from '@inspan/protocol/chat'
import { AgentSDKError, AgentSDKErrorType, McpServerErrorCategory } from './index.ts'

type Equal<A, B> = [A, B] extends [B, A] ? true : false
type ManagerOf<F extends HarnessFactory> = Awaited<ReturnType<typeof createAgentManager<F>>>

interface OwnConfig extends AgentConfig {
  toolSearch?: { alwaysActive: string[] }
}

interface OwnHarness extends AgentHarness, WithAgentConfig<OwnConfig> {
  readonly extensions: { readonly search: (agentId: string) => string[] }
}

function holds(value: true): void {
  assert.equal(value, true)
}

suite('types', () => {
  test('the harness is inferred from the factory', () => {
    holds(true satisfies Equal<ManagerOf<HarnessFactory>, AgentManager>)
    holds(true satisfies Equal<ManagerOf<HarnessFactory<OwnHarness>>, AgentManager<OwnHarness>>)
    holds(true satisfies Equal<ManagerOf<NativeHarnessFactory>, AgentManager<NativeAgentHarness>>)
    holds(true satisfies Equal<AgentManager<OwnHarness>['extensions'], OwnHarness['extensions']>)
    holds(true satisfies Equal<Extract<keyof Agent<OwnHarness>, 'extensions'>, never>)
  })

  test('the config is that of the harness', () => {
    holds(true satisfies Equal<ConfigOf<AgentHarness>, AgentConfig>)
    holds(true satisfies Equal<ConfigOf<OwnHarness>, OwnConfig>)
    type Common = 'modelId' | 'name' | 'description' | 'instructions' | 'tools' | 'mcpServers' | 'skills' | 'rules'
    holds(true satisfies Equal<keyof AgentConfig, Common | 'profile' | 'orgAlias'>)
    holds(
      true satisfies Equal<
        Exclude<keyof ConfigOf<NativeAgentHarness>, keyof AgentConfig>,
        'toolSearch' | 'skillSearch'
      >,
    )
    assert.deepEqual({} satisfies AgentConfig, {})
    // The config is declared by its type alone: a harness needs no field for it.
    assert.deepEqual({} satisfies WithAgentConfig<OwnConfig>, {})
    type Config = NonNullable<Parameters<AgentManager<OwnHarness>['createAgent']>[1]>
    const config: Config = { agentId: 'a', toolSearch: { alwaysActive: ['x'] } }
    assert.equal(config.agentId, 'a')
  })

  test('every event has a type of its own', () => {
    type Named =
      | StartEvent
      | TextDeltaEvent
      | ReasoningDeltaEvent
      | ToolCallEvent
      | ToolCallDeltaEvent
      | ToolApprovalRequestEvent
      | ToolResultEvent
      | ToolProgressEvent
      | StepStartEvent
      | StepFinishEvent
      | ErrorEvent
      | FinishEvent
    holds(true satisfies Equal<Named, ChatEvent>)
    type Reasons = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'error' | 'other'
    holds(true satisfies Equal<FinishReason, Reasons>)
    type Counts = 'inputTokens' | 'outputTokens' | 'totalTokens' | 'reasoningTokens'
    holds(true satisfies Equal<keyof UsageMetadata, Counts | 'cachedInputTokens' | 'cacheWriteInputTokens'>)
  })

  test('messages have roles and parts, and a turn has options that are all optional', () => {
    holds(true satisfies Equal<keyof Message, 'id' | 'role' | 'content' | 'createdAt'>)
    holds(true satisfies Equal<Message['role'], 'system' | 'user' | 'assistant' | 'tool'>)
    holds(true satisfies Equal<Message['content'], string | MessagePart[]>)
    type Kinds = 'text' | 'reasoning' | 'tool-call' | 'tool-result' | 'image' | 'file'
    holds(true satisfies Equal<MessagePart['type'], Kinds>)
    type FromThePage = 'abortSignal' | 'requireToolApproval' | 'maxSteps'
    type Beyond = 'operationId' | 'whenBusy' | 'model' | 'effort' | 'budget' | 'onLimit'
    holds(true satisfies Equal<keyof ChatOptions, FromThePage | Beyond>)
    holds(true satisfies Equal<keyof StreamOptions, keyof ChatOptions>)
    holds(true satisfies Equal<StreamOptions['requireToolApproval'], boolean | ToolApprovalMode | undefined>)
    assert.deepEqual({} satisfies ChatOptions, {})
  })
})

suite('the types of servers and harnesses', () => {
  test('servers have their documented settings, and none for single tools', () => {
    type Common = 'type' | 'enabled' | 'timeout'
    holds(true satisfies Equal<keyof MCPStdioServerConfig, Common | 'command' | 'args' | 'env'>)
    holds(true satisfies Equal<keyof MCPRemoteServerConfig, Common | 'url' | 'headers' | 'reconnectionOptions'>)
  })

  test('tools of servers have a schema of their input, none of their output, and hints that may be absent', () => {
    type Fields = 'name' | 'serverName' | 'toolName' | 'description' | 'inputSchema' | 'annotations'
    holds(true satisfies Equal<keyof McpToolInfo, Fields>)
    holds(true satisfies Equal<McpToolInfo['inputSchema'], Record<string, unknown> | undefined>)
    type Hints = 'readOnlyHint' | 'destructiveHint' | 'idempotentHint' | 'openWorldHint'
    holds(true satisfies Equal<keyof McpToolAnnotations, Hints | 'title'>)
    holds(true satisfies Equal<Partial<McpToolAnnotations>, McpToolAnnotations>)
    holds(true satisfies Equal<McpToolAnnotations[Hints], boolean | undefined>)
  })

  test('a harness takes project, connection, config without credentials, signal and hooks', () => {
    type Created = Required<Parameters<AgentHarness['createAgent']>>
    type Updated = Required<Parameters<AgentHarness['updateAgent']>>
    type Given = NonNullable<Created[4]>
    holds(true satisfies Equal<Created, [string, string, ModelConnectivityInfo, HarnessAgentConfig, Created[4]]>)
    holds(true satisfies Equal<Updated, [string, ModelConnectivityInfo, HarnessAgentConfig, Created[4]]>)
    holds(true satisfies Equal<keyof Given, 'abortSignal' | 'hooks'>)
    type Basics = 'id' | 'protocolVersion' | 'extensions' | 'createAgent' | 'updateAgent' | 'destroyAgent' | 'shutdown'
    type Threads = 'createThread' | 'destroyThread' | 'cloneThread' | 'compactThread' | 'getThreadIds'
    type Messages = 'getMessages' | 'addMessages' | 'clearMessages' | 'stream'
    type Answers = 'submitToolResult' | 'approveToolCall' | 'declineToolCall'
    type Servers = 'getMcpServerInfo' | 'reconnectMcpServer'
    type Obligations<Port> = { [Key in keyof Port]-?: object extends Pick<Port, Key> ? never : Key }[keyof Port]
    type Always = Basics | Threads | Messages | Answers | Servers | 'onTelemetry' | 'onLog'
    holds(true satisfies Equal<Obligations<AgentHarness>, Always>)
    holds(
      true satisfies Equal<
        Extract<keyof AgentHarness, 'refreshMcpAuth' | 'onWireCommunication'>,
        'refreshMcpAuth' | 'onWireCommunication'
      >,
    )
    holds(true satisfies Equal<Extract<keyof HarnessAgentConfig, 'profile' | 'orgAlias' | 'modelId'>, never>)
  })
})

suite('errors', () => {
  test('have a type whose value is its name, a cause, and what to do', () => {
    for (const [name, value] of Object.entries(AgentSDKErrorType)) assert.equal(name, value)
    assert.deepEqual(
      Object.keys(AgentSDKErrorType).join(' '),
      'ABORTED AGENT_ALREADY_EXISTS AGENT_NOT_FOUND CHAT_SESSION_NOT_FOUND COMPACTION_FAILED CONNECTIVITY_FAILED ' +
        'DISPOSED INCOMPATIBLE_HARNESS INVALID_MESSAGE_CONTENT INVALID_OPTIONS MCP_RECONNECT_FAILED ' +
        'MCP_SERVER_NOT_FOUND MODEL_NOT_SUPPORTED MULTIMODAL_NOT_SUPPORTED OPERATION_NOT_FOUND STORAGE_IN_USE ' +
        'TOOL_CALL_NOT_PENDING TURN_IN_PROGRESS UNSUPPORTED',
    )
    // The categories of failing servers are those of the protocol, whose test names each.
    assert.equal(McpServerErrorCategory, ProtocolCategory)
    const cause = new Error('Why.')
    const error = new AgentSDKError('DISPOSED', 'It is gone.', { hint: 'Make another.', cause })
    assert.ok(error instanceof Error)
    assert.equal(error.name, 'AgentSDKError')
    assert.equal(error.type, AgentSDKErrorType.DISPOSED)
    assert.equal(error.cause, cause)
    assert.match(error.message, /Make another/)
  })
})
