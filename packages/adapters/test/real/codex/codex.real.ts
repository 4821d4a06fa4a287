import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { aMessage, type RealCli } from '../bench.ts'
import { codexOptions, codexScenarios } from './codex-cli.ts'
import { errorCodes, testSlowMcp } from '../other-ways.ts'
import { ownBench } from '../own-bench.ts'
import { testCli } from '../scenarios.ts'
import { TEST_MS } from '../side-by-side.ts'
import { codex } from '../../../src/codex/driver.ts'

const cli: RealCli = {
  ...codexScenarios,
  agent: (setup) => codex(codexOptions(setup)),
  expected: {
    ...codexScenarios.expected,
    // In print mode it does not say in which folder a command ran, so paths are as they were written.
    'read-range': () => [{ type: 'read', path: 'hello.txt', startLine: 2, endLine: 4, isSuccess: true }],
    list: () => [{ type: 'list', path: 'src', isSuccess: true }],
    skill: () => [{ type: 'read', path: '.agents/skills/greet/SKILL.md', isSuccess: true }],
    // An unknown model is reported as an error that does not end the turn.
    subagent: () => [
      { type: 'error', message: /metadata/ },
      { type: 'orchestration', action: 'subagent_started' },
      { type: 'orchestration', action: 'subagent_completed', isSuccess: true },
    ],
  },
  unsupported: {
    'resume-at-anchor': 'in print mode it reports no turn ids and resumes only at the end',
  },
}

testCli(cli)

describe('Codex, its own way', () => {
  testSlowMcp(cli)

  it('begins a new session when its own one is gone, and gets what was said', { timeout: TEST_MS }, async (t) => {
    const bench = await ownBench(t, cli, { turns: [{ text: 'Halfway there.' }, { text: 'Arrived.' }] })
    const { binding } = await bench.turn()
    assert.ok(binding)
    await rm(join(bench.place.home, '.codex', 'sessions'), { recursive: true })
    const history = [aMessage('Halfway there.', { sessionId: binding.nativeId })]
    const second = await bench.turn({ binding, history, turn: { runId: 'run-2' } })
    assert.deepEqual(errorCodes(second.events), [])
    assert.ok(second.warnings.some((warning) => /begins a new session.*no rollout found/.test(warning)))
    assert.notEqual(second.binding?.nativeId, binding.nativeId)
    assert.match(bench.request(1), /Halfway there\./)
  })

  it('is ended by our deadline when it would try for ever to reach its provider', { timeout: TEST_MS }, async (t) => {
    const retries = ['request_max_retries', 'stream_max_retries'].flatMap((name) => [
      '-c',
      `model_providers.scripted.${name}=100`,
    ])
    const args = ['--enable', 'unbounded_connection_retries', ...retries]
    const stubborn: RealCli = { ...cli, agent: (setup) => codex({ ...codexOptions(setup), args }) }
    const bench = await ownBench(t, stubborn, {})
    await bench.provider.close()
    const { events } = await bench.turn({ options: { deadlineMs: 15_000 } })
    assert.deepEqual(errorCodes(events), ['deadline'])
  })
})
