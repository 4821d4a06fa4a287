import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { StoredMessage } from '@inspan/protocol'
import type { Binding } from '@inspan/protocol/driver'
import { aMessage, type RealCli } from '../bench.ts'
import { claudeCodeOptions, claudeCodeScenarios } from './claude-code-cli.ts'
import { errorCodes } from '../other-ways.ts'
import { ownBench } from '../own-bench.ts'
import { testCli } from '../scenarios.ts'
import { TEST_MS } from '../side-by-side.ts'
import { claudeCode } from '../../../src/claude-code/driver.ts'

const cli: RealCli = {
  ...claudeCodeScenarios,
  agent: (setup) => claudeCode(claudeCodeOptions(setup)),
  unsupported: { 'head-moved': 'it is resumed at our anchor, never at its end' },
}

testCli(cli)

describe('Claude Code, its own way', () => {
  const goesOn = { turn: { runId: 'run-2' } }
  const said = (binding: Binding): readonly StoredMessage[] => [
    aMessage('Halfway there.', { sessionId: binding.nativeId, messageId: binding.anchor ?? '' }),
  ]

  it('continues with what was said when it was killed right afterwards', { timeout: TEST_MS }, async (t) => {
    const endless = { name: 'Bash', input: { command: 'tail -f /dev/null' } }
    const bench = await ownBench(t, cli, {
      turns: [{ text: 'Halfway there.', toolCalls: [endless] }, { text: 'Arrived.' }],
    })
    const first = await bench.turn({
      meanwhile: async (_session, { order, processes }, over) => {
        while (!over.aborted && !order.some((entry) => /^bind \S+ [^-]/.test(entry))) await pause(1)
        const [first] = processes
        assert.ok(first)
        process.kill(first.pid, 'SIGKILL')
      },
    })
    assert.equal(errorCodes(first.events).length, 1)
    const { binding } = first
    assert.ok(binding?.anchor)
    const second = await bench.turn({ ...goesOn, binding, history: said(binding) })
    assert.deepEqual(errorCodes(second.events), [])
    assert.match(bench.request(1), /Halfway there\./)
  })

  it('begins a new session when it had not saved its answer, and gets that answer', { timeout: TEST_MS }, async (t) => {
    const bench = await ownBench(t, cli, { turns: [{ text: 'Halfway there.' }, { text: 'Arrived.' }] })
    const { binding } = await bench.turn()
    assert.ok(binding?.anchor)
    await forget(bench.place.home, binding.anchor)
    const second = await bench.turn({ ...goesOn, binding, history: said(binding) })
    assert.deepEqual(errorCodes(second.events), [])
    assert.ok(second.warnings.some((warning) => /begins a new session.*No message found/.test(warning)))
    assert.notEqual(second.binding?.nativeId, binding.nativeId)
    assert.match(bench.request(1), /Halfway there\./)
  })

  it('begins a new session when it is not where its own one is', { timeout: TEST_MS }, async (t) => {
    const bench = await ownBench(t, cli, { turns: [{ text: 'Halfway there.' }, { text: 'Arrived.' }] })
    const { binding } = await bench.turn()
    assert.ok(binding)
    const second = await bench.turn({
      binding,
      history: said(binding),
      turn: { runId: 'run-2', cwd: bench.place.temp },
    })
    assert.deepEqual(errorCodes(second.events), [])
    assert.match(bench.request(1), /Halfway there\./)
  })
})

/** Removes a message from the session files. */
async function forget(home: string, uuid: string): Promise<void> {
  const projects = join(home, '.claude', 'projects')
  for (const file of await readdir(projects, { recursive: true })) {
    if (!file.endsWith('.jsonl')) continue
    const lines = (await readFile(join(projects, file), 'utf8')).split('\n')
    await writeFile(join(projects, file), lines.filter((line) => !line.includes(`"uuid":"${uuid}"`)).join('\n'))
  }
}
