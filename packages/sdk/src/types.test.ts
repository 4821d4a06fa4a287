import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type {
  AgentConfig,
  AgentHarness,
  AgentManager,
  ChatEvent,
  ConfigOf,
  ErrorEvent,
  FinishEvent,
  HarnessFactory,
  NativeAgentHarness,
  ReasoningDeltaEvent,
  StartEvent,
  StepFinishEvent,
  StepStartEvent,
  TextDeltaEvent,
  ToolApprovalRequestEvent,
  ToolCallDeltaEvent,
  ToolCallEvent,
  ToolProgressEvent,
  ToolResultEvent,
  WithAgentConfig,
} from './index.ts'
import type { createAgentManager, NativeHarnessFactory } from './index.ts'
import { AgentSDKError, AgentSDKErrorType } from './index.ts'

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
  })

  test('the config is that of the harness', () => {
    holds(true satisfies Equal<ConfigOf<AgentHarness>, AgentConfig>)
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
  })
})

suite('errors', () => {
  test('have a type whose value is its name, a cause, and what to do', () => {
    for (const [name, value] of Object.entries(AgentSDKErrorType)) assert.equal(name, value)
    const cause = new Error('Why.')
    const error = new AgentSDKError('DISPOSED', 'It is gone.', { hint: 'Make another.', cause })
    assert.ok(error instanceof Error)
    assert.equal(error.name, 'AgentSDKError')
    assert.equal(error.type, AgentSDKErrorType.DISPOSED)
    assert.equal(error.cause, cause)
    assert.match(error.message, /Make another/)
  })
})
