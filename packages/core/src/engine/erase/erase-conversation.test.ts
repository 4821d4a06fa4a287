import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { JsonObject } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import { SqliteStore } from '@inspan/stores'
import { inTempDir } from '../../../test/stores/temp-dir.ts'
import { ThreadBench } from '../../harness/signals/thread-bench.fixture.ts'
import type { ThreadPort } from '../../harness/signals/thread-port.ts'
import { Notifications } from '../../harness/signals/notifications.ts'
import { builtinTools } from '../../harness/tools/builtin-tools.ts'
import { boundaryAt } from '../threads/boundaries.ts'
import { eraseRange } from './erase.ts'
import type { EraseReport } from './erase-report.ts'
import { placesOf, WORD } from './erase-everywhere.fixture.ts'

const tools = (port: ThreadPort): readonly RunnableTool[] =>
  builtinTools({ port, modes: { planTarget: () => 'build', switchMode: async () => undefined } })
const calls = (name: string, input: JsonObject) => ({ toolCalls: [{ name, input }] })
const write = (...contents: readonly string[]) =>
  calls('task_write', {
    tasks: contents.map((content, index) => ({ id: `t${index}`, content, status: 'pending', activeForm: content })),
  })
const done = { text: 'Done.' }

async function placesIn(directory: string, bench: ThreadBench): Promise<string[]> {
  return bench.runtime.change((log) => placesOf(directory, bench.store, [log]))
}

function erase(bench: ThreadBench, from: number, to: number): Promise<EraseReport> {
  return bench.runtime.change((log) => eraseRange(bench.store, log, { from, to, owner: bench.owner }))
}

suite('erasing what was said in a real conversation', () => {
  test(
    'leaves no trace of it in questions, plans, tasks and what the model learned of them',
    inTempDir(async (directory) => {
      const store = await SqliteStore.open({ url: join(directory, 'data.db') })
      await using bench = await ThreadBench.open({
        store,
        tools,
        script: [
          write(WORD),
          calls('ask_user', { question: `Which ${WORD}?` }),
          calls('submit_plan', { title: WORD, plan: `First ${WORD}` }),
          done,
          { text: 'Hello.' },
        ],
      })
      await bench.say(`Think of ${WORD}`)
      await bench.answer({ decision: 'answer', value: WORD })
      await bench.answer({ decision: 'answer', value: { action: 'approved', feedback: WORD } })
      await bench.runtime.addFeedback(bench.runtime.state.head.lastRun?.runId ?? '', { text: WORD, source: 'user' })
      const to = bench.runtime.state.head.seq
      await bench.say('Something else')
      assert.ok((await placesIn(directory, bench)).length > 10)
      const { remains } = await erase(bench, 1, to)
      assert.deepEqual(await placesIn(directory, bench), [])
      assert.deepEqual(remains, [])
      assert.deepEqual(
        (await bench.messages()).map(({ role }) => role),
        ['user', 'assistant'],
      )
    }),
  )

  test(
    'covers later lists of tasks, and names the messages in which the agent repeats it',
    inTempDir(async (directory) => {
      const store = await SqliteStore.open({ url: join(directory, 'data.db') })
      const update = calls('task_update', { id: 't1', status: 'completed' })
      await using bench = await ThreadBench.open({
        store,
        tools,
        script: [write(WORD, 'Sleep'), done, update, done, { text: `I did ${WORD}.` }, { text: 'Bye.' }],
      })
      await bench.say('Plan.')
      const { head } = bench.runtime.state
      const to = await boundaryAt(store, head.lineage, head.seq)
      await bench.say('Go on.')
      await bench.say('And?')
      const before = await bench.messages()
      const { remains } = await erase(bench, 1, to)
      const after = await bench.messages()
      const quoting = after.filter((message) => JSON.stringify(message).includes(WORD)).map(({ id }) => id)
      // The tool's result, which lists all tasks, and the agent's own words: both come after the range.
      assert.equal(quoting.length, 2)
      assert.deepEqual(remains, [{ kind: 'messages', threadId: 'thread', messageIds: quoting }])
      assert.deepEqual(bench.runtime.state.head.tasks, [])
      assert.ok(before.some(({ parts }) => parts.some((part) => part.type === 'signal')))
      assert.ok(!after.some(({ parts }) => parts.some((part) => part.type === 'signal')))
      for (const id of quoting) {
        const order = after.find((message) => message.id === id)?.order ?? 0
        await erase(bench, order, order)
      }
      assert.deepEqual(await placesIn(directory, bench), [])
    }),
  )

  test(
    'takes a notification out of the inbox whose telling is erased',
    inTempDir(async (directory) => {
      const store = await SqliteStore.open({ url: join(directory, 'data.db') })
      await using bench = await ThreadBench.open({ store, tools, script: [done, done] })
      const notifications = new Notifications({ port: bench.port, emit: () => undefined })
      const seqOf = async (): Promise<number> => {
        const told = (await bench.messages()).find(({ parts }) => parts.some((part) => part.type === 'signal'))
        return told?.order ?? 0
      }
      await notifications.send({ source: 'mail', kind: 'letter', summary: WORD, priority: 'urgent' })
      await bench.runtime.idle()
      const told = await seqOf()
      assert.ok(told > 0)
      assert.ok(notifications.inbox.list().length > 0)
      await erase(bench, told, told)
      assert.deepEqual(await placesIn(directory, bench), [])
      assert.deepEqual(notifications.inbox.list(), [])
    }),
  )
})
