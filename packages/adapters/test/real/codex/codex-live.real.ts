import assert from 'node:assert/strict'
import type { StoredMessage } from '@inspan/protocol'
import type { ModelTurn } from '@inspan/testing'
import { aMessage, ALLOW_ALL, APPROVE, ASK, finishOf, liveHost, textOf, type LiveHost } from '../../live/live-host.ts'
import { allowing, answers, benchOf, isThere, openStage, testLive, type LiveCli } from '../../live/live-scenarios.ts'
import { codexOptions, codexScenarios, execCommand } from './codex-cli.ts'
import { testCli } from '../scenarios.ts'
import { codexLive } from '../../../src/codex/app-server/driver.ts'

const cli: LiveCli = {
  ...codexScenarios,
  agent: (setup) => codexLive(codexOptions(setup)),
  command: execCommand,
  independent: (file) => execCommand(`cat ${file}`),
}

const patch = (...lines: readonly string[]): ModelTurn => ({
  toolCalls: [
    { name: 'apply_patch', custom: true, input: ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n') },
  ],
})

function holding(...newestFirst: readonly StoredMessage[]): LiveHost {
  return liveHost(() => ASK, {
    history: async function* () {
      yield* newestFirst
    },
  })
}

testLive(cli, (test) => {
  test('asks before it changes files', async (t, bin) => {
    const bench = await benchOf(t, cli, bin, () => ({
      turns: [patch('*** Add File: one.txt', '+1'), patch('*** Add File: two.txt', '+2'), { text: 'Done.' }],
    }))
    const { run } = await openStage(t, bench)
    const turn = run()
    const first = await turn.ask()
    assert.equal(first.request.subject.toolName, 'write_file')
    first.answer(APPROVE)
    const second = await turn.ask()
    second.answer({ decision: 'decline', reason: 'One is enough.' })
    assert.equal(finishOf(await turn.all), 'stop')
    assert.deepEqual([await isThere(bench, 'one.txt'), await isThere(bench, 'two.txt')], [true, false])
  })

  test('asks about a command that only reads, and about each one that its sandbox would let through', async (t, bin) => {
    const commands = ['cat hello.txt', 'touch touched.txt']
    const bench = await benchOf(t, cli, bin, () => ({
      turns: [...commands.map((command) => ({ toolCalls: [execCommand(command)] })), { text: 'Done.' }],
    }))
    const { run } = await openStage(t, bench)
    const turn = run()
    for (const command of commands) {
      const ask = await turn.ask()
      assert.deepEqual(ask.request.subject.args, { command })
      ask.answer(APPROVE)
    }
    assert.equal(finishOf(await turn.all), 'stop')
    assert.equal(await isThere(bench, 'touched.txt'), true)
  })

  test(
    'is forked after a turn that the thread holds',
    async (t, bin) => {
      const bench = await benchOf(t, cli, bin, () => ({ turns: answers('One.', 'Two.', 'Three.') }))
      const first = await openStage(t, bench)
      const events = await first.run().all
      const said = events.find(({ native }) => native?.itemId !== undefined)
      await first.run({ runId: 'run-2' }).all
      const native = said?.native ?? {}
      const host = holding(aMessage('m', 'One.', { role: 'assistant', native }))
      const nativeId = native.sessionId ?? ''
      const { run } = await openStage(t, bench, {
        binding: { agentId: 'codex', nativeId, syncedTo: 0, origin: true },
        host,
      })
      assert.equal(textOf(await run({ runId: 'run-3' }).all), 'Three.')
      assert.match(bench.request(2), /One\./)
      assert.doesNotMatch(bench.request(2), /Two\./)
      assert.notEqual(host.bindings.at(-1)?.nativeId, nativeId)
    },
    'fork',
  )

  test('is forked before a turn that the thread holds in part, and gets that part', async (t, bin) => {
    const bench = await benchOf(t, cli, bin, () => ({
      turns: [{ text: 'PART-ONE', toolCalls: [cli.command('true')] }, { text: 'PART-TWO' }, { text: 'Three.' }],
    }))
    const first = await openStage(t, bench, { host: allowing() })
    const events = await first.run().all
    const said = events.find((event) => event.type === 'text-delta' && event.text.includes('PART-ONE'))
    const native = said?.native ?? {}
    const host = holding(aMessage('m', 'PART-ONE', { role: 'assistant', native }), aMessage('u', 'Begin.'))
    const { run } = await openStage(t, bench, {
      binding: { agentId: 'codex', nativeId: native.sessionId ?? '', syncedTo: 0, origin: true },
      host,
    })
    await run({ runId: 'run-3' }).all
    assert.match(bench.request(2), /Begin\.[^]*PART-ONE/)
    assert.doesNotMatch(bench.request(2), /PART-TWO/)
  })

  test('receives what others said, as items of its own history', async (t, bin) => {
    const bench = await benchOf(t, cli, bin, () => ({ turns: answers('Done.') }))
    const host = holding(aMessage('m', 'The plan is PLAN-99.', { role: 'assistant', by: 'planner' }))
    const { run } = await openStage(t, bench, { host })
    await run().all
    assert.match(bench.request(0), /"role":"assistant"[^}]*\[planner\]\\nThe plan is PLAN-99\./)
  })
})

testCli({
  ...cli,
  way: 'over its app server, as in print mode',
  host: ALLOW_ALL,
  unsupported: {
    'head-moved': 'it is resumed at our anchor, never at its end',
    'read-only': 'its host decides, call by call',
    touch: 'its host decides, call by call',
    'write-outside': 'its host decides, call by call',
  },
})
