import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { GoalEvaluation, HarnessEvent } from '@inspan/protocol/harness'
import { MemoryStore } from '@inspan/stores'
import { scriptedModel, type ScriptedModel } from '@inspan/testing'
import { HarnessBench } from '../harness.fixture.ts'
import { controlThread, ThreadBench } from '../signals/thread-bench.fixture.ts'
import type { ThreadControl } from '../threads/thread-control.ts'
import { GoalKeeper } from './goal-keeper.ts'
import { readJudgement } from './judge.ts'

const verdict = (word: string, reason = 'because') => ({ text: JSON.stringify({ verdict: word, reason }) })

interface Setup {
  readonly bench: ThreadBench
  readonly control: ThreadControl
  readonly judge: ScriptedModel
  readonly evaluations: GoalEvaluation[]
  readonly say: (text: string) => Promise<void>
}

async function open(
  t: { after(work: () => Promise<void>): void },
  answers: number,
  judgements: Parameters<typeof scriptedModel>[0],
): Promise<Setup> {
  const bench = await ThreadBench.open({
    script: Array.from({ length: answers }, (_, n) => ({ text: `Answer ${n}.` })),
  })
  const judge = scriptedModel(judgements)
  const evaluations: GoalEvaluation[] = []
  const control = controlThread(t, bench, {
    judgeModel: async (modelId) => (modelId === 'judge/one' ? judge : undefined),
    emit: (event: HarnessEvent) => {
      if (event.type === 'goal_evaluation') evaluations.push(event.payload)
    },
  })
  const say = async (text: string): Promise<void> => {
    await bench.say(text)
    await control.settled()
  }
  return { bench, control, judge, evaluations, say }
}

const JUDGE = { judgeModelId: 'judge/one' }

