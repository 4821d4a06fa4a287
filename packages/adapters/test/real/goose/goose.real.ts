import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { NO_RULES } from '@inspan/protocol'
import type { RealCli } from '../bench.ts'
import { gooseOptions, gooseScenarios } from './goose-cli.ts'
import { testCutIsFatal, testNoImages, testSilentRetry, testUnconfined } from '../other-ways.ts'
import { ownBench } from '../own-bench.ts'
import { testCli } from '../scenarios.ts'
import { SIDE_BY_SIDE, TEST_MS } from '../side-by-side.ts'
import { goose } from '../../../src/goose/driver.ts'

const cli: RealCli = {
  ...gooseScenarios,
  agent: (setup) => goose(gooseOptions(setup)),
  unsupported: {
    image: 'it accepts none',
    'provider-429': 'it retries silently',
    'provider-cut': 'it does not ask again',
    'resume-at-anchor': 'its sessions cannot be resumed at an earlier message',
    'write-outside': 'it cannot be confined to its directory',
  },
}

testCli(cli)

describe('Goose, its own way', SIDE_BY_SIDE, () => {
  testNoImages(cli)
  testSilentRetry(cli)
  testCutIsFatal(cli)
  testUnconfined(cli)

  it(
    'begins a new session when its own one has tools that it may not use any more',
    { timeout: TEST_MS },
    async (t) => {
      const bench = await ownBench(t, cli, { turns: [{ text: 'First answer.' }, { text: 'Second answer.' }] })
      const first = await bench.turn()
      assert.ok(first.binding)
      const rules = { ...NO_RULES, tools: { execute_command: 'deny' as const } }
      const second = await bench.turn({ binding: first.binding, turn: { rules } })
      assert.ok(second.warnings.some((warning) => /begins a new session/.test(warning)))
      assert.notEqual(second.binding?.nativeId, first.binding.nativeId)
      const offered = bench.request(1)
      assert.doesNotMatch(offered, /First answer\.|"name":"shell"/)
      assert.match(offered, /"name":"write"/)
    },
  )

  it('gets texts that look like its templates as they are', { timeout: TEST_MS }, async (t) => {
    const bench = await ownBench(t, cli, { turns: [{ text: 'Done.' }] })
    const text = String.raw`Replace {{ name }} and {% if x %} and {# note #} and \{{ in the templates.`
    await bench.turn({ turn: { input: [{ id: '0', type: 'text', text }] } })
    assert.ok(bench.request(0).includes(JSON.stringify(text).slice(1, -1)))
  })
})
