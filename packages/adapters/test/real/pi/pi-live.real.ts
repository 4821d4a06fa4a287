import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, it, type TestContext } from 'node:test'
import { findTagged } from '@inspan/shell/run'
import type { ModelTurn } from '@inspan/testing'
import { brief } from '../../brief.ts'
import { aMessage, finishOf, liveHost, resultsOf, textOf, ASK } from '../../live/live-host.ts'
import { benchOf, hasBegun, killAll, openStage, type LiveStage } from '../../live/live-scenarios.ts'
import type { RealCli } from '../bench.ts'
import { installedCli } from '../clis.ts'
import { errorCodes, testNoSubagents } from '../other-ways.ts'
import { piOptions, piScenarios } from './pi-cli.ts'
import { proving, type AbilityClaim } from '../proofs.ts'
import { testCli } from '../scenarios.ts'
import { INSTALL_MS, SIDE_BY_SIDE, TEST_MS } from '../side-by-side.ts'
import { piLive } from '../../../src/pi/live.ts'
import { piProfile } from '../../../src/pi/profile.ts'

const cli: RealCli = { ...piScenarios, agent: (setup) => piLive(piOptions(setup)) }

const asInPrint: RealCli = { ...cli, way: 'over its rpc mode, as in print mode' }

testCli(asInPrint)

describe('Pi over its rpc mode, its own way', SIDE_BY_SIDE, () => {
  testNoSubagents(asInPrint, 'subagent', 'It has none.')
})

const bash = (command: string): ModelTurn => ({ toolCalls: [{ name: 'bash', input: { command } }] })
const done: ModelTurn = { text: 'Done.' }

