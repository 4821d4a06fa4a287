/** Commands that are sent until they have a result, while processes die: each happened exactly once, or not at all. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { RecordBody, ThreadState } from '@inspan/protocol/log'
import type { CommandKey } from '@inspan/protocol/store'
import type { CommandResult } from '@inspan/protocol/wire'
import type { ModelTurn } from '@inspan/testing'
import * as fc from 'fast-check'
import { timeOrderedId } from '../../common/time-ordered-id.ts'
import { MortalThread } from './mortal-thread.fixture.ts'
import type { ThreadCommand } from './thread-command.ts'

const key = (): CommandKey => ({ principal: 'ann', clientId: 'page', commandId: timeOrderedId() })

/** Makes a command with a text that nothing else in the thread has. */
type Made = (text: string, state: ThreadState) => ThreadCommand

const waitOf = ({ head }: ThreadState): string => [...head.waits][0]?.id ?? 'nothing'
const callOf = ({ head }: ThreadState): string => [...head.waits][0]?.subject.toolCallId ?? 'nothing'
const itemOf = ({ head }: ThreadState): string => [...head.queue][0]?.id ?? 'nothing'

const KINDS = {
  submit: (text) => ({ type: 'submit', prompt: text }),
  'follow-up': (text) => ({ type: 'follow-up', message: text }),
  steer: (text) => ({ type: 'steer', message: text }),
  rename: (text) => ({ type: 'rename', title: text }),
  fork: (text) => ({ type: 'fork', title: text }),
  mode: (text) => ({ type: 'mode', mode: text }),
  model: (text) => ({ type: 'model', model: text }),
  configure: (text) => ({ type: 'configure', config: { systemPrompt: text } }),
  revoke: () => ({ type: 'revoke', tool: 'note' }),
  answer: (text, state) => ({ type: 'answer', waitId: waitOf(state), decision: 'decline', reason: text }),
  approve: (_text, state) => ({ type: 'approve', toolCallId: callOf(state) }),
  deny: (text, state) => ({ type: 'deny', toolCallId: callOf(state), reason: text }),
  'queue-edit': (text, state) => ({ type: 'queue-edit', itemId: itemOf(state), message: text }),
  'queue-move': (_text, state) => ({ type: 'queue-move', itemId: itemOf(state), before: null }),
  'queue-remove': (_text, state) => ({ type: 'queue-remove', itemId: itemOf(state) }),
  cancel: () => ({ type: 'cancel' }),
  rewind: (text) => ({ type: 'rewind', messageId: text, scope: 'conversation' }),
  delete: () => ({ type: 'delete' }),
} satisfies Partial<Record<ThreadCommand['type'], Made>>

/** Counts how often a command had its effect; `undefined` where the records do not tell. */
async function effectsOf(
  thread: MortalThread,
  command: ThreadCommand,
  text: string,
  before: readonly RecordBody[] = [],
): Promise<number | undefined> {
  if (command.type === 'delete') return (await thread.store.getThread('thread')) === null ? 1 : 0
  const bodies = (await thread.bodies()).slice(before.length)
  const count = (is: (body: RecordBody) => boolean): number => bodies.filter(is).length
  const holds = (value: unknown): boolean => JSON.stringify([value]).includes(JSON.stringify(text))
  switch (command.type) {
    case 'submit':
    case 'follow-up':
    case 'steer': {
      // As a message at once, or queued and a message later.
      const queued = count((body) => body.type === 'queue.added' && holds(body.item.parts))
      return queued > 0 ? queued : count((body) => body.type === 'message.added' && holds(body.parts))
    }
    case 'rename':
    case 'mode':
    case 'model':
    case 'configure':
      return count((body) => body.type === 'config.changed' && holds(body))
    case 'revoke':
      return count((body) => body.type === 'config.changed' && body.grants !== undefined)
    case 'answer':
    case 'deny':
      return count((body) => body.type === 'wait.answered' && holds(body.answer))
    case 'approve':
      return count((body) => body.type === 'wait.answered' && body.answer.decision === 'approve')
    case 'queue-edit':
      return count((body) => body.type === 'queue.added' && holds(body.item.parts))
    case 'queue-remove':
      return count((body) => body.type === 'queue.removed' && body.itemId === command.itemId)
    case 'rewind':
      return count((body) => body.type === 'rewind')
    case 'fork':
      return (await thread.store.listThreads({})).items.filter(({ title }) => title === text).length
    default:
      return undefined
  }
}

