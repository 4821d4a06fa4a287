import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import type { JsonObject } from '@inspan/protocol'
import { scriptedModel, type ScriptedModel } from '@inspan/testing'
import * as fc from 'fast-check'
import { ThreadRegistry } from '../engine/index.ts'
import { observing, openMemoryBench, WINDOW, type MemoryBench } from './memory-bench.fixture.ts'

type Answer = { readonly text: string } | { readonly error: { readonly status: number } }
type Act = 'say' | 'say much' | 'work' | 'answer' | 'rewind' | 'clone'

const FOX = 'The quick brown fox jumps over the lazy dog. '

/** Every message and tool result holds a fact of its own. */
const factsIn = (text: string): string[] => [...new Set(text.match(/fact-\d+-/g) ?? [])]

/** An observer or reflector that keeps every fact, unless the test makes it fail or wait. */
function keeper(
  next: () => number,
  waiting: (() => void)[],
  form: (facts: readonly string[]) => string,
): ScriptedModel {
  const answer = (request: JsonObject): Answer | Promise<Answer> => {
    const prompt = JSON.stringify(request['prompt'])
    const from = Math.max(0, prompt.indexOf('<conversation>'))
    const good = { text: `<observations>\n${form(factsIn(prompt.slice(from)))}\n</observations>` }
    switch (next() % 8) {
      case 0:
        return { text: '' }
      case 1:
        return { text: `<observations>\n${'- again\n'.repeat(30)}</observations>` }
      case 2:
        return { error: { status: 400 } }
      case 3:
      case 4:
        return new Promise((resolve) => waiting.push(() => resolve(good)))
      default:
        return good
    }
  }
  return scriptedModel({ turns: Array.from({ length: 500 }, () => answer as never) })
}

/** Whether the newest request says that something was left out of it. */
function isCut({ model }: MemoryBench): boolean {
  return /left out, because|characters were left out/.test(model.requestBodies.at(-1) ?? '')
}

/** The seq up to which messages are left out now. */
async function coversTo({ harness, storage }: MemoryBench): Promise<number> {
  const { head } = await ThreadRegistry.of(storage).read(harness.session.thread.requireId())
  return head.om?.coversTo ?? 0
}

async function check(bench: MemoryBench, isAsked: boolean): Promise<void> {
  const { thread } = bench.harness.session
  assert.deepEqual(bench.all('error'), [])
  for (const { reason } of bench.all('agent_end')) assert.equal(reason, 'complete')
  if (!isAsked || isCut(bench)) return
  const messages = await thread.listMessages({ threadId: thread.requireId(), limit: 1000 })
  const sent = bench.model.requestBodies.at(-1) ?? ''
  const observed = (await bench.harness.getObservationalMemoryRecord())?.activeObservations ?? ''
  const lost = factsIn(JSON.stringify(messages)).filter((fact) => !sent.includes(fact) && !observed.includes(fact))
  assert.deepEqual(lost, [], 'what is neither sent nor observed')
}

suite('whatever happens to a thread, what its observations stand for was observed', () => {
  for (const isWindowKnown of [true, false]) {
    const window = isWindowKnown ? `a window of ${WINDOW} tokens` : 'a window that only the provider knows'
    test(`and no turn fails: ${window}`, async () => {
      const acts = fc.array(
        fc.constantFrom<Act>('say', 'say', 'say', 'say much', 'work', 'work', 'answer', 'answer', 'rewind', 'clone'),
        { minLength: 15, maxLength: 25, size: 'max' },
      )
      await fc.assert(
        fc.asyncProperty(acts, fc.infiniteStream(fc.nat()), fc.boolean(), async (plan, numbers, isBuffering) => {
          const next = (): number => Number(numbers.next().value)
          const waiting: (() => void)[] = []
          let facts = 0
          let steps = 0
          let covered = 0
          const fact = (): string => `fact-${facts++}- ${FOX.repeat(next() % 60)}`
          const look = createTool({ id: 'look', description: 'Looks.', category: 'read', execute: fact })
          const observer = keeper(next, waiting, (all) => all.map((each) => `- ${each}`).join('\n') || '- Nothing.')
          const reflector = keeper(next, waiting, (all) => `- ${all.join(',')}`)
          const step = (): object => (steps-- > 0 ? { toolCalls: [{ name: 'look' }] } : { text: 'Noted.' })
          await using bench = await openMemoryBench(
            observing(
              observer,
              { reflection: { observationTokens: 60, model: reflector } },
              // 20,000: the window is full before.
              { messageTokens: next() % 2 === 0 ? 2000 : 20_000, ...(isBuffering ? {} : { bufferTokens: false }) },
            ),
            {
              isWindowKnown,
              agent: { tools: { look }, maxSteps: 40 },
              config: { permissions: { tools: { look: 'allow' } } },
              script: { turns: Array.from({ length: 1000 }, () => step as never) },
            },
          )
          const { session } = bench.harness
          for (const act of plan) {
            const threadId = session.thread.requireId()
            steps = act === 'work' ? next() % 30 : 0
            if (act === 'say' || act === 'work') await bench.harness.sendMessage({ content: fact() })
            if (act === 'say much') await bench.harness.sendMessage({ content: fact() + FOX.repeat(200) })
            if (act === 'clone') await session.thread.clone({ sourceThreadId: threadId })
            if (act === 'rewind') {
              const messages = await session.thread.listMessages({ threadId, limit: 1000 })
              const asked = messages.filter(({ role }) => role === 'user')
              const to = asked[next() % Math.max(1, asked.length)]
              if (to !== undefined) await session.thread.rewind({ messageId: to.id })
            }
            if (act === 'answer') {
              waiting.splice(0).forEach((answer) => answer())
              await bench.memory.settled(threadId)
            }
            await check(bench, act === 'say' || act === 'say much' || act === 'work')
            const present = await coversTo(bench)
            if (act !== 'clone' && act !== 'rewind') assert.ok(present >= covered, 'what was left out came back')
            covered = present
          }
          waiting.splice(0).forEach((answer) => answer())
        }),
        { numRuns: 8 },
      )
    })
  }
})
