import assert from 'node:assert/strict'
import { join } from 'node:path'
import { InspanError, type AgentEvent } from '@inspan/protocol'
import type { Binding } from '@inspan/protocol/driver'
import { findTagged } from '@inspan/shell/run'
import type { ScriptedToolCall as ToolCall } from '@inspan/testing'
import type { RealCli } from '../real/bench.ts'
import { ONLY_AT_ITS_END } from '../real/scenario.ts'
import { brief } from '../brief.ts'
import { aMessage, APPROVE, ASK, finishOf, liveHost, resultsOf, textOf } from '../live/live-host.ts'
import {
  allowing,
  describeLive,
  DONE,
  hasBegun,
  isThere,
  killAll,
  openStage,
  type LiveTest,
} from '../live/live-scenarios.ts'

/** An agent of the protocol, and how its model uses its tools. */
export interface AcpCli extends RealCli {
  command(command: string): ToolCall
  write(file: string): ToolCall
  /** A call of the tool `echo` of the server `toy`. */
  readonly mcp: ToolCall
  /** Refusing one of several calls refuses them all, and ends the turn. */
  readonly refusesTogether: boolean
  /** A stopped turn is gone from its history, apart from what it was asked. */
  readonly forgetsStopped: boolean
}

const NOT_STEERED = 'The protocol has no way to do that: the turn is stopped, and the message is sent in the next one.'

const input = (text: string): { readonly input: readonly [{ id: '0'; type: 'text'; text: string }] } => ({
  input: [{ id: '0', type: 'text', text }],
})

function theError(events: readonly AgentEvent[]): Extract<AgentEvent, { type: 'error' }> {
  const errors = events.filter((event) => event.type === 'error')
  assert.equal(errors.length, 1, 'one failure is one error')
  const [error] = errors
  assert.ok(error !== undefined)
  return error
}

