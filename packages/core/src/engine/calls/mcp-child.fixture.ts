/** A process that is killed by a server whose tool it calls. Run as: node mcp-child.fixture.ts <database> <journal>. */
import { nativeDriver } from '@inspan/agent'
import { SqliteStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { ThreadRuntime } from '../thread-runtime.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { createThread } from '../threads/threads.ts'
import { McpClient } from './mcp-client.fixture.ts'

const [url = '', journal = ''] = process.argv.slice(2)
const store = new SqliteStore({ url })
await createThread(store, { id: 'thread', resourceId: 'test' })
const { tools } = await McpClient.start({ journal, isDeadly: true })
const model = scriptedModel([{ toolCalls: [{ id: 'c', name: 'read_file' }] }])
const runtime = await ThreadRuntime.open({
  store,
  owner: await ProcessOwner.register(store),
  thread: 'thread',
  agents: { native: { driver: nativeDriver({ id: 'native', model }), tools } },
})
const { done } = await runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'go' }] })
await done
