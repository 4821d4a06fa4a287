import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { Turn } from '@inspan/protocol/driver'
import { aMessage, type RealCli } from '../bench.ts'
import { clineOptions, clineScenarios } from './cline-cli.ts'
import {
  errorCodes,
  testCutIsFatal,
  testNoImages,
  testOwnWay,
  testSilentRetry,
  testSlowMcp,
  testUnconfined,
} from '../other-ways.ts'
import { ownBench } from '../own-bench.ts'
import { answered } from '../scenario.ts'
import { testCli } from '../scenarios.ts'
import { SIDE_BY_SIDE } from '../side-by-side.ts'
import { cline } from '../../../src/cline/driver.ts'

const cli: RealCli = {
  ...clineScenarios,
  agent: (setup) => cline(clineOptions(setup)),
  unsupported: {
    'long-texts': 'it takes texts as arguments only',
    fork: 'in print mode it cannot resume',
    'head-moved': 'in print mode it cannot resume',
    image: 'it accepts none',
    'provider-429': 'it retries silently',
    'provider-cut': 'it does not ask again',
    resume: 'in print mode it cannot resume',
    'resume-at-anchor': 'in print mode it cannot resume',
    'write-outside': 'it cannot be confined to its directory',
  },
}

testCli(cli)

describe('Cline, its own way', SIDE_BY_SIDE, () => {
  testNoImages(cli)
  testSilentRetry(cli)
  testCutIsFatal(cli)
  testUnconfined(cli)

  testSlowMcp(cli)

  testOwnWay(cli, 'is told of a long prompt in a file, and refuses what no argument can hold', 'text', async (t) => {
    const bench = await ownBench(t, cli, { turns: [{ text: 'Done.' }] })
    const long = 'line of many words that say nothing at all\n'.repeat(3_200)
    const said = (text: string): Partial<Turn> => ({ input: [{ id: '0', type: 'text', text }] })
    const { events } = await bench.turn({ turn: said(long) })
    assert.equal(answered(events), 'Done.')
    assert.match(bench.request(0), /Your task is in the file [^ ]+task\.md/)
    for (const turn of [{ instructions: long }, said('a\0b')]) {
      assert.deepEqual(errorCodes((await bench.turn({ turn })).events), ['unsupported'])
    }
    assert.equal(bench.request(1), '', 'it was not started')
  })

  const cannot = {
    cannot: ['resume', 'resume-at-anchor', 'fork'],
    because: 'It cannot resume: every turn starts a new session, which gets the conversation so far.',
  } as const
  testOwnWay(cli, 'begins a new session with every turn, and says so', cannot, async (t) => {
    const bench = await ownBench(t, cli, { turns: [{ text: 'First answer.' }, { text: 'Second answer.' }] })
    assert.equal((await bench.agent().describe()).resume, 'none')
    const first = await bench.turn()
    assert.ok(first.binding)
    const said = aMessage('First answer.', { sessionId: first.binding.nativeId })
    const second = await bench.turn({ binding: first.binding, history: [said], turn: { runId: 'run-2' } })
    assert.ok(second.warnings.some((warning) => /begins a new session, because it cannot resume/.test(warning)))
    assert.notEqual(second.binding?.nativeId, first.binding.nativeId)
    assert.match(bench.request(1), /First answer\./)
    const refused = await bench.turn({
      binding: first.binding,
      history: [said],
      turn: { runId: 'run-3' },
      options: { strict: true },
    })
    assert.deepEqual(errorCodes(refused.events), ['unsupported'])
    assert.equal(bench.request(2), '', 'it was not started')
  })
})