/** What has to be true of every agent of the protocol. */
export function testAcp(cli: AcpCli, more: (test: LiveTest) => void = () => undefined): void {
  describeLive(cli, ' over ACP', ({ benchFor, stageOf, test, touch }) => {
    test(
      'answers, and takes the next turn in the same process and session',
      async (t) => {
        const { bench, host, run } = await stageOf(t, { text: ['Hello ', 'there.'] }, { text: 'Again.' })
        const events = await run().all
        assert.equal(textOf(events), 'Hello |there.')
        assert.equal(finishOf(events), 'stop')
        assert.equal(textOf(await run({ runId: 'run-2', ...input('And now?') }).all), 'Again.')
        assert.deepEqual(host.processes[0], host.processes[1])
        assert.match(bench.request(1), /Hello there\./)
        assert.deepEqual(brief(host.activity), ['agent: Hello there.', 'agent: Again.'])
        assert.equal(host.bindings.at(-1)?.extra?.['settled'], true)
      },
      'next-turn',
    )

    test(
      'runs a command that a person has approved',
      async (t) => {
        const { bench, host, run } = await stageOf(t, touch('a.txt'), DONE)
        const turn = run()
        const { request, answer } = await turn.ask()
        assert.equal(request.kind, 'approval')
        assert.match(JSON.stringify(request.subject.args), /touch a\.txt/)
        assert.equal(await isThere(bench, 'a.txt'), false)
        answer(APPROVE)
        assert.equal(finishOf(await turn.all), 'stop')
        assert.equal(await isThere(bench, 'a.txt'), true)
        assert.match(brief(host.activity)[0] ?? '', /^command touch a\.txt(?: → 0)?$/)
      },
      'approve',
    )

    test(
      'does not run a command that a person has declined; its model gets the reason with the next prompt',
      async (t) => {
        const { bench, run } = await stageOf(t, touch('a.txt'), DONE, DONE)
        const turn = run()
        const ask = await turn.ask()
        ask.answer({ decision: 'decline', reason: 'REASON-42' })
        const events = await turn.all
        assert.equal(finishOf(events), 'stop')
        assert.equal(resultsOf(events)[0]?.startsWith('✗'), true)
        assert.equal(await isThere(bench, 'a.txt'), false)
        await run({ runId: 'run-2', ...input('Go on.') }).all
        assert.match(bench.request(-1), /REASON-42/)
      },
      { can: 'decline', but: 'It learns why from the next prompt.' },
    )

    const calls = { toolCalls: [cli.command('touch one.txt'), cli.command('touch two.txt')] }

    if (cli.refusesTogether) {
      test(
        'refuses with a call that is declined those that wait behind it',
        async (t) => {
          const { bench, run } = await stageOf(t, calls, DONE)
          const turn = run()
          const ask = await turn.ask()
          const told = new Set<AgentEvent>()
          await turn.until((event) => event.type === 'tool-call' && told.add(event).size === 2)
          ask.answer({ decision: 'decline', reason: 'Not this one.' })
          // It still asks about the other one, and takes that back.
          const events = await turn.all
          assert.deepEqual(
            resultsOf(events).map((result) => result.startsWith('✗')),
            [true, true],
          )
          assert.deepEqual([await isThere(bench, 'one.txt'), await isThere(bench, 'two.txt')], [false, false])
        },
        {
          cannot: 'decline-one',
          because: 'It asks one by one. Declining a call also declines those that wait behind it.',
        },
      )
    }

    test(
      'of two calls runs one and not the other',
      async (t) => {
        const { bench, host, run } = await stageOf(t, calls, DONE)
        const turn = run()
        const isOver = turn.all.then(() => undefined)
        const asked: string[] = []
        for (;;) {
          const ask = await Promise.race([host.nextAsk(), isOver])
          if (ask === undefined) break
          const file = JSON.stringify(ask.request.subject.args).includes('two.txt') ? 'two.txt' : 'one.txt'
          asked.push(file)
          // Calls side by side ask in any order. Where a declined one takes those behind it along, the first is let through.
          const isApproved = cli.refusesTogether ? asked.length === 1 : file === 'one.txt'
          ask.answer(isApproved ? APPROVE : { decision: 'decline', reason: 'Not this one.' })
        }
        const results = resultsOf(await turn.all)
        assert.equal(results.length, 2)
        assert.deepEqual(asked.toSorted(), ['one.txt', 'two.txt'])
        const [ran, refused] = cli.refusesTogether ? asked : ['one.txt', 'two.txt']
        assert.deepEqual([await isThere(bench, ran ?? ''), await isThere(bench, refused ?? '')], [true, false])
      },
      cli.refusesTogether ? [] : 'decline-one',
    )

    test(
      'begins a new session when the thread was rewound, and gets what is left of it',
      async (t) => {
        const turns = ['One.', 'Two.', 'Three.'].map((text) => ({ text }))
        const bench = await benchFor(t, () => ({ turns }))
        const first = await openStage(t, bench)
        await first.run(input('FIRST-1')).all
        const { nativeId = '' } = first.host.bindings.at(-1) ?? {}
        await first.run({ runId: 'run-2', ...input('SECOND-2') }).all
        await first.session.close()
        const host = liveHost(() => ASK, {
          history: async function* () {
            yield aMessage('m2', 'One.', { role: 'assistant', native: { sessionId: nativeId } })
            yield aMessage('m1', 'FIRST-1')
          },
        })
        assert.equal((await bench.agent().describe()).fork, 'none')
        const binding = { ...first.host.bindings.at(-1), stale: 'rewound' } as Binding
        const { run } = await openStage(t, bench, { binding, host })
        assert.equal(textOf(await run({ runId: 'run-3', ...input('THIRD-3') }).all), 'Three.')
        const request = bench.request(-1)
        assert.match(request, /FIRST-1.*One\..*THIRD-3/s)
        assert.doesNotMatch(request, /SECOND-2|Two\./)
        assert.notEqual(host.bindings.at(-1)?.nativeId, nativeId)
      },
      { cannot: ['resume-at-anchor', 'fork'], because: ONLY_AT_ITS_END },
    )

    test(
      'is stopped while a call waits, leaves nothing behind, and continues in the same session',
      async (t) => {
        const { bench, host, run, session } = await stageOf(t, touch('a.txt'), DONE)
        const turn = run(input('FIRST-1'))
        const ask = await turn.ask()
        const receipt = await session.cancel()
        assert.deepEqual(receipt.calls, [ask.request.subject.toolCallId])
        assert.equal(finishOf(await turn.all), 'other')
        for (const { runTag } of host.processes) assert.deepEqual(await findTagged(runTag), [])
        ask.answer(APPROVE)
        assert.equal(await isThere(bench, 'a.txt'), false)
        const before = host.bindings.at(-1)?.nativeId
        assert.equal(textOf(await run({ runId: 'run-2', ...input('SECOND-2') }).all), 'Done.')
        assert.equal(host.bindings.at(-1)?.nativeId, before)
        assert.match(bench.request(-1), /FIRST-1.*SECOND-2/s)
      },
      'stop-waiting',
    )

    test(
      'cannot be steered: what was to be said is said after the turn was stopped',
      async (t) => {
        const endless = cli.command('touch started.txt; tail -f /dev/null')
        const bench = await benchFor(t, () => ({ turns: [{ toolCalls: [endless] }, { text: 'Steered.' }] }))
        const { host, run, session } = await openStage(t, bench, { host: allowing() })
        assert.equal((await bench.agent().describe()).steer, 'restart')
        const turn = run()
        await hasBegun(turn, bench, 'started.txt')
        const steered = session.steer?.(aMessage('m1', 'STEERED-77'))
        await assert.rejects(steered ?? Promise.resolve(), (error: unknown) => InspanError.is(error, 'unsupported'))
        const receipt = await session.cancel()
        assert.equal(receipt.calls.length, 1)
        for (const { runTag } of host.processes)
          assert.deepEqual(await findTagged(runTag), [], 'nothing is left running')
        assert.equal(finishOf(await turn.all), 'other')
        assert.equal(textOf(await run({ runId: 'run-2', ...input('STEERED-77') }).all), 'Steered.')
        const last = bench.request(-1)
        assert.match(last, /STEERED-77/)
        if (!cli.forgetsStopped) assert.match(last, /started\.txt/)
      },
      ['stop', { cannot: 'steer', because: NOT_STEERED }],
    )

    test(
      'continues its session in another process',
      async (t) => {
        const bench = await benchFor(t, () => ({ turns: [{ text: 'One.' }, { text: 'Two.' }] }))
        const first = await openStage(t, bench)
        await first.run(input('FIRST-1')).all
        await first.session.close()
        const binding = first.host.bindings.at(-1) ?? null
        const { host, run } = await openStage(t, bench, { binding })
        const events = await run({ runId: 'run-2', ...input('SECOND-2') }).all
        assert.equal(textOf(events), 'Two.', 'what was said before is not said again')
        assert.match(bench.request(-1), /FIRST-1.*One\..*SECOND-2/s)
        assert.equal(host.bindings.at(-1)?.nativeId, binding?.nativeId)
      },
      'resume',
    )

    test(
      'that was killed between two turns continues its session in another process',
      async (t) => {
        const { bench, host, run } = await stageOf(t, { text: 'One.' }, { text: 'Two.' })
        await run(input('FIRST-1')).all
        await killAll(host)
        const events = await run({ runId: 'run-2', ...input('SECOND-2') }).all
        assert.deepEqual([textOf(events), finishOf(events)], ['Two.', 'stop'])
        assert.match(bench.request(-1), /FIRST-1.*One\..*SECOND-2/s)
        assert.equal(new Set(host.bindings.map(({ nativeId }) => nativeId)).size, 1)
        assert.notEqual(host.processes.at(-1)?.pid, host.processes[0]?.pid)
      },
      'killed',
    )

    test('asks before it writes a file, and before it uses the tool of a server', async (t) => {
      const script = { turns: [{ toolCalls: [cli.write('new.txt')] }, { toolCalls: [cli.mcp] }, DONE] }
      const bench = await benchFor(t, () => script)
      const { host, run } = await openStage(t, bench, { options: cli.options?.mcp ?? {} })
      const turn = run()
      const written = await turn.ask()
      assert.match(written.request.subject.toolName ?? '', /^(?:write|edit)_file$/)
      assert.equal(await isThere(bench, 'new.txt'), false)
      written.answer(APPROVE)
      const asked = await turn.ask()
      assert.deepEqual(asked.request.subject.args, { text: 'hi' })
      asked.answer(APPROVE)
      const events = await turn.all
      assert.match(resultsOf(events)[1] ?? '', /echo: hi/)
      assert.deepEqual(brief(host.activity), [`write ${join(bench.place.work, 'new.txt')}`, 'unknown', 'agent: Done.'])
      const servers = host.judged.filter(({ toolName }) => toolName === 'mcp__toy__echo')
      assert.ok(servers.length > 0 && servers.every(({ category }) => category === 'mcp'))
    })

    test('reports that its key is wrong', async (t) => {
      const error = { status: 401, message: 'KEY-IS-WRONG' }
      const { run } = await stageOf(t, { error, repeat: true })
      const events = await run().all
      assert.match(theError(events).error.message, /KEY-IS-WRONG|Authentication required/)
      assert.equal(finishOf(events), 'error')
    })

    more(test)
  })
}
