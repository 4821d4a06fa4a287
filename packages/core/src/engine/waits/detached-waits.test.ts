import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { callOf, ForeignAgent, runs, says, type Act } from '../foreign-agent.fixture.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'

const textOf = (turn: { input: readonly unknown[] } | undefined): string => JSON.stringify(turn?.input)

suite('a question of a program that is gone', () => {
  for (const [decision, ran] of [
    ['approve', ['make']],
    ['decline', []],
  ] as const) {
    test(`is answered with ${decision}: the same run goes on in a turn of its own, and it counts once`, async () => {
      const agent: ForeignAgent = new ForeignAgent('cli', [
        runs(() => agent, 'make'),
        runs(() => agent, 'make', 'asked-again'),
      ])
      await using bench = await RuntimeBench.open({ cli: { driver: agent } })
      const { runId } = await bench.submit('go', { agentId: 'cli' })
      const wait = await bench.wait()
      assert.equal(wait.resumable, true)

      await bench.restart()
      assert.ok(!bench.isRunning(), 'nothing runs while it waits')
      assert.equal(bench.runtime.state.head.run?.runId, runId)
      assert.equal(bench.runtime.state.head.run.status, 'parked')
      await bench.runtime.answer(wait.id, { decision, reason: 'I said so' }, 'ann')
      const handle = bench.runtime.run
      assert.equal(handle?.runId, runId)
      assert.equal(await handle.done, 'complete')
      assert.deepEqual(agent.journal, ran)
      assert.equal(agent.turns.length, 2)
      assert.match(
        textOf(agent.turns[1]),
        decision === 'approve' ? /approved because I said so/ : /denied because I said so/,
      )
      assert.match(textOf(agent.turns[1]), decision === 'approve' ? /its earlier outcome is unknown/ : /make/)
      const opened = await bench.bodies('wait.opened')
      assert.equal(opened.length, 2, 'asked once by each process, and nobody else was')
      assert.equal((await bench.bodies('run.started')).length, 1)
      assert.equal((await bench.bodies('turn.ended')).length, 2)
      assert.equal((await bench.bodies('run.ended')).length, 1)
    })
  }

  for (const hasRestarted of [false, true]) {
    const when = hasRestarted ? 'after a restart' : 'while the program waits'
    test(`that came before the call it is about: the run parks, and is answered ${when}`, async () => {
      const agent: ForeignAgent = new ForeignAgent('cli', [
        async function* (_turn, host) {
          const subject = { agentId: 'cli', toolCallId: 'late', toolName: 'execute_command', args: { command: 'make' } }
          yield { type: 'step-start', stepIndex: 0 }
          // The question is still being written when the call is reported.
          const answered = host.ask({
            id: 'q',
            kind: 'approval',
            subject,
            description: 'run make',
            payload: { cwd: '/project' },
          })
          yield { type: 'tool-call', ...subject }
          if ((await answered).decision === 'approve') agent.journal.push('make')
          yield { type: 'tool-result', toolCallId: 'late', toolName: 'execute_command', result: 'ran' }
          yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
        },
        runs(() => agent, 'make', 'asked-again'),
      ])
      await using bench = await RuntimeBench.open({ cli: { driver: agent } })
      await bench.submit('go', { agentId: 'cli' })
      const wait = await bench.wait()
      await bench.until(() => bench.runtime.state.head.run?.status === 'parked')
      if (hasRestarted) await bench.restart()
      await bench.runtime.answer(wait.id, { decision: 'approve' }, 'ann')
      await bench.until(() => bench.runtime.state.head.run === null)
      assert.deepEqual(agent.journal, ['make'])
      assert.equal((await bench.bodies('run.ended'))[0]?.outcome, 'complete')
      assert.equal(agent.turns.length, hasRestarted ? 2 : 1)
    })
  }

  test('counts for the very same call only: other arguments ask anew', async () => {
    const agent: ForeignAgent = new ForeignAgent('cli', [
      runs(() => agent, 'make'),
      async function* (_turn, host) {
        yield { type: 'step-start', stepIndex: 0 }
        yield* callOf(() => agent, 'make', 'again', host)
        yield* callOf(() => agent, 'make', 'and-again', host)
        yield* callOf(() => agent, 'make all', 'other', host)
        yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
      },
    ])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    await bench.submit('go', { agentId: 'cli' })
    const first = await bench.wait()
    await bench.restart()
    await bench.runtime.answer(first.id, { decision: 'approve' })
    const second = await bench.wait()
    assert.deepEqual(agent.journal, ['make'], 'the answer was used once')
    const asked = (await bench.bodies('wait.opened')).filter(({ answered }) => answered !== true)
    assert.deepEqual(
      asked.map(({ wait }) => wait.id),
      [first.id, second.id],
      'the call that was repeated asked nobody',
    )
    assert.deepEqual(second.subject.args, { command: 'make' })
    await bench.runtime.answer(second.id, { decision: 'decline' })
    const third = await bench.wait()
    assert.deepEqual(third.subject.args, { command: 'make all' })
    await bench.runtime.answer(third.id, { decision: 'approve' })
    assert.equal(await bench.runtime.run?.done, 'complete')
    assert.deepEqual(agent.journal, ['make', 'make all'])
  })

  test('waits for the others: when all are answered the program gets all answers', async () => {
    const both: Act = async function* (_turn, host) {
      yield { type: 'step-start', stepIndex: 0 }
      const ask = (kind: 'question' | 'approval', toolName: string): Promise<unknown> =>
        host.ask({
          id: crypto.randomUUID(),
          kind,
          subject: { agentId: 'cli', toolName, args: { about: toolName } },
          description: toolName,
        })
      await Promise.all([ask('approval', 'deploy'), ask('question', 'colour')])
      yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
    }
    const agent = new ForeignAgent('cli', [both, both])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    await bench.submit('go', { agentId: 'cli' })
    await bench.waits(2)
    await bench.restart()
    const [one, two] = await bench.waits(2)
    assert.ok(one && two)
    const [approval, question] = one.kind === 'approval' ? [one, two] : [two, one]
    await bench.runtime.answer(approval.id, { decision: 'approve' })
    assert.ok(!bench.isRunning(), 'there is still something to answer')
    await bench.runtime.answer(question.id, { decision: 'answer', value: 'blue' })
    assert.equal(await bench.runtime.run?.done, 'complete')
    assert.match(textOf(agent.turns[1]), /deploy.*approved/)
    assert.match(textOf(agent.turns[1]), /colour.*with the answer \\\\?"blue/)
    assert.equal(bench.runtime.state.head.waits.size, 0)
  })

  /** Asks about several calls at once, and makes those that are approved. */
  const several = (agent: () => ForeignAgent, ...commands: readonly string[]): Act =>
    async function* (_turn, host) {
      yield { type: 'step-start', stepIndex: 0 }
      const asked = commands.map(async (command) => {
        const subject = { agentId: 'cli', toolName: 'execute_command', args: { command } }
        const id = crypto.randomUUID()
        const answer = await host.ask({ id, kind: 'approval', subject, description: command })
        agent().journal.push(`${command} ${answer.decision}`)
      })
      await Promise.all(asked)
      yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
    }
  const isOf = (bench: RuntimeBench, waitId: string): Promise<string | undefined> =>
    bench.store.getWait('thread', waitId).then((row) => row?.state)

  test('of several questions, each answer is recorded on its own: other processes find it, and nobody can give it again', async () => {
    const agent: ForeignAgent = new ForeignAgent('cli', [
      several(() => agent, 'a', 'b'),
      several(() => agent, 'a', 'b'),
    ])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    const { runId } = await bench.submit('go', { agentId: 'cli' })
    await bench.waits(2)
    await bench.restart()
    const [one, two] = await bench.waits(2)
    assert.ok(one && two)
    await bench.runtime.answer(one.id, { decision: 'decline' }, 'ann')
    await bench.restart()
    assert.ok(!bench.isRunning(), 'there is still something to answer')
    assert.equal(await isOf(bench, one.id), 'answered')
    await assert.rejects(bench.runtime.answer(one.id, { decision: 'approve' }), /answered by ann already/)
    await bench.restart()
    await bench.runtime.answer(two.id, { decision: 'approve' })
    assert.equal(bench.runtime.run?.runId, runId)
    await bench.runtime.run?.done
    assert.deepEqual(agent.journal.toSorted(), ['a decline', 'b approve'], 'what was answered first counts too')
    assert.equal(agent.turns.length, 2, 'one turn for all of them')
  })

  test('of several questions, cancelling after some were answered cancels the rest, and no answer counts later', async () => {
    const agent: ForeignAgent = new ForeignAgent('cli', [several(() => agent, 'a', 'b'), several(() => agent, 'a')])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    await bench.submit('go', { agentId: 'cli' })
    await bench.waits(2)
    await bench.restart()
    const [one, two] = await bench.waits(2)
    assert.ok(one && two)
    await bench.runtime.answer(one.id, { decision: 'approve' })
    await bench.runtime.cancel()
    assert.equal(bench.runtime.state.head.lastRun?.outcome, 'aborted')
    assert.deepEqual([await isOf(bench, one.id), await isOf(bench, two.id)], ['answered', 'cancelled'])
    await assert.rejects(bench.runtime.answer(two.id, { decision: 'approve' }), /cancelled already/)
    assert.equal(agent.turns.length, 1, 'nothing goes on')
    assert.equal((await bench.bodies('run.ended')).length, 1)

    await bench.submit('anew', { agentId: 'cli' })
    assert.deepEqual((await bench.wait()).subject.args, { command: 'a' }, 'asked again in another run')
    assert.deepEqual(agent.journal, [])
  })

  test('of several questions, one that nobody answers in time is declined, and then the run continues', async () => {
    const agent: ForeignAgent = new ForeignAgent('cli', [
      several(() => agent, 'a', 'b'),
      several(() => agent, 'a', 'b'),
    ])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    await bench.submit('go', { agentId: 'cli' })
    await bench.waits(2)
    await bench.restart()
    const [one] = await bench.waits(2)
    await bench.runtime.answer(one?.id ?? '', { decision: 'approve' })
    await bench.restart({ approvalTimeout: 1 })
    await bench.until(() => agent.journal.length === 2)
    assert.deepEqual(agent.journal.toSorted(), ['a approve', 'b decline'])
  })

  test('asked twice has two answers, used in the order in which they were given', async () => {
    const twice = (): Act => several(() => agent, 'make', 'make')
    const agent: ForeignAgent = new ForeignAgent('cli', [twice(), twice()])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    await bench.submit('go', { agentId: 'cli' })
    await bench.waits(2)
    await bench.restart()
    const [one, two] = await bench.waits(2)
    await bench.runtime.answer(one?.id ?? '', { decision: 'approve', reason: 'once is enough' })
    await bench.runtime.answer(two?.id ?? '', { decision: 'decline', reason: 'not twice' })
    await bench.runtime.run?.done
    assert.deepEqual(agent.journal, ['make approve', 'make decline'])
    assert.match(textOf(agent.turns[1]), /approved because once is enough.*denied because not twice/)
  })

  test('a question of a program that cannot be resumed ends with its run', async () => {
    const agent: ForeignAgent = new ForeignAgent('cli', [runs(() => agent, 'make')], { resume: 'none' })
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    await bench.submit('go', { agentId: 'cli' })
    const wait = await bench.wait()
    assert.equal(wait.resumable, false, 'said before anybody answers')
    await bench.restart()
    assert.equal(bench.runtime.state.head.run, null)
    assert.equal(bench.runtime.state.head.lastRun?.outcome, 'interrupted')
    await assert.rejects(bench.runtime.answer(wait.id, { decision: 'approve' }), (error) =>
      InspanError.is(error, 'conflict'),
    )
    assert.deepEqual(agent.journal, [])
  })

  test('an answer that could not be delivered before the next crash is delivered after it', async () => {
    const agent: ForeignAgent = new ForeignAgent('cli', [runs(() => agent, 'make'), runs(() => agent, 'make', 'again')])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    await bench.submit('go', { agentId: 'cli' })
    const wait = await bench.wait()
    await bench.restart()
    // As if the process had died between the answer and the turn that follows it.
    await bench.runtime.change(async (log) => {
      await log.commit([{ type: 'wait.answered', waitId: wait.id, answer: { decision: 'approve' }, detached: true }])
    })
    await bench.restart()
    assert.equal(await bench.runtime.run?.done, 'complete')
    assert.deepEqual(agent.journal, ['make'])
  })

  test('can be cancelled with its run, and not answered afterwards', async () => {
    const agent: ForeignAgent = new ForeignAgent('cli', [runs(() => agent, 'make')])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    await bench.submit('go', { agentId: 'cli' })
    const wait = await bench.wait()
    await bench.restart()
    await bench.runtime.cancel()
    assert.equal(bench.runtime.state.head.lastRun?.outcome, 'aborted')
    await assert.rejects(bench.runtime.answer(wait.id, { decision: 'approve' }), (error) =>
      InspanError.is(error, 'conflict'),
    )
  })
})

suite('a program that only waits', () => {
  test('is closed after a while, and its question is answered as if it had died', async () => {
    const agent: ForeignAgent = new ForeignAgent('cli', [runs(() => agent, 'make'), runs(() => agent, 'make', 'again')])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } }, { parkAfter: 20, passivateAfter: 20 })
    const handle = await bench.submit('go', { agentId: 'cli' })
    const wait = await bench.wait()
    await bench.until(() => agent.closed === 1)
    await bench.until(() => !bench.runtime.isHeld)
    assert.equal((await bench.store.getStream('thread'))?.owner, null, 'nobody owns a thread that only waits')
    await bench.runtime.answer(wait.id, { decision: 'approve' })
    assert.equal(await handle.done, 'complete', 'who started the run hears of its end')
    assert.deepEqual(agent.journal, ['make'])
    assert.equal(agent.opened, 2)
  })

  test('a program whose session cannot be resumed keeps its process', async () => {
    const agent: ForeignAgent = new ForeignAgent('cli', [runs(() => agent, 'make')], { resume: 'none' })
    await using bench = await RuntimeBench.open({ cli: { driver: agent } }, { parkAfter: 5 })
    const { done } = await bench.submit('go', { agentId: 'cli' })
    const wait = await bench.wait()
    await new Promise((resolve) => setTimeout(resolve, 30))
    assert.equal(agent.closed, 0)
    await bench.runtime.answer(wait.id, { decision: 'approve' })
    assert.equal(await done, 'complete')
    assert.deepEqual(agent.journal, ['make'])
  })

  test('may take its question back', async () => {
    const agent = new ForeignAgent('cli', [
      async function* (_turn, host) {
        const id = crypto.randomUUID()
        const asked = host.ask({ id, kind: 'question', subject: {}, description: 'Sure?' }).catch(() => undefined)
        yield { type: 'text-delta', text: 'Hm.' }
        await host.withdraw(id)
        await asked
      },
      says('Done.'),
    ])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    const { done } = await bench.submit('go', { agentId: 'cli' })
    assert.equal(await done, 'complete')
    const [opened] = await bench.bodies('wait.opened')
    assert.equal((await bench.store.getWait('thread', opened?.wait.id ?? ''))?.state, 'superseded')
  })
})
