import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { scriptedModel } from '@inspan/testing'
import { HarnessBench } from '../harness.fixture.ts'

const LOW = { source: 'mail', kind: 'new', summary: 'A letter came.', priority: 'low' } as const
const NAMED = /1 unread notification from mail/

/** Collects the ids of runs, whoever starts them, and says whether a request named what is in the inbox. */
class Starts extends HarnessBench {
  readonly runIds: (string | null)[] = []

  constructor(...[script, config, agent]: ConstructorParameters<typeof HarnessBench>) {
    let ids = 0
    super(script, { idGenerator: () => `own-${++ids}`, ...config }, agent)
    this.harness.subscribe(({ type }) => {
      if (type === 'agent_start') this.runIds.push(this.harness.session.run.getRunId())
    })
  }

  /** Leaves a notification in the inbox that no summary has named yet. */
  async keep(): Promise<void> {
    await this.harness.sendNotificationSignal(LOW)
  }

  named(call: number): boolean {
    return NAMED.test(this.model.requestBodies[call] ?? '')
  }

  assertOwnIds(count: number): void {
    assert.equal(this.runIds.length, count)
    for (const id of this.runIds) assert.match(id ?? '', /^own-\d+$/)
    assert.equal(new Set(this.runIds).size, count)
  }
}

suite('a run names what waits in the inbox, and is called as the harness calls things', () => {
  test('started by a message', async () => {
    await using bench = new Starts([{ text: 'Yes.' }])
    await bench.keep()
    await bench.harness.sendMessage({ content: 'Hi' })
    assert.ok(bench.named(0))
    bench.assertOwnIds(1)
  })

  test('started by a signal', async () => {
    await using bench = new Starts([{ text: 'Yes.' }])
    await bench.keep()
    const ended = bench.next('agent_end')
    await bench.harness.sendSignal({ type: 'reactive', tagName: 'weather', contents: 'It rains.' }).accepted
    await ended
    assert.ok(bench.named(0))
    assert.match(bench.model.requestBodies[0] ?? '', /It rains/)
    bench.assertOwnIds(1)
  })

  test('started by a notification that wakes', async () => {
    await using bench = new Starts([{ text: 'Yes.' }])
    await bench.keep()
    const ended = bench.next('agent_end')
    await bench.harness.sendNotificationSignal({ ...LOW, summary: 'Fire!', priority: 'urgent' })
    await ended
    assert.ok(bench.named(0))
    bench.assertOwnIds(1)
  })

  test('started by a follow-up', async () => {
    let keep: () => Promise<unknown> = async () => undefined
    const work = createTool({
      id: 'work',
      description: 'Works.',
      execute: async () => {
        await keep()
        return 'worked'
      },
    })
    await using bench = new Starts([{ toolCalls: [{ id: 'w1', name: 'work' }] }, { text: 'One.' }, { text: 'Two.' }], {
      tools: { work },
      permissions: { tools: { work: 'allow' } },
      notifications: { decide: () => 'persist' },
    })
    keep = async () => {
      await bench.keep()
      await bench.harness.followUp({ content: 'Then this' })
    }
    await bench.harness.sendMessage({ content: 'Begin', untilIdle: true })
    assert.deepEqual([bench.named(1), bench.named(2)], [false, true])
    assert.match(bench.model.requestBodies[2] ?? '', /Then this/)
    bench.assertOwnIds(2)
  })

  test('started for a goal', async () => {
    let keep: () => Promise<void> = async () => undefined
    const judge = scriptedModel([
      async () => {
        await keep()
        return { text: '{"verdict":"continue","reason":"Not yet."}' }
      },
      { text: '{"verdict":"done","reason":"Now."}' },
    ])
    await using bench = new Starts([{ text: 'One.' }, { text: 'Two.' }], {
      resolveModel: () => judge,
    })
    keep = () => bench.keep()
    await bench.harness.getCurrentAgent().setObjective('All is well.', { judgeModelId: 'any/judge' })
    await bench.harness.sendMessage({ content: 'Begin', untilIdle: true })
    bench.assertOwnIds(2)
    assert.ok(bench.named(1))
  })
})
