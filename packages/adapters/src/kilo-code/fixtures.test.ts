import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { testRuns, testStrangers } from '../../test/fixture-runs.ts'
import { OPENCODE_RUNS } from '../../test/opencode-runs.ts'
import { eventsOf, mapFixture } from '../../test/support.ts'
import { kiloCodeDialect } from './mapper.ts'

const REFUSED = 'run ended with an auto-rejected permission; pass --auto for autonomous use'

/** The expected activity, from the scripts that the runs were recorded with. */
const RUNS: Readonly<Record<string, readonly string[]>> = {
  ...OPENCODE_RUNS,
  patches: [
    'write /workspace/added.txt',
    'write /workspace/src/app.ts',
    'write /workspace/README.md',
    'write /workspace/src/app.ts',
    'write /workspace/src/main.ts',
    'write /workspace/nope.txt ✗',
    'agent: Patched.',
  ],
  'skill-and-todo': [
    'skill demo /workspace/.kilo/skills/demo/SKILL.md',
    'skill nope /workspace/skills/nope/SKILL.md ✗',
    'unknown',
    'agent: Skill and todo done.',
  ],
  'provider-refuses': ['warning: Error: mock 401 error', 'error [APIError]: mock 401 error'],
  'silent-retry': ['agent: Recovered after 429.'],
  reasoning: ['command echo thought → 0', 'agent: Reasoned answer.'],
  'killed-in-a-call': ['agent: Sleeping.', 'error [SIGTERM]: kilo-code was killed by SIGTERM'],
  'permission-refused': [
    'warning: ! permission requested: bash (echo needs permission); auto-rejecting',
    `warning: Error: ${REFUSED}`,
    'command echo needs permission ✗',
    `error: ${REFUSED}`,
  ],
  'tool-denied': ['command echo denied ✗', 'agent: It was denied.'],
  'handmade-agent-manager': [
    'subagent_started Fix the parser ?',
    'subagent_started Write tests ?',
    'subagent_completed reviewer',
    'unknown',
    'search parse json lines',
    'command npm run dev ?',
    'agent: All under way.',
  ],
  'handmade-cut-stream': [
    'warning: Error: The connection was reset.',
    'error [APIError]: The connection was reset.',
    'agent: This is only ha',
  ],
  'handmade-unknown-model': ['error: Model not found: nobody/nothing.'],
}

testRuns('Kilo Code: recorded and hand-made runs', kiloCodeDialect, RUNS)
testStrangers('Kilo Code', kiloCodeDialect)

describe('Kilo Code: what its runs report', () => {
  it('reasoning is kept as reasoning, and counted as output', () => {
    const run = mapFixture(kiloCodeDialect, 'reasoning')
    assert.deepEqual(
      eventsOf(run, 'reasoning-delta').map((event) => event.text),
      ['Let me think about this for a while.', 'Now the answer.'],
    )
    const [finish] = eventsOf(run, 'finish')
    assert.equal(finish?.usage?.reasoningTokens, 20)
    assert.equal(finish.usage.outputTokens, 100)
  })
})
