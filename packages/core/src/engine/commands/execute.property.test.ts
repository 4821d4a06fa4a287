/** Commands that are sent until they have a result, while processes die: each happened exactly once, or not at all. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { REWIND_SETTING, type RecordBody, type ThreadState } from '@inspan/protocol/log'
import type { Grants } from '@inspan/protocol'
import type { CommandKey } from '@inspan/protocol/store'
import type { CommandResult } from '@inspan/protocol/wire'
import type { ModelTurn } from '@inspan/testing'
import * as fc from 'fast-check'
import { timeOrderedId } from '../../common/time-ordered-id.ts'
import { ResourceGrants } from '../rules/resource-grants.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { readThread } from '../threads/read-thread.ts'
import { GRANTS, MortalThread } from './mortal-thread.fixture.ts'
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
  rewind: (text) => ({ type: 'rewind', messageId: text, scope: 'both' }),
  delete: () => ({ type: 'delete' }),
} satisfies Record<Exclude<ThreadCommand['type'], 'resume'>, Made>

/** Counts how often a command had its effect. */
async function effectsOf(
  thread: MortalThread,
  command: ThreadCommand,
  text: string,
  before: readonly RecordBody[] = [],
): Promise<number> {
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
    case 'revoke': {
      const changed = command.scope === 'resource' ? (await thread.bodies(GRANTS)).slice(1) : bodies
      return changed.filter((body) => body.type === 'config.changed' && body.grants !== undefined).length
    }
    case 'answer':
    case 'deny': {
      const answers = bodies.flatMap((body) => (body.type === 'wait.answered' ? [body.answer] : []))
      const restoring = answers.filter(({ value }) => value === 'overwrite').length
      if (restoring > 0)
        assert.deepEqual([thread.isRestored, count(({ type }) => type === 'rewind')], [true, restoring])
      return answers.filter(holds).length + restoring
    }
    case 'approve':
      return count((body) => body.type === 'wait.answered' && body.answer.decision === 'approve')
    case 'cancel':
      return count((body) => body.type === 'run.ended' && body.outcome === 'aborted')
    case 'queue-edit':
      return count((body) => body.type === 'queue.added' && holds(body.item.parts))
    // Both messages are added again: the second one, and then the first.
    case 'queue-move':
      return count((body) => body.type === 'queue.added') / 2
    case 'queue-remove':
      return count((body) => body.type === 'queue.removed' && body.itemId === command.itemId)
    case 'rewind': {
      if (thread.conflicts.length > 0) return count((body) => body.type === 'wait.opened')
      const { scope = 'files' } = command
      const rewound = count((body) =>
        scope === 'files'
          ? body.type === 'config.changed' && body.settings?.[REWIND_SETTING] !== undefined
          : body.type === 'rewind' && (body.files !== undefined) === (scope === 'both'),
      )
      assert.equal(thread.isRestored, rewound > 0 && scope !== 'conversation')
      return rewound
    }
    case 'fork':
      return (await thread.store.listThreads({})).items.filter(({ title }) => title === text).length
    case 'resume':
      return 0
  }
}

const FINE: ModelTurn = { text: 'Fine.' }
const ASKS: ModelTurn = { toolCalls: [{ name: 'note', input: {} }] }

interface Case {
  readonly make: Made
  /** Brings the thread into the state that the command is for. */
  readonly prepare?: (thread: MortalThread) => Promise<void>
}

const ended = async (thread: MortalThread): Promise<void> => void (await thread.runtime?.cancel())

async function withConflict(thread: MortalThread): Promise<void> {
  await ended(thread)
  thread.conflicts = ['a.txt']
}

const { rewind: _rewind, ...OTHERS } = KINDS

/** Every kind, and those that do different things in different states or scopes. */
const CASES: Readonly<Record<string, Case>> = {
  ...Object.fromEntries(Object.entries(OTHERS).map(([type, make]) => [type, { make }])),
  'rewind of the files and the conversation': { make: KINDS.rewind, prepare: ended },
  'rewind of the conversation': {
    make: (text) => ({ type: 'rewind', messageId: text, scope: 'conversation' }),
    prepare: ended,
  },
  'rewind of the files': { make: (text) => ({ type: 'rewind', messageId: text, scope: 'files' }), prepare: ended },
  'rewind of files that somebody has changed': {
    make: (text) => ({ type: 'rewind', messageId: text, scope: 'files' }),
    prepare: withConflict,
  },
  'answer about files that somebody has changed': {
    make: (_text, state) => ({ type: 'answer', waitId: waitOf(state), decision: 'answer', value: 'overwrite' }),
    prepare: async (thread) => {
      await withConflict(thread)
      await thread.runtime?.execute({ type: 'rewind', messageId: 'the text', scope: 'both' })
    },
  },
  'revoke for the resource': {
    make: () => ({ type: 'revoke', tool: 'note', scope: 'resource' }),
    prepare: async ({ store }) => {
      const owner = await ProcessOwner.register(store)
      const change = (): Grants => ({ categories: [], tools: ['note', 'other'] })
      await ResourceGrants.of(store, 'test').write({ owner, now: Date.now, change })
      await owner.close()
    },
  },
  'delete of a thread with a fork': {
    make: KINDS.delete,
    prepare: async ({ runtime }) => void (await runtime?.execute({ type: 'fork', title: 'The fork' })),
  },
}

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
          // What several of them do cannot be told apart; an edit may change nothing, or be of a queue that changes again.
          if (command.type === 'cancel' || command.type === 'queue-move' || command.type === 'queue-edit') continue
          const effects = await effectsOf(thread, command, `text ${index}`)
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

  for (const [title, { make, prepare }] of Object.entries(CASES)) {
    test(`${title}: happens once with a death at each of its writes`, async () => {
      let died = 0
      for (const isAfter of [false, true]) {
        for (let at = 0; ; at++) {
          const thread = await atQuestion()
          await prepare?.(thread)
          const command = make('the text', await thread.state())
          const before = await thread.bodies()
          const forked = await forksOf(thread)
          await thread.restart({ at, isAfter })
          const sentAs = key()
          const result = await thread.send(command, sentAs)
          const isOver = thread.died === 0
          died += thread.died
          assert.notEqual(result.status, 'rejected', JSON.stringify(result))
          const again = await thread.send(command, sentAs)
          assert.equal(again.status, result.status)
          const effects = await effectsOf(thread, command, 'the text', before)
          assert.equal(effects, 1, `${JSON.stringify({ at, isAfter })}: ${effects} effects`)
          assert.ok(thread.notes <= (command.type === 'approve' ? 1 : 0), 'the tool does nothing twice or unasked')
          if (command.type !== 'fork') assert.deepEqual(await forksOf(thread), forked, 'forks keep what they share')
          await thread.close()
          if (isOver) break
        }
      }
      assert.ok(died > 0, 'it writes')
    })
  }
})

/** Returns what the forks of the thread show. */
async function forksOf({ store }: MortalThread): Promise<unknown> {
  const forks = (await store.listThreads({})).items.filter(({ id }) => id !== 'thread')
  return Promise.all(
    forks.map(
      async ({ id }) =>
        (await store.listMessages((await readThread(store, id)).head.lineage, { order: 'oldest' })).items,
    ),
  )
}

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
