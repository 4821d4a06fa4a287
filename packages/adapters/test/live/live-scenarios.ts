import assert from 'node:assert/strict'
import { access, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { AgentSession, Binding, Turn } from '@inspan/protocol/driver'
import { findTagged } from '@inspan/shell/run'
import type { ScriptedToolCall as ToolCall, ModelTurn } from '@inspan/testing'
import {
  makeBench,
  makePlace,
  removePlace,
  type Bench,
  type RunFolders,
  type RealCli,
  type RealScript,
} from '../real/bench.ts'
import type { PrintOptions } from '../../src/launch/print-driver.ts'
import { installedCli } from '../real/clis.ts'
import { proving, type AbilityClaim } from '../real/proofs.ts'
import { idly, INSTALL_MS, SIDE_BY_SIDE, TEST_MS } from '../real/side-by-side.ts'
import { assertNoPrivateDirs } from '../real/no-leftovers.ts'
import { aTurn } from '../launch/diary.ts'
import {
  aMessage,
  APPROVE,
  finishOf,
  liveHost,
  resultsOf,
  take,
  textOf,
  type LiveHost,
  type PendingAsk,
  type Taking,
} from './live-host.ts'

/** A program that asks, and how its model runs a command. */
export interface LiveCli extends RealCli {
  command(command: string): ToolCall
  /** A call of which two can wait at the same time, about this file. */
  independent(file: string, place: RunFolders): ToolCall
}

/** The model's last turn. */
export const DONE: ModelTurn = { text: 'Done.' }

export interface LiveStage {
  readonly bench: Bench
  readonly host: LiveHost
  readonly session: AgentSession
  readonly run: (more?: Partial<Turn>) => Taking
}

interface StageSetup {
  readonly host?: LiveHost
  readonly binding?: Binding | null
  readonly options?: PrintOptions
}

/** A host whose rules allow everything. */
export function allowing(): LiveHost {
  return liveHost(() => ({ policy: 'allow', reason: 'a test' }))
}

export function answers(...texts: readonly string[]): readonly ModelTurn[] {
  return texts.map((text) => ({ text }))
}

/** A session that is closed after the test, and of which nothing is left then. */
export async function openStage(t: TestContext, bench: Bench, setup: StageSetup = {}): Promise<LiveStage> {
  const { host = liveHost(), binding = null, options = {} } = setup
  const session = await bench.agent(options).open(binding, host.host)
  t.after(async () => {
    await session.close()
    for (const { runTag } of host.processes) assert.deepEqual(await findTagged(runTag), [], 'nothing is left running')
    await removePlace(bench.place)
  })
  return { bench, host, session, run: (more) => take(session.run({ ...aTurn, ...more }), host) }
}

/** Kills the program and all it has started, as an operator or a machine short of memory would. They are gone then. */
export async function killAll({ processes }: LiveHost): Promise<void> {
  for (const tag of new Set(processes.map(({ runTag }) => runTag))) {
    for (let left = await findTagged(tag); left.length > 0; left = await findTagged(tag)) {
      for (const { pid } of left) killIfThere(pid)
      await pause(20)
    }
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    // It has ended by itself since it was found.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** The program's command has begun: it has made this file, and the call was told. */
export async function hasBegun(turn: Taking, bench: Bench, file: string): Promise<void> {
  const over = new AbortController()
  const look = async (): Promise<void> => {
    while (!over.signal.aborted && !(await isThere(bench, file))) await pause(50)
  }
  await turn.before(look()).finally(() => over.abort())
  // The file may be seen before the words that came first.
  await turn.until(({ type }) => type === 'tool-call')
}

export async function isThere({ place }: Bench, file: string): Promise<boolean> {
  return access(join(place.work, file)).then(
    () => true,
    () => false,
  )
}

/** A directory and a provider with a script, for one test. */
export async function benchOf(
  t: TestContext,
  cli: RealCli,
  bin: string,
  script: (place: RunFolders) => RealScript,
): Promise<Bench> {
  const place = await makePlace(t)
  return makeBench(t, cli, bin, place, script(place))
}

/** A test with the program's path. */
export type LiveTest = (
  title: string,
  body: (t: TestContext, bin: string) => Promise<void>,
  /** What it shows of the program. */
  claims?: AbilityClaim | readonly AbilityClaim[],
) => void

/** What the tests of one program share. */
interface LiveKit {
  readonly test: LiveTest
  /** A bench whose model plays these turns. */
  readonly benchFor: (t: TestContext, script: (place: RunFolders) => RealScript) => Promise<Bench>
  readonly stageOf: (t: TestContext, ...turns: readonly ModelTurn[]) => Promise<LiveStage>
  /** A turn that runs `touch` on the file. */
  readonly touch: (file: string) => ModelTurn
}

interface CommandingCli extends RealCli {
  command(command: string): ToolCall
}

/** The tests of a program that is installed before them, with those that hold for every one that asks. */
export function describeLive(cli: CommandingCli, how: string, tests: (kit: LiveKit) => void): void {
  describe(`${cli.profile.title} ${cli.profile.npm?.version ?? ''}${how}`, SIDE_BY_SIDE, () => {
    let bin = ''
    before(async () => void (bin = await installedCli(cli.profile)), { timeout: INSTALL_MS })
    after(assertNoPrivateDirs)
    const benchFor: LiveKit['benchFor'] = (t, script) => benchOf(t, cli, bin, script)
    const kit: LiveKit = {
      test: (title, body, claims = []) =>
        void it(
          title,
          { timeout: TEST_MS },
          proving(cli.profile, 'live', claims, (t) => body(t, bin)),
        ),
      benchFor,
      stageOf: async (t, ...turns) => openStage(t, await benchFor(t, () => ({ turns }))),
      touch: (file) => ({ toolCalls: [cli.command(`touch ${file}`)] }),
    }
    tests(kit)
    testAsking(kit)
  })
}

function testAsking({ benchFor, stageOf, test, touch }: LiveKit): void {
  test(
    'does not run a command that our rules deny, and asks nobody about it',
    async (t) => {
      const bench = await benchFor(t, () => ({ turns: [touch('a.txt'), DONE] }))
      const host = liveHost(() => ({ policy: 'deny', reason: 'a rule' }))
      const { run } = await openStage(t, bench, { host })
      const events = await run().all
      assert.equal(finishOf(events), 'stop')
      assert.equal(resultsOf(events)[0]?.startsWith('✗'), true)
      assert.equal(await isThere(bench, 'a.txt'), false)
      assert.deepEqual(host.asked, [])
    },
    'rules',
  )

  test(
    'waits longer than a minute for an answer',
    async (t) => {
      const { bench, run } = await stageOf(t, touch('a.txt'), DONE)
      const turn = run()
      const ask = await turn.ask()
      await idly(() => pause(61_000))
      ask.answer(APPROVE)
      assert.equal(finishOf(await turn.all), 'stop')
      assert.equal(await isThere(bench, 'a.txt'), true)
    },
    'late-answer',
  )
}

/** What has to be true of every program that asks and can be steered. */
export function testLive(cli: LiveCli, more: (test: LiveTest) => void): void {
  describeLive(cli, ', asked and steered', ({ benchFor, stageOf, test, touch }) => {
    test(
      'runs a command that a person has approved',
      async (t) => {
        const { bench, run } = await stageOf(t, touch('a.txt'), DONE)
        const turn = run()
        const { request, answer } = await turn.ask()
        assert.equal(request.subject.toolName, 'execute_command')
        assert.deepEqual(request.subject.args, { command: 'touch a.txt' })
        assert.equal(await isThere(bench, 'a.txt'), false)
        answer(APPROVE)
        assert.equal(finishOf(await turn.all), 'stop')
        assert.equal(await isThere(bench, 'a.txt'), true)
      },
      'approve',
    )

    test(
      'does not run a command that a person has declined, and its model gets the reason',
      async (t) => {
        const { bench, run } = await stageOf(t, touch('a.txt'), DONE)
        const turn = run()
        const ask = await turn.ask()
        ask.answer({ decision: 'decline', reason: 'REASON-42' })
        const events = await turn.all
        assert.equal(finishOf(events), 'stop')
        assert.equal(resultsOf(events)[0]?.startsWith('✗'), true)
        assert.equal(await isThere(bench, 'a.txt'), false)
        assert.match(bench.request(1), /REASON-42/)
      },
      'decline',
    )

    test(
      'continues with one of two waiting calls when the other is declined',
      async (t) => {
        const bench = await benchFor(t, (place) => ({
          turns: [{ toolCalls: [cli.independent('one', place), cli.independent('two', place)] }, DONE],
        }))
        for (const file of ['one', 'two']) await writeFile(join(bench.place.work, file), 'x')
        const stage = await openStage(t, bench)
        const turn = stage.run()
        const asks = [await turn.ask(), await turn.ask()]
        const about = (ask: PendingAsk, file: string): boolean =>
          JSON.stringify(ask.request.subject.args).includes(file)
        for (const ask of asks) ask.answer(about(ask, 'two') ? { decision: 'decline', reason: 'Not two.' } : APPROVE)
        const results = resultsOf(await turn.all)
        assert.equal(results.filter((result) => result.startsWith('✗')).length, 1)
        assert.equal(results.length, 2)
      },
      'decline-one',
    )

    test(
      'is stopped while a call waits, and nothing of it is left',
      async (t) => {
        const { bench, run, session } = await stageOf(t, touch('a.txt'), DONE)
        const turn = run()
        const ask = await turn.ask()
        const receipt = await session.cancel()
        assert.deepEqual(receipt.calls, [ask.request.subject.toolCallId])
        assert.equal(finishOf(await turn.all), 'other')
        ask.answer(APPROVE)
        assert.equal(await isThere(bench, 'a.txt'), false)
        assert.equal(bench.request(1), '')
      },
      'stop-waiting',
    )

    test('asks again for the same when it has died while a call waited, and is resumed', async (t) => {
      const { bench, host, run, session } = await stageOf(t, touch('a.txt'), touch('a.txt'), DONE)
      const turn = run()
      const first = await turn.ask()
      const [program] = host.processes
      assert.ok(program)
      process.kill(program.pid, 'SIGKILL')
      assert.equal(finishOf(await turn.all), 'error')
      const again = take(
        session.run({ ...aTurn, runId: 'run-2', input: [{ id: '0', type: 'text', text: 'Go on.' }] }),
        host,
      )
      const second = await again.ask()
      const subject = ({ request }: PendingAsk): unknown => ({
        ...request.subject,
        toolCallId: '',
        cwd: request.payload?.['cwd'],
      })
      assert.deepEqual(subject(second), subject(first))
      second.answer(APPROVE)
      assert.equal(finishOf(await again.all), 'stop')
      assert.equal(await isThere(bench, 'a.txt'), true)
    })

    test(
      'takes a message while it works',
      async (t) => {
        const waiting = cli.command('until test -e go.txt; do sleep 0.2; DONE')
        // It may hear it after its answer, and answer again then.
        const turns = [{ toolCalls: [waiting] }, { ...DONE, repeat: true as const }]
        const bench = await benchFor(t, () => ({ turns }))
        const { run, session } = await openStage(t, bench, { host: allowing() })
        const turn = run()
        await turn.until(({ type }) => type === 'tool-call')
        assert.equal(await session.steer?.(aMessage('m1', 'STEERED-77')), 'injected')
        await writeFile(join(bench.place.work, 'go.txt'), '')
        assert.equal(finishOf(await turn.all), 'stop')
        assert.ok(bench.provider.requests.some(({ text }) => text.includes('STEERED-77')))
      },
      'steer',
    )

    test(
      'is stopped in the middle of a command, and nothing is left running',
      async (t) => {
        const endless = cli.command('setsid tail -f /dev/null & touch started.txt; tail -f /dev/null')
        const bench = await benchFor(t, () => ({ turns: [{ toolCalls: [endless] }, DONE] }))
        const { host, run, session } = await openStage(t, bench, { host: allowing() })
        const turn = run()
        await hasBegun(turn, bench, 'started.txt')
        const receipt = await session.cancel()
        for (const { runTag } of host.processes) assert.deepEqual(await findTagged(runTag), [])
        assert.equal(receipt.calls.length, 1)
        assert.equal(finishOf(await turn.all), 'other')
      },
      'stop',
    )

    test(
      'is resumed at our anchor: the request has nothing that came after it',
      async (t) => {
        const bench = await benchFor(t, () => ({ turns: answers('One.', 'Two.', 'Three.') }))
        const first = await openStage(t, bench)
        await first.run().all
        const binding = first.host.bindings.at(-1) ?? null
        await first.run({ runId: 'run-2' }).all
        await first.session.close()
        const { run } = await openStage(t, bench, { binding })
        assert.equal(textOf(await run({ runId: 'run-3' }).all), 'Three.')
        assert.match(bench.request(2), /One\./)
        assert.doesNotMatch(bench.request(2), /Two\./)
      },
      { can: ['resume', 'resume-at-anchor'] },
    )

    test(
      'takes the next turn in the same process',
      async (t) => {
        const { bench, host, run } = await stageOf(t, { text: 'One.' }, { text: 'Two.' })
        await run().all
        const events = await run({ runId: 'run-2', input: [{ id: '0', type: 'text', text: 'Again.' }] }).all
        assert.equal(finishOf(events), 'stop')
        assert.deepEqual(host.processes[0], host.processes[1])
        assert.match(bench.request(1), /One\./)
      },
      'next-turn',
    )

    test(
      'that was killed between two turns continues its session in another process',
      async (t) => {
        const { bench, host, run } = await stageOf(t, { text: 'One.' }, { text: 'Two.' })
        await run().all
        await killAll(host)
        const events = await run({ runId: 'run-2', input: [{ id: '0', type: 'text', text: 'SECOND-2' }] }).all
        assert.deepEqual([textOf(events), finishOf(events)], ['Two.', 'stop'])
        assert.match(bench.request(-1), /One\..*SECOND-2/s)
        assert.equal(new Set(host.bindings.map(({ nativeId }) => nativeId)).size, 1)
        assert.notEqual(host.processes.at(-1)?.pid, host.processes[0]?.pid)
      },
      'killed',
    )

    more(test)
  })
}
