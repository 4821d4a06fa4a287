import assert from 'node:assert/strict'
import { it, mock, type TestContext } from 'node:test'
import { setImmediate as nextTask } from 'node:timers/promises'
import { heard, stage } from '../../test/acp/acp-stage.ts'
import { APPROVE, liveHost, textOf, type LiveHost } from '../../test/live/live-host.ts'
import { Asks } from '../live/asks.ts'
import { Permissions } from './permissions.ts'

const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }]
const toolCall = { toolCallId: 'c1', status: 'pending', title: 'toy_echo', rawInput: {} }

/** Permissions for an agent whose input follows, with timers that do not advance. */
function asking(t: TestContext): { readonly permissions: Permissions; readonly host: LiveHost } {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.after(() => mock.timers.reset())
  const host = liveHost()
  const ignore = (): void => undefined
  const asks = new Asks({ host: host.host, agentId: 'agent', onWaiting: ignore, onAsk: ignore, onLate: ignore })
  const permissions = new Permissions('Agent', { inputFollows: true })
  permissions.begin({
    port: { asks, nativeId: undefined, warn: ignore, over: ignore },
    cwd: '/work',
    servers: [],
    refusal: () => undefined,
  })
  return { permissions, host }
}

it('a call whose input follows later is put to a person once the input is there, however long that takes', async (t) => {
  const { permissions, host } = asking(t)
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

it('a call whose input never follows is put to a person with what is known', async (t) => {
  const { permissions, host } = asking(t)
  const answered = permissions.answer({ toolCall, options }, 'k1', new AbortController().signal)
  mock.timers.tick(60_000)
  const { request, answer } = await host.nextAsk()
  assert.match(request.description ?? '', /toy_echo/)
  answer(APPROVE)
  assert.deepEqual(await answered, { outcome: { outcome: 'selected', optionId: 'yes' } })
})

it('answers a question at once if it is withdrawn or over while its input is awaited', async (t) => {
  const { permissions } = asking(t)
  const takenBack = new AbortController()
  const first = permissions.answer({ toolCall, options }, 'k1', takenBack.signal)
  takenBack.abort()
  assert.deepEqual(await first, { outcome: { outcome: 'cancelled' } })
  const second = permissions.answer({ toolCall, options }, 'k2', new AbortController().signal)
  permissions.read({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'failed' })
  assert.deepEqual(await second, { outcome: { outcome: 'cancelled' } })
})

it('what happened to OpenClaw does not happen here: a harmless word in a title approves no call', async (t) => {
  const { dir, host, run } = await stage(
    t,
    `for (const [id, kind] of [['c1', 'other'], ['c2', 'teleport'], ['c3', undefined]]) {
      const outcome = await t.ask(id, { title: 'read and search, then delete', kind, rawInput: { path: 'a' } })
      t.text(outcome.optionId + ' ')
    }`,
    {
      // What a user who lets agents read without asking has configured.
      host: liveHost(({ category }) =>
        category === 'read' ? { policy: 'allow', reason: 'reading' } : { policy: 'ask', reason: 'unknown' },
      ),
    },
  )
  const turn = run()
  for (let asked = 0; asked < 3; asked++) (await host.nextAsk()).answer({ decision: 'decline' })
  assert.equal(
    textOf(await turn.all)
      .replaceAll('|', '')
      .trim(),
    'no no no',
  )
  assert.ok(!(await heard(dir)).some((line) => line.includes('"yes"')))
})