suite('a goal', () => {
  test('is worked on until the judge finds it reached', async (t) => {
    const { bench, control, evaluations, judge, say } = await open(t, 3, [
      verdict('continue', 'Tests are missing.'),
      verdict('continue', 'One test fails.'),
      verdict('done', 'All pass.'),
    ])
    await control.goal.setObjective('Make the tests pass.', { ...JUDGE, maxRuns: 5 })
    await say('Begin.')
    assert.equal(bench.model.requests.length, 3)
    assert.match(JSON.stringify(bench.model.requests[0]), /<objective>.*Make the tests pass/)
    assert.match(
      JSON.stringify(bench.model.requests[1]),
      /<system-reminder type=\\"goal\\">The objective is not reached yet. Tests are missing/,
    )
    assert.match(JSON.stringify(judge.requests[1]), /Answer 1/)
    assert.deepEqual(
      evaluations.map(({ pending, iteration, passed, status }) => [pending ?? false, iteration, passed, status]),
      [
        [true, 1, false, 'active'],
        [false, 1, false, 'active'],
        [true, 2, false, 'active'],
        [false, 2, false, 'active'],
        [true, 3, false, 'active'],
        [false, 3, true, 'done'],
      ],
    )
    assert.deepEqual(
      evaluations.flatMap(({ results }) => results.map((result) => (result as { score: number }).score)),
      [0, 0, 1],
    )
    assert.deepEqual(
      { ...control.goal.getObjective(), startedAt: 0, updatedAt: 0 },
      {
        objective: 'Make the tests pass.',
        status: 'done',
        runsUsed: 3,
        maxRuns: 5,
        ...JUDGE,
        startedAt: 0,
        updatedAt: 0,
      },
    )
  })

  test('is judged by what its owner adds as well', async (t) => {
    const { control, judge, say } = await open(t, 2, [verdict('waiting'), verdict('done')])
    await control.goal.setObjective('Say something.', { ...JUDGE, prompt: 'Be strict.' })
    await say('One.')
    await control.goal.updateObjectiveOptions({ prompt: 'Be kind.' })
    await say('Two.')
    assert.match(JSON.stringify(judge.requests[0]), /Be strict\./)
    assert.match(JSON.stringify(judge.requests[1]), /Be kind\./)
  })

  test('may use fifty runs unless something else is said', async (t) => {
    const { control, evaluations, say } = await open(t, 1, [verdict('done')])
    assert.equal((await control.goal.setObjective('Say something.', JUDGE)).maxRuns, 50)
    await say('One.')
    assert.deepEqual(
      evaluations.map(({ maxRuns }) => maxRuns),
      [50, 50],
    )
  })

  test('a goal that is reached is not judged again', async (t) => {
    const { control, evaluations, judge, say } = await open(t, 2, [verdict('done')])
    await control.goal.setObjective('Say something.', { ...JUDGE, maxRuns: 1 })
    await say('One.')
    await say('Two.')
    assert.equal(judge.requests.length, 1)
    assert.equal(evaluations.at(-1)?.maxRunsReached, false, 'the limit has kept it from nothing')
  })

  test('is paused when its runs are used up, and can be taken up again', async (t) => {
    const { bench, control, evaluations, say } = await open(t, 3, [
      verdict('continue'),
      verdict('continue'),
      verdict('done'),
    ])
    await control.goal.setObjective('Never.', { ...JUDGE, maxRuns: 2 })
    await say('Go.')
    assert.equal(bench.model.requests.length, 2)
    const last = evaluations.at(-1)
    assert.deepEqual(
      [last?.status, last?.maxRunsReached, last?.pausedReason, last?.suppressFeedback],
      ['paused', true, 'The limit of 2 runs is reached.', true],
    )
    const goal = await control.goal.updateObjectiveOptions({ status: 'active', maxRuns: 4 })
    assert.deepEqual([goal.status, goal.maxRuns, goal.pausedReason], ['active', 4, undefined])
    await say('Once more.')
    assert.equal(control.goal.getObjective()?.status, 'done')
  })

  test('waits for the user when the judge decides so', async (t) => {
    const { bench, control, evaluations, say } = await open(t, 1, [verdict('waiting', 'It asked for a key.')])
    await control.goal.setObjective('Deploy.', JUDGE)
    await say('Go.')
    assert.equal(bench.model.requests.length, 1)
    assert.deepEqual([evaluations[1]?.waitingForUser, evaluations[1]?.status], [true, 'active'])
  })

  for (const [title, judgement] of Object.entries({
    'cannot be reached': { error: { status: 500 } },
    'says something else': { text: 'Well, maybe.' },
    'gives no verdict': { text: '{"verdict":"perhaps"}' },
  })) {
    test(`is paused when the judge ${title}`, async (t) => {
      const { bench, control, evaluations, say } = await open(t, 1, [judgement])
      await control.goal.setObjective('Deploy.', JUDGE)
      await say('Go.')
      assert.equal(bench.model.requests.length, 1)
      assert.deepEqual(
        [evaluations[1]?.judgeFailed, evaluations[1]?.status, evaluations[1]?.passed],
        [true, 'paused', false],
      )
      assert.match(control.goal.getObjective()?.pausedReason ?? '', /^The judge failed: /)
    })
  }

  test('is paused when the judge takes too long', async () => {
    await using bench = await ThreadBench.open({ script: [] })
    const evaluations: GoalEvaluation[] = []
    const keeper = new GoalKeeper({
      port: bench.port,
      judgeModel: async () => scriptedModel([{ text: 'Hm', hang: true }]),
      emit: (event) => void (event.type === 'goal_evaluation' && evaluations.push(event.payload)),
      judgeTimeoutMs: 20,
    })
    await keeper.setObjective('Wait.')
    const alive = setInterval(() => undefined, 1_000)
    assert.equal(await keeper.judgeRun(), false)
    clearInterval(alive)
    assert.deepEqual([evaluations[1]?.timedOut, evaluations[1]?.judgeFailed], [true, true])
  })

  test('is not judged when the run was aborted', async (t) => {
    const { bench, control, judge } = await open(t, 0, [])
    await control.goal.setObjective('Go on.', JUDGE)
    // The script has no answer: the run ends with an error, not with something to judge.
    await bench.say('Go.')
    await control.settled()
    assert.equal(judge.requests.length, 0)
    assert.equal(control.goal.getObjective()?.status, 'active')
  })

  test('a goal that was cleared while it was judged stays so', async (t) => {
    const { bench, control, say } = await open(t, 2, [
      async () => {
        await control.goal.clearObjective()
        return verdict('continue')
      },
    ])
    await control.goal.setObjective('Go on.', JUDGE)
    await say('Go.')
    assert.equal(control.goal.getObjective(), null)
    assert.equal(bench.model.requests.length, 1)
  })

  test('survives the process', async (t) => {
    const { bench, control } = await open(t, 0, [])
    await control.goal.setObjective('Go on.', JUDGE)
    await bench.restart()
    assert.equal(bench.runtime.state.head.goal?.objective, 'Go on.')
  })

  test('is not spoken of in a run that somebody began while the judge was thinking', async () => {
    const gate = Promise.withResolvers<void>()
    const judge = scriptedModel([
      async () => {
        const begun = bench.next('agent_start')
        void bench.harness.sendMessage({ content: 'And this.' })
        await begun
        return verdict('continue', 'More.')
      },
      verdict('done'),
    ])
    const slow = async () => {
      await gate.promise
      return { text: 'Two.' }
    }
    await using bench = new HarnessBench([{ text: 'One.' }, slow], { resolveModel: () => judge })
    await bench.harness.getCurrentAgent().setObjective('Go on.', JUDGE)
    const judged = bench.next('goal_evaluation', ({ payload }) => payload.pending !== true)
    const reached = bench.next('goal_evaluation', ({ payload }) => payload.passed)
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.equal((await judged).payload.suppressFeedback, true)
    gate.resolve()
    await reached
    assert.equal(bench.model.calls, 2)
    assert.doesNotMatch(bench.model.requestBodies.join(), /not reached yet/)
  })

  for (const [how, leave] of Object.entries({
    'the harness is destroyed': (bench: HarnessBench) => bench.harness.destroy(),
    'its thread is left': (bench: HarnessBench) => bench.harness.createThread(),
  })) {
    test(`holds nobody up when ${how} while it is judged, and is not paused by it`, { timeout: 30_000 }, async () => {
      const judge = scriptedModel([{ text: 'Hm', hang: true }])
      await using bench = new HarnessBench([{ text: 'Done.' }], {
        storage: new MemoryStore(),
        resolveModel: () => judge,
      })
      const { id: threadId } = await bench.harness.createThread()
      await bench.harness.getCurrentAgent().setObjective('Go on.', JUDGE)
      const judging = bench.next('goal_evaluation')
      const sent = bench.harness.sendMessage({ content: 'Go.', untilIdle: true })
      await judging
      await leave(bench)
      await sent
      await bench.harness.switchThread({ threadId })
      assert.equal((await bench.harness.getCurrentAgent().getObjective())?.status, 'active')
    })
  }

  test('is left as it is by an abort while it is judged: no run begins for it until somebody speaks', async () => {
    const asked = Promise.withResolvers<void>()
    const thinks = () => {
      asked.resolve()
      return { text: 'Hm', hang: true } as const
    }
    const judge = scriptedModel([thinks, verdict('done')])
    await using bench = new HarnessBench([{ text: 'One.' }, { text: 'Two.' }], { resolveModel: () => judge })
    const { harness } = bench
    await harness.createThread()
    await harness.getCurrentAgent().setObjective('Go on.', JUDGE)
    const sent = harness.sendMessage({ content: 'Go.', untilIdle: true })
    await asked.promise
    await harness.abort()
    await sent
    const [, told] = bench.all('goal_evaluation').map(({ payload }) => payload)
    assert.deepEqual(
      [told?.pending, told?.iteration, told?.status, told?.suppressFeedback, told?.reason],
      [undefined, 1, 'active', true, 'The judge was stopped.'],
    )
    const goal = await harness.getCurrentAgent().getObjective()
    assert.deepEqual([goal?.status, goal?.runsUsed], ['active', 0])
    assert.equal(bench.model.requests.length, 1)
    await harness.sendMessage({ content: 'Go on.', untilIdle: true })
    assert.equal((await harness.getCurrentAgent().getObjective())?.status, 'done')
  })

  test('notifications that were due are delivered after the next run if the judge is stopped', async () => {
    const judge = scriptedModel([{ text: 'Hm', hang: true }])
    const notify = async () => {
      await harness.sendNotificationSignal({ source: 'ci', kind: 'build', summary: 'It broke.', priority: 'high' })
      return { text: 'One.' }
    }
    await using bench = new HarnessBench([notify, { text: 'Two.' }, { text: 'Three.' }], { resolveModel: () => judge })
    const { harness } = bench
    await harness.createThread()
    await harness.getCurrentAgent().setObjective('Go on.', JUDGE)
    const judging = bench.next('goal_evaluation')
    const sent = harness.sendMessage({ content: 'Go.', untilIdle: true })
    await judging
    await harness.abort()
    await sent
    assert.equal(bench.model.requests.length, 1)
    await harness.getCurrentAgent().clearObjective()
    await harness.sendMessage({ content: 'Go on.', untilIdle: true })
    assert.equal(bench.model.requests.length, 3)
    assert.match(bench.model.requestBodies[2] ?? '', /<notification[^>]*>It broke\./)
  })

  test('begins no run when the abort comes with the verdict', async () => {
    const judge = scriptedModel([verdict('continue')])
    await using bench = new HarnessBench([{ text: 'One.' }], { resolveModel: () => judge })
    const { harness } = bench
    await harness.createThread()
    await harness.getCurrentAgent().setObjective('Go on.', JUDGE)
    harness.subscribe((event) => {
      if (event.type === 'goal_evaluation' && event.payload.pending !== true) return harness.abort()
    })
    await harness.sendMessage({ content: 'Go.', untilIdle: true })
    assert.equal(bench.model.requests.length, 1)
  })

  test('ends the run that has just been asked for when the abort comes then', async () => {
    const judge = scriptedModel([verdict('continue')])
    await using bench = new HarnessBench([{ text: 'One.' }, { text: 'Two', hang: true }], {
      resolveModel: () => judge,
    })
    const { harness } = bench
    await harness.createThread()
    await harness.getCurrentAgent().setObjective('Go on.', JUDGE)
    const judged = bench.next('goal_evaluation', ({ payload }) => payload.pending !== true)
    const sent = harness.sendMessage({ content: 'Go.', untilIdle: true })
    await judged
    await harness.abort()
    await sent
    assert.equal(harness.session.run.isRunning(), false)
  })

  test('has the times when it was set and last changed', async (t) => {
    const { bench } = await open(t, 1, [])
    let time = 1_000
    const judge = scriptedModel([
      () => {
        time = 4_000
        return verdict('done')
      },
    ])
    const told: GoalEvaluation[] = []
    const goal = new GoalKeeper({
      port: bench.port,
      emit: (event) => void (event.type === 'goal_evaluation' && told.push(event.payload)),
      judgeModel: async () => judge,
      now: () => time,
    })
    const times = (): readonly unknown[] => [goal.getObjective()?.startedAt, goal.getObjective()?.updatedAt]
    await goal.setObjective('Go on.', JUDGE)
    assert.deepEqual(times(), [1_000, 1_000])
    time = 2_000
    await goal.updateObjectiveOptions({ maxRuns: 3 })
    assert.deepEqual(times(), [1_000, 2_000])
    time = 3_000
    await goal.judgeRun()
    assert.deepEqual(times(), [1_000, 4_000])
    assert.deepEqual(
      told.map(({ duration }) => duration),
      [0, 1_000],
    )
  })

  test('reports how long a judge had worked when it was stopped', async (t) => {
    const { bench } = await open(t, 1, [])
    let time = 1_000
    const stop = new AbortController()
    const judge = scriptedModel([
      () => {
        time = 3_500
        queueMicrotask(() => stop.abort())
        return { text: 'Hm', hang: true }
      },
    ])
    const told: GoalEvaluation[] = []
    const goal = new GoalKeeper({
      port: bench.port,
      emit: (event) => void (event.type === 'goal_evaluation' && told.push(event.payload)),
      judgeModel: async () => judge,
      now: () => time,
    })
    await goal.setObjective('Go on.', JUDGE)
    assert.equal(await goal.judgeRun(stop.signal), false)
    assert.deepEqual(
      told.map(({ duration, pending, reason }) => [pending, duration, reason]),
      [
        [true, 0, undefined],
        [undefined, 2_500, 'The judge was stopped.'],
      ],
    )
  })

  test('is refused without a text, without a judge, or with an invalid limit', async (t) => {
    const { control } = await open(t, 0, [])
    await assert.rejects(control.goal.setObjective(' ', JUDGE), /must not be empty/)
    await assert.rejects(control.goal.setObjective('x'), /needs a model that judges/)
    await assert.rejects(control.goal.setObjective('x', { ...JUDGE, maxRuns: 0 }), /positive whole number/)
    await assert.rejects(control.goal.updateObjectiveOptions({ maxRuns: 3 }), /no objective/)
  })
})

test('a verdict is read out of what models wrap it in', () => {
  const wrapped = 'Here it is:\n```json\n{"verdict": "done", "reason": "ok"}\n```'
  assert.deepEqual(readJudgement(wrapped), { verdict: 'done', reason: 'ok' })
})
