import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { NO_RULES } from '@inspan/protocol'
import { diary } from '../../launch/diary.ts'
import type { RealCli } from '../bench.ts'
import { errorCodes, testOwnWay, testUnconfined } from '../other-ways.ts'
import { ownBench } from '../own-bench.ts'
import { piOptions, piScenarios } from './pi-cli.ts'
import { testCli } from '../scenarios.ts'
import { TEST_MS } from '../side-by-side.ts'
import { pi } from '../../../src/pi/driver.ts'

interface OfferedTool {
  readonly function: { readonly name: string }
}

const cli: RealCli = { ...piScenarios, agent: (setup) => pi(piOptions(setup)) }

testCli(cli)

describe('Pi, its own way', () => {
  testUnconfined(cli)

  const none = { cannot: 'subagent', because: 'It has none.' } as const
  testOwnWay(cli, 'has no subagents: a model that wants one hears that there is none', none, async (t) => {
    const bench = await ownBench(t, cli, {
      turns: [{ toolCalls: [{ name: 'subagent', input: { task: 'Look.' } }] }, { text: 'Done.' }],
    })
    const allowed = { rules: { ...NO_RULES, tools: { subagent: 'allow' } } } as const
    const refused = await bench.turn({ turn: allowed, options: { strict: true } })
    assert.deepEqual(errorCodes(refused.events), ['unsupported'])
    assert.equal(bench.provider.requests.length, 0)
    const { activity, warnings } = await bench.turn({ turn: allowed })
    assert.ok(warnings.some((warning) => /Pi has no such tool: subagent/.test(warning)))
    assert.ok(!activity.some(({ type }) => type === 'orchestration'))
    assert.match(bench.request(1), /[Tt]ool subagent not found/)
    const asked = bench.provider.requests[0]?.body as { readonly tools: readonly OfferedTool[] } | undefined
    assert.deepEqual(asked?.tools.map(({ function: { name } }) => name).toSorted(), [
      'bash',
      'edit',
      'find',
      'grep',
      'ls',
      'read',
      'write',
    ])
  })

  it('can neither be asked nor steered, and reports that', { timeout: TEST_MS }, async (t) => {
    const bench = await ownBench(t, cli, { turns: [{ text: 'Never said.' }] })
    const { governs, steer, hostTools } = await bench.agent().describe()
    assert.deepEqual([governs, steer, hostTools], ['none', 'none', 'none'])
    const session = await bench.agent().open(null, diary().host)
    assert.ok(!('steer' in session))
    await session.close()
    const patterns = [{ tool: 'execute_command', pattern: 'rm *', policy: 'ask' }] as const
    const { events } = await bench.turn({ turn: { rules: { ...NO_RULES, patterns } } })
    assert.deepEqual(errorCodes(events), ['policy-unsupported'])
    const asking = { rules: { ...NO_RULES, categories: { execute: 'ask' } } } as const
    const refused = await bench.turn({ turn: asking, options: { strict: true } })
    assert.deepEqual(errorCodes(refused.events), ['policy-unsupported'])
    assert.equal(bench.provider.requests.length, 0)
  })

  it('continues elsewhere with a copy of its session', { timeout: TEST_MS }, async (t) => {
    const bench = await ownBench(t, cli, { turns: [{ text: 'First answer.' }, { text: 'Second answer.' }] })
    const first = await bench.turn()
    assert.ok(first.binding)
    const second = await bench.turn({ binding: first.binding, turn: { cwd: bench.place.temp } })
    assert.match(bench.request(1), /First answer\./)
    assert.notEqual(second.binding?.nativeId, first.binding.nativeId)
    assert.equal(second.binding?.cwd, bench.place.temp)
  })
})
