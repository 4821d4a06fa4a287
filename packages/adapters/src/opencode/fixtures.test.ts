import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { testRuns, testStrangers } from '../../test/fixture-runs.ts'
import { OPENCODE_RUNS } from '../../test/opencode-runs.ts'
import { eventsOf, mapFixture } from '../../test/support.ts'
import { opencodeDialect } from './mapper.ts'

const OVERFLOW =
  "error [ContextOverflowError]: This model's maximum context length is 200000 tokens. However, your messages resulted in 300000 tokens."
const SHELL_LOOP = 'command for i in $(seq 1 3000); do echo line $i of long output padding padding padding; done → 0'

/** The expected activity, from the scripts that the runs were recorded with. */
const RUNS: Readonly<Record<string, readonly string[]>> = {
  ...OPENCODE_RUNS,
  'file-operations-by-shell': [
    'read /workspace/notes.txt',
    'read /workspace/notes.txt:2-4',
    'search TODO in /workspace/src',
    'search beta in /workspace/notes.txt',
    'search *.ts in /workspace',
    'list /workspace/src',
    'command pwd && ls → 0',
    SHELL_LOOP,
    'command sleep 20 ✗',
    'agent: Done.',
  ],
  'failed-searches': ['search **/*.ts ✗', 'search TODO ✗', 'agent: Search done.'],
  'parallel-calls': [
    'agent: Three at once.',
    'read /workspace/notes.txt:1-6',
    'command exit 3 → 3 ✗',
    'command sleep 1; echo first → 0',
    'agent: All done.',
  ],
  'skill-and-todo': [
    'skill demo /workspace/.opencode/skills/demo/SKILL.md',
    'skill nope /workspace/skills/nope/SKILL.md ✗',
    'unknown',
    'agent: Skill and todo done.',
  ],
  'mcp-calls': ['unknown', 'unknown', 'agent: MCP done.'],
  'provider-refuses': ['error [APIError]: mock 401 error'],
  'context-overflow': [
    OVERFLOW,
    'agent: Mock title',
    OVERFLOW,
    'agent: Mock title',
    OVERFLOW,
    'agent: Mock title',
    'error [SIGKILL]: opencode was killed by SIGKILL',
  ],
  'output-limit': [
    'agent: This answer was cut by max tokens',
    'warning [output-limit]: The answer was cut off at the output limit.',
  ],
  'unknown-model': ['error [UnknownError]: Unexpected server error. Check server logs for details.'],
  'killed-in-a-call': ['agent: Sleeping.', 'error [SIGTERM]: opencode was killed by SIGTERM'],
  'permission-refused': [
    'warning: ! permission requested: external_directory (/etc/*); auto-rejecting',
    'read /etc/hostname ✗',
    'error [no-answer]: The run ended after a failed tool call, without an answer of the agent.',
  ],
  'web-fetch': ['unknown', 'agent: Webfetch failed.'],
  'handmade-symbols-and-patches': [
    'search Harness',
    'unknown',
    'write /workspace/new.txt',
    'write /workspace/old.txt',
    'write /workspace/moved.txt',
    'write /workspace/gone.txt ✗',
    'command make ?',
    'subagent_started explore ?',
    'unknown',
    'unknown',
    'agent: Done.',
  ],
  'handmade-cut-and-retried': [
    'warning [step-restarted]: The model call was begun again before it had ended.',
    'agent: Second attempt.',
  ],
  'handmade-overflow-recovered': [
    'error [ContextOverflowError]: The conversation is too long.',
    'agent: A summary of it.',
    'agent: Here is the answer.',
  ],
  'handmade-running-calls': [
    'command make → 0',
    'command sleep 99 ✗',
    'error [SIGTERM]: opencode was killed by SIGTERM',
  ],
}

testRuns('OpenCode: recorded and hand-made runs', opencodeDialect, RUNS)
testStrangers('OpenCode', opencodeDialect)

describe('OpenCode: what its runs report', () => {
  it('steps end with their usage, and the turn with the sum', () => {
    const run = mapFixture(opencodeDialect, 'commands')
    const steps = eventsOf(run, 'step-finish')
    assert.deepEqual(
      steps.map((step) => [step.finishReason, step.usage?.inputTokens, step.usage?.cachedInputTokens]),
      [
        ['tool-calls', 800, 200],
        ['tool-calls', 800, 200],
        ['tool-calls', 800, 200],
        ['stop', 800, 200],
      ],
    )
    const [finish] = eventsOf(run, 'finish')
    assert.equal(finish?.usage?.totalTokens, 4200)
  })

  it('the end names the message to continue from', () => {
    const run = mapFixture(opencodeDialect, 'plain-answer')
    const [finish] = eventsOf(run, 'finish')
    const [said] = eventsOf(run, 'text-delta')
    assert.equal(finish?.native?.sessionId, run.mapper.sessionId)
    assert.ok(finish?.native?.messageId !== undefined)
    assert.equal(finish.native.messageId, said?.native?.messageId)
  })

  it('errors that end nothing are no error events', () => {
    assert.equal(eventsOf(mapFixture(opencodeDialect, 'handmade-overflow-recovered'), 'error').length, 0)
    assert.equal(eventsOf(mapFixture(opencodeDialect, 'context-overflow'), 'error').length, 1)
  })
})
