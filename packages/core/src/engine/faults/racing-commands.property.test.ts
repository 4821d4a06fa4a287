import assert from 'node:assert/strict'
import { setImmediate as nextTask } from 'node:timers/promises'
import { test } from 'node:test'
import { createTool, type Tool } from '@inspan/agent'
import { InspanError, type Answer, type Part, type Wait } from '@inspan/protocol'
import type { RecordType } from '@inspan/protocol/log'
import * as fc from 'fast-check'
import { AgentBench, type ModelScript } from '../agent-bench.fixture.ts'

const COMMANDS = ['cancel', 'steer', 'follow up', 'submit', 'answer', 'decline', 'pause', 'close', 'die'] as const
type Command = (typeof COMMANDS)[number]

/** The errors a command may get when another one came first. */
const TOO_LATE: ReadonlySet<string> = new Set(['closed', 'conflict', 'not-found', 'misuse', 'fenced', 'held'])

const SCRIPT: ModelScript = Array.from({ length: 60 }, (_, i) => {
  const call = (name: string): { id: string; name: string } => ({ id: `${name}${i}`, name })
  if (i % 3 === 0) return { text: ['a', 'b'], toolCalls: [call('free'), call('careful'), call('asking')] }
  return i % 3 === 1 ? { text: ['c', 'd'], toolCalls: [call('free')] } : { text: 'That is all.' }
})

/** Returns a function that waits for the given numbers of tasks in turn, cyclically. */
function pausing(tasks: readonly number[]): () => Promise<void> {
  let next = 0
  return async () => {
    for (let left = tasks[next++ % tasks.length] ?? 0; left > 0; left--) await nextTask()
  }
}

function toolsOf(pause: () => Promise<void>, effects: string[]): Tool[] {
  const effect = async (key: string): Promise<string> => {
    effects.push(key)
    await pause()
    return 'done'
  }
  return [
    createTool({ id: 'free', description: 'Free.', execute: (_, { idempotencyKey }) => effect(idempotencyKey) }),
    createTool({
      id: 'careful',
      description: 'Wants to be approved.',
      requireApproval: true,
      execute: (_, { idempotencyKey }) => effect(idempotencyKey),
    }),
    createTool({
      id: 'asking',
      description: 'Asks.',
      execute: async (_, { idempotencyKey, resumeData, suspend }) => {
        await pause()
        return resumeData === undefined ? suspend({}, { kind: 'question' }) : effect(idempotencyKey)
      },
    }),
  ] as Tool[]
}

function answerTo({ kind }: Wait, isYes: boolean): Answer {
  if (kind === 'approval') return { decision: isYes ? 'approve' : 'decline' }
  return isYes ? { decision: 'answer', value: {} } : { decision: 'decline' }
}

async function give(bench: AgentBench, command: Command, text: string, accepted: string[]): Promise<void> {
  const { runtime } = bench
  const parts: Part[] = [{ id: '0', type: 'text', text }]
  const said = { agentId: 'native', parts }
  const [wait] = [...runtime.state.head.waits]
  switch (command) {
    case 'cancel':
      return void (await runtime.cancel())
    case 'steer':
      await runtime.steer(said)
      return void accepted.push(text)
    case 'follow up':
      await runtime.followUp(said)
      return void accepted.push(text)
    case 'submit':
      await runtime.submit(said)
      return void accepted.push(text)
    case 'answer':
    case 'decline':
      return wait === undefined ? undefined : runtime.answer(wait.id, answerTo(wait, command === 'answer'))
    case 'close':
      return runtime.close()
    case 'pause':
    case 'die':
      return undefined
  }
}

async function unlessTooLate(given: Promise<void>): Promise<void> {
  try {
    await given
  } catch (error) {
    if (!InspanError.is(error) || !TOO_LATE.has(error.code)) throw error
  }
}

test('whatever commands meet, each gets its outcome, and nothing is lost, done twice or ended twice', async () => {
  const commands = fc.array(fc.constantFrom(...COMMANDS), { minLength: 3, maxLength: 12 })
  const pauses = fc.array(fc.nat(3), { minLength: 1, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(commands, pauses, async (given, tasks) => {
      const pause = pausing(tasks)
      const effects: string[] = []
      await using bench = await AgentBench.open(SCRIPT, { agent: { tools: toolsOf(pause, effects) } })
      const append = bench.store.append.bind(bench.store)
      bench.store.append = async (request) => {
        await pause()
        const appended = await append(request)
        await pause()
        return appended
      }
      const accepted: string[] = []
      const told = [unlessTooLate(give(bench, 'submit', 'words 0.', accepted))]
      for (const [index, command] of given.entries()) {
        told.push(unlessTooLate(give(bench, command, `words ${index + 1}.`, accepted)))
        if (command === 'pause') await nextTask()
        if (command === 'close') await told.at(-1)
        if (command === 'close' || command === 'die') await bench.restart()
      }
      await Promise.all(told)
      await bench.runtime.idle()
      for (;;) {
        const [wait] = [...bench.runtime.state.head.waits]
        if (wait === undefined) break
        await bench.runtime.answer(wait.id, answerTo(wait, true))
        await bench.runtime.idle()
      }
      assert.equal(bench.runtime.state.head.run, null)
      const bodies = (await bench.records()).map(({ body }) => body)
      const count = (type: RecordType): number => bodies.filter((body) => body.type === type).length
      assert.equal(count('turn.ended'), count('turn.started'))
      assert.equal(count('run.ended'), count('run.started'))
      // A call whose input was cut off does not count and has no result.
      const orders = bodies.filter((body) => body.type === 'tool-call' && body.meta?.interrupted !== true)
      assert.equal(count('tool-result'), orders.length)
      assert.equal(new Set(effects).size, effects.length)
      const kept = JSON.stringify([await bench.messages(), [...bench.runtime.state.head.queue]])
      assert.deepEqual(
        accepted.filter((words) => !kept.includes(words)),
        [],
      )
    }),
    { numRuns: 60 },
  )
})