describe(`Pi ${piProfile.npm?.version ?? ''} over its rpc mode`, SIDE_BY_SIDE, () => {
  let bin = ''
  before(async () => void (bin = await installedCli(piProfile)), { timeout: INSTALL_MS })
  const test = (
    title: string,
    body: (t: TestContext) => Promise<void>,
    claims: AbilityClaim | readonly AbilityClaim[] = [],
  ): void => void it(title, { timeout: TEST_MS }, proving(piProfile, 'live', claims, body))
  const stageOf = async (t: TestContext, ...turns: readonly ModelTurn[]): Promise<LiveStage> =>
    openStage(t, await benchOf(t, cli, bin, () => ({ turns })))

  test(
    'answers, and takes the next turn in the same process, with another model',
    async (t) => {
      const first = { text: ['Hello ', 'there.'], usage: { inputTokens: 100, outputTokens: 20 } }
      const { bench, host, run } = await stageOf(t, first, { text: 'Again.' })
      const events = await run().all
      assert.equal(textOf(events), 'Hello |there.')
      const last = events.at(-1)
      assert.ok(last?.type === 'finish')
      assert.deepEqual([last.finishReason, last.usage?.inputTokens, last.usage?.outputTokens], ['stop', 100, 20])
      assert.equal(textOf(await run({ runId: 'run-2', model: 'scripted/model-2' }).all), 'Again.')
      assert.deepEqual(host.processes[0], host.processes[1])
      const models = bench.provider.requests.map(({ body }) => (body as { readonly model?: string }).model)
      assert.deepEqual(models, ['model-1', 'model-2'])
      assert.match(bench.request(1), /Hello there\./)
    },
    'next-turn',
  )

  test(
    'takes a message while it works',
    async (t) => {
      const { bench, run, session } = await stageOf(t, bash('until test -e go.txt; do sleep 0.1; done'), done)
      const turn = run()
      await turn.until(({ type }) => type === 'tool-call')
      assert.equal(await session.steer?.(aMessage('m1', 'STEERED-77')), 'injected')
      await writeFile(join(bench.place.work, 'go.txt'), '')
      assert.equal(finishOf(await turn.all), 'stop')
      assert.match(bench.request(1), /STEERED-77/)
    },
    'steer',
  )

  test(
    'a process that was killed between two turns is replaced by another one, which resumes its session',
    async (t) => {
      const { bench, host, run } = await stageOf(t, { text: 'One.' }, { text: 'Two.' })
      await run().all
      await killAll(host)
      const events = await run({ runId: 'run-2' }).all
      assert.deepEqual([textOf(events), finishOf(events)], ['Two.', 'stop'])
      assert.match(bench.request(1), /One\./)
      assert.equal(new Set(host.bindings.map(({ nativeId }) => nativeId)).size, 1)
      assert.notEqual(host.processes.at(-1)?.pid, host.processes[0]?.pid)
    },
    'killed',
  )

  test('is stopped in the middle of a command: nothing is left, and undelivered messages are named', async (t) => {
    const { bench, host, run, session } = await stageOf(
      t,
      bash('setsid tail -f /dev/null & touch started.txt; tail -f /dev/null'),
      done,
    )
    const turn = run()
    await hasBegun(turn, bench, 'started.txt')
    assert.equal(await session.steer?.(aMessage('m1', 'UNHEARD-1')), 'injected')
    const receipt = await session.cancel()
    for (const { runTag } of host.processes) assert.deepEqual(await findTagged(runTag), [])
    assert.deepEqual(receipt.queued, ['m1'])
    assert.equal(receipt.calls.length, 1)
    const events = await turn.all
    assert.equal(finishOf(events), 'other')
    assert.equal(resultsOf(events).length, 1)
    assert.equal(textOf(await run({ runId: 'run-2' }).all), 'Done.')
    assert.doesNotMatch(bench.request(1), /UNHEARD-1/)
  })

  test('is resumed at our anchor: the request has nothing that came after it, and the session stays', async (t) => {
    const bench = await benchOf(t, cli, bin, () => ({ turns: ['One.', 'Two.', 'Three.'].map((text) => ({ text })) }))
    const first = await openStage(t, bench)
    await first.run().all
    const binding = first.host.bindings.at(-1) ?? null
    await first.run({ runId: 'run-2' }).all
    await first.session.close()
    const { host, run } = await openStage(t, bench, { binding })
    assert.equal(textOf(await run({ runId: 'run-3' }).all), 'Three.')
    assert.match(bench.request(2), /One\./)
    assert.doesNotMatch(bench.request(2), /Two\./)
    assert.equal(host.bindings.at(-1)?.nativeId, binding?.nativeId)
  })

  test('is forked at the newest message that the thread holds', async (t) => {
    const bench = await benchOf(t, cli, bin, () => ({ turns: ['One.', 'Two.', 'Three.'].map((text) => ({ text })) }))
    const first = await openStage(t, bench)
    await first.run().all
    const { nativeId = '', anchor = '' } = first.host.bindings.at(-1) ?? {}
    await first.run({ runId: 'run-2' }).all
    await first.session.close()
    const host = liveHost(() => ASK, {
      history: async function* () {
        yield aMessage('m', 'One.', { role: 'assistant', native: { sessionId: nativeId, messageId: anchor } })
      },
    })
    const { run } = await openStage(t, bench, { binding: { agentId: 'pi', nativeId, syncedTo: 0, origin: true }, host })
    assert.equal(textOf(await run({ runId: 'run-3' }).all), 'Three.')
    assert.match(bench.request(2), /One\./)
    assert.doesNotMatch(bench.request(2), /Two\./)
    const forked = host.bindings.at(-1)?.nativeId
    assert.notEqual(forked, nativeId)
    assert.ok(forked !== undefined)
  })

  test(
    'cannot be asked: what is to be asked is not there, and rules it cannot keep refuse it',
    async (t) => {
      const { bench, host, run } = await stageOf(t, done)
      const asking = { categories: { execute: 'ask' }, tools: {}, patterns: [] } as const
      assert.equal(finishOf(await run({ rules: asking }).all), 'stop')
      assert.doesNotMatch(bench.request(0), /"name":"bash"/)
      assert.ok(brief(host.activity).some((line) => line.startsWith('warning [rule-asks]')))
      const patterned = {
        categories: {},
        tools: {},
        patterns: [{ tool: 'execute_command', pattern: 'rm *', policy: 'deny' }],
      } as const
      const refused = (await run({ rules: patterned }).all).find((event) => event.type === 'error')
      assert.equal(refused?.code, 'policy-unsupported')
      assert.equal((await bench.agent().describe()).governs, 'none')
      assert.deepEqual(host.asked, [])
      const insisted = await bench.turn({ turn: { rules: asking }, options: { strict: true } })
      assert.deepEqual(errorCodes(insisted.events), ['policy-unsupported'])
    },
    {
      cannot: ['approve', 'decline', 'decline-one', 'stop-waiting', 'late-answer'],
      because: 'It asks nobody: a tool is available or not.',
    },
  )

  test('reports that its key is wrong', async (t) => {
    const { run } = await stageOf(t, { error: { status: 401, message: 'KEY-IS-WRONG' }, repeat: true })
    const events = await run().all
    assert.match(
      events.flatMap((event) => (event.type === 'error' ? [event.error.message] : [])).join(),
      /KEY-IS-WRONG/,
    )
    assert.equal(finishOf(events), 'error')
  })
})
