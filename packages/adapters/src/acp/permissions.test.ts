import assert from 'node:assert/strict'
import { it, mock } from 'node:test'
import { setImmediate as nextTask } from 'node:timers/promises'
import { APPROVE, liveHost } from '../../test/live/live-host.ts'
import { Asks } from '../live/asks.ts'
import { Permissions } from './permissions.ts'

it('an agent whose input follows is asked about it when it is there, however long that takes it', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.after(() => mock.timers.reset())
  const host = liveHost()
  const ignore = (): void => undefined
  const asks = new Asks({ host: host.host, agentId: 'agent', onWaiting: ignore, onAsk: ignore, onLate: ignore })
  const permissions = new Permissions('Agent', { inputFollows: true })
  permissions.begin({
    port: { asks, warn: ignore, over: ignore },
    cwd: '/work',
    servers: [],
    refusal: () => undefined,
  })
  const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }]
  const toolCall = { toolCallId: 'c1', status: 'pending', title: 'toy_echo', rawInput: {} }
  const answered = permissions.answer({ toolCall, options }, 'k1', new AbortController().signal)
  mock.timers.tick(30_000)
  await nextTask()
  permissions.read({
    sessionUpdate: 'tool_call_update',
    toolCallId: 'c1',
    status: 'in_progress',
    rawInput: { text: 'hi' },
  })
  const { request, answer } = await host.nextAsk()
  assert.deepEqual(request.subject.args, { text: 'hi' })
  answer(APPROVE)
  assert.deepEqual(await answered, { outcome: { outcome: 'selected', optionId: 'yes' } })
})
