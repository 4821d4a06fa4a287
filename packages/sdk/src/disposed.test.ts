import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { chatting } from './sdk.fixture.ts'

test('a manager refuses everything after its shutdown, and so do its agents and sessions', async () => {
  await using it = await chatting([])
  await it.manager.shutdown()
  await it.manager.shutdown()
  assert.ok(existsSync(join(it.root, 'agents', 'a.json')))
  const { manager, agent, session } = it
  const nothing = (): void => undefined
  const result = { toolCallId: 'x', toolName: 't', result: 1 }
  const calls: readonly (() => unknown)[] = [
    () => manager.createAgent(it.project),
    () => manager.getAgent('a'),
    () => manager.getAgentIds(),
    () => manager.destroyAgent('a'),
    () => manager.onTelemetry(nothing),
    () => manager.onLog(nothing),
    () => manager.onWireCommunication(nothing),
    () => manager.getRestoreFailures(),
    () => agent.getProjectRoot(),
    () => agent.getOrgConnection(),
    () => agent.getConnectivity(),
    () => agent.getAgentConfig(),
    () => agent.getCapabilities(),
    () => agent.getMcpServerInfo(),
    () => agent.reconnectMcpServer('x'),
    () => agent.refreshMcpAuth('x', { headers: {} }),
    () => agent.updateAgentConfig({}),
    () => agent.createChatSession(),
    () => agent.getChatSession('x'),
    () => agent.getChatSessionIds(),
    () => agent.destroyChatSession('x'),
    () => agent.cloneChatSession('x'),
    () => agent.compactChatSession('x'),
    () => agent.destroy(),
    () => agent.onTelemetry(nothing),
    () => agent.onLog(nothing),
    () => session.chat('Hi'),
    () => session.resumeTurn(),
    () => session.cancelTurn(),
    () => session.submitToolResult(result),
    () => session.approveToolCall('x'),
    () => session.declineToolCall('x'),
    () => session.getMessageHistory(),
    () => session.clearHistory(),
    () => session.getContextUsage(),
    () => session.addContext('x'),
    () => session.getOperation('x'),
    () => session.waitForOperation('x'),
    () => session.abortOperation('x'),
    () => session.subscribe(nothing),
    () => session.onTelemetry(nothing),
    () => session.onLog(nothing),
  ]
  for (const call of calls) await assert.rejects(async () => call(), { type: 'DISPOSED' }, String(call))
  session.unsubscribe(nothing)
  session.dispose()
})