const FINE: ModelTurn = { text: 'Fine.' }
const ASKS: ModelTurn = { toolCalls: [{ name: 'note', input: {} }] }

suite('a command that is sent again while processes die', () => {
  const { delete: _delete, approve: _approve, revoke: _revoke, 'queue-remove': _remove, ...others } = KINDS
  const play = fc.record({
    // What several commands of one kind do cannot be told apart where they bring no text.
    kinds: fc.array(fc.constantFrom<Made>(...Object.values(others)), { minLength: 1, maxLength: 6 }),
    script: fc.array(fc.constantFrom(FINE, ASKS), { minLength: 12, maxLength: 12 }),
    deaths: fc.array(fc.record({ at: fc.nat({ max: 8 }), isAfter: fc.boolean() }), { maxLength: 6 }),
  })

  test('happens exactly once, or is rejected and does not happen, whatever came before it', async () => {
    await fc.assert(
      fc.asyncProperty(play, async ({ deaths, kinds, script }) => {
        const thread = await MortalThread.create([...script, ...Array.from({ length: 40 }, () => FINE)], deaths)
        const sent: { command: ThreadCommand; key: CommandKey; result: CommandResult }[] = []
        for (const [index, make] of kinds.entries()) {
          const [command, sentAs] = [make(`text ${index}`, await thread.state()), key()]
          sent.push({ command, key: sentAs, result: await thread.send(command, sentAs) })
        }
        for (const [index, { command, key: sentAs, result }] of sent.entries()) {
          const again = await thread.send(command, sentAs)
          assert.equal(again.status, result.status, `${command.type} has the same outcome when it is sent again`)
          const effects = await effectsOf(thread, command, `text ${index}`)
          // An edit that changes nothing, and a later edit of the same queue, which adds its items anew.
          if (effects === undefined || command.type === 'queue-edit') continue
          if (kinds.includes(KINDS['queue-edit']) || kinds.includes(KINDS['queue-move'])) {
            assert.equal(effects > 0, result.status !== 'rejected', command.type)
          } else {
            assert.equal(effects, result.status === 'rejected' ? 0 : 1, command.type)
          }
        }
        assert.deepEqual((await thread.store.listCommands({ state: 'accepted' })).items, [])
        await thread.close()
      }),
      { numRuns: 60 },
    )
  })

  for (const [type, make] of Object.entries(KINDS) as [keyof typeof KINDS, Made][]) {
    test(`${type}: happens once with a death at each of its writes`, async () => {
      let died = 0
      for (const isAfter of [false, true]) {
        for (let at = 0; ; at++) {
          const thread = await atQuestion()
          if (type === 'rewind') await thread.runtime?.cancel()
          const command = make('the text', await thread.state())
          const before = await thread.bodies()
          await thread.restart({ at, isAfter })
          const sentAs = key()
          const result = await thread.send(command, sentAs)
          const isOver = thread.died === 0
          died += thread.died
          assert.notEqual(result.status, 'rejected', JSON.stringify(result))
          const again = await thread.send(command, sentAs)
          assert.equal(again.status, result.status)
          const effects = await effectsOf(thread, command, 'the text', before)
          if (effects !== undefined) assert.equal(effects, 1, `${JSON.stringify({ at, isAfter })}: ${effects} effects`)
          assert.ok(thread.notes <= (type === 'approve' ? 1 : 0), 'the tool does nothing twice, and nothing unasked')
          await thread.close()
          if (isOver) break
        }
      }
      assert.ok(died > 0, 'it writes')
    })
  }
})

/** Returns a thread that waits for an approval, with two messages in its queue and a grant. */
async function atQuestion(): Promise<MortalThread> {
  const thread = await MortalThread.create([ASKS, ...Array.from({ length: 20 }, () => FINE)])
  const runtime = await thread.open()
  await runtime.configure({ grants: { categories: [], tools: ['other', 'note'] }, agentId: 'native' })
  await runtime.configure({ rules: { categories: {}, tools: { note: 'ask' }, patterns: [] } })
  await runtime.submit({
    agentId: 'native',
    messageId: 'the text',
    parts: [{ id: '0', type: 'text', text: 'What is asked?' }],
  })
  await runtime.idle()
  for (const message of ['One', 'Two']) await runtime.execute({ type: 'follow-up', message })
  return thread
}
