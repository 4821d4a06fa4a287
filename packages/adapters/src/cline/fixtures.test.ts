import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { brief } from '../../test/brief.ts'
import { eventsOf, fixtureNames, mapFixture } from '../../test/support.ts'
import { clineDialect } from './mapper.ts'

const SDK_WARNING =
  'warning: Warning: AI SDK Warning System: To turn off warning logging, set the AI_SDK_LOG_WARNINGS global to false.'
const OPTION_WARNING =
  "warning: DeprecationWarning: AI SDK Warning (openai-compatible.chat / MODEL): Deprecated: \"providerOptions key 'openai-compatible'\". Use 'openaiCompatible' instead."
const UNREACHABLE =
  'Cannot connect to API: Unable to connect. Is the computer able to access the url?: Unable to connect. Is the computer able to access the url? (ConnectionRefused)'
const CLOSED =
  'The socket connection was closed unexpectedly. For more information, pass `verbose: true` in the second argument to fetch()'
const NO_PROMPT = 'JSON output mode requires a prompt argument or piped stdin (interactive mode is unsupported)'

/** The expected activity, from the scripts of the recorded runs, without the warnings that every run prints. */
const RUNS: Readonly<Record<string, readonly string[]>> = {
  text: ['agent: Hello from the mock model.'],
  // Two at the same time, of which one fails; one that cannot be started; one that starts another.
  'subagents-side-by-side': [
    'subagent_started ? ?',
    'subagent_started ? ?',
    'error [unknown]: bad sub',
    'subagent_failed ? ✗',
    'command cat hello.txt',
    'subagent_completed ?',
    'subagent_failed ? ✗',
    'subagent_started ? ?',
    'subagent_started ? ?',
    'subagent_completed ?',
    'subagent_completed ?',
    'agent: Done.',
  ],
  'reasoning-and-cache': [
    'warning: Warning: AI SDK Warning (anthropic / claude-sonnet-4-5): unsupported reasoning metadata',
    'agent: Hello anthropic.',
    'command echo hi',
    'agent: Done.',
  ],
  'shell-exit-codes': [
    'agent: Running.',
    'command echo hi',
    'command echo oops >&2; exit 3 → 3 ✗',
    'command echo one',
    'command exit 4 → 4 ✗',
    'command no-such-cmd-xyz → 127 ✗',
    'agent: Both ran.',
  ],
  'shell-file-commands': [
    'command cat hello.txt',
    "command sed -n '2,4p' hello.txt",
    'command grep -n TODO src/app.js',
    'command grep -rn NOPE src → 1 ✗',
    "command find . -name '*.js'",
    'command ls -la src',
    'command cat missing.txt → 1 ✗',
    'agent: Looked.',
  ],
  'file-tools': [
    'read /workspace/hello.txt:2-4',
    'read /workspace/src/app.js',
    'write /workspace/new.txt',
    'write /workspace/src/app.js',
    'read /workspace/missing.txt ✗',
    'write /workspace/src/app.js ✗',
    'search TODO',
    'search NOPE_X',
    'write /workspace/new.txt',
    'read /workspace/hello.txt',
    'read /workspace/missing.txt ✗',
    'agent: Files done.',
  ],
  patch: ['write /workspace/new.txt', 'write /workspace/src/app.js', 'agent: Patched.'],
  question: ['unknown', 'agent: Asked.'],
  skills: [
    'skill greet /workspace/skills/greet/SKILL.md',
    'skill nope /workspace/skills/nope/SKILL.md ✗',
    'agent: Skill used.',
  ],
  'web-fetch': ['unknown', 'agent: Fetched.'],
  'mcp-calls': ['unknown', 'unknown', 'agent: MCP used.'],
  'provider-401': ['warning: Incorrect API key provided', 'error [auth]: Incorrect API key provided'],
  'provider-429': ['warning: Rate limit reached', 'error [unknown]: Rate limit reached'],
  'provider-unreachable': [`warning: ${UNREACHABLE}`, `error [unknown]: ${UNREACHABLE}`],
  'retry-then-success': ['agent: Recovered.'],
  'stream-cut': [`warning: ${CLOSED}`, 'agent: This will be c', `error [unknown]: ${CLOSED}`],
  'error-in-stream': ['warning: Overloaded', 'agent: This will ', 'error [unknown]: Overloaded'],
  'unknown-provider': [
    'warning: Unknown or disabled provider "nope-provider".',
    'error: Unknown or disabled provider "nope-provider".',
  ],
  'startup-error': [`warning: ${NO_PROMPT}`, `error: ${NO_PROMPT}`],
  'plan-mode-refusal': ['command touch zzz ✗', 'agent: My plan: nothing.'],
  'submission-without-hooks': ['agent: Done now.', 'unknown'],
  thinking: ['agent: Thought.', 'command echo hi', 'agent: Done thinking.'],
  'interrupted-in-tool': [
    'agent: Sleeping.',
    'command sleep 20 ✗',
    'error [no-result]: The run ended without a result.',
  ],
  'asked-to-stop': ['agent: Sleeping.', 'command sleep 20', 'agent: x', 'warning [local_abort]: aborted'],
  'handmade-subagents': [
    'agent: Delegating.',
    'subagent_started ? ?',
    'command wc -l notes.txt',
    'subagent_completed ?',
    'subagent_started ? ?',
    'error [unknown]: Overloaded',
    'subagent_failed ? ✗',
    'agent: One counted, one failed.',
  ],
  'handmade-team': [
    'subagent_started test runner ?',
    'unknown',
    'command npm test → 1 ✗',
    'subagent_completed test runner',
    'unknown',
    'subagent_started test runner ?',
    'subagent_failed test runner ✗',
    'agent: The tests fail.',
  ],
  'handmade-older-tools': [
    'command npm test',
    'command exit 2 → 2 ✗',
    'read /workspace/src/app.js',
    'write /workspace/new.txt',
    'write /workspace/new.txt ✗',
    'write /workspace/.clinerules/style.md',
    'search TODO in /workspace/src',
    'list /workspace/src',
    'skill greet /workspace/skills/greet/SKILL.md',
    'agent: All done.',
  ],
  'handmade-tool-inputs': [
    "command git commit -m 'first commit'",
    'command make && make test',
    'command npm ci',
    'read /workspace/a.txt',
    'read /workspace/b.txt ✗',
    'read /workspace/c.txt:1-20',
    'search one',
    'search two',
    'write /workspace/old.txt',
    'unknown',
    'agent: Understood.',
  ],
  'handmade-gave-up': [
    'unknown',
    'warning [mistake_limit]: Stopped after repeated mistakes.',
    'error [aborted]: aborted: 1 tool call(s) failed: [no_such_tool] Unknown tool',
  ],
  'handmade-legacy-stream': [
    'unknown',
    'unknown',
    'agent: I will read it.',
    'unknown',
    'warning [retry]: Overloaded',
    'error: The diff did not apply.',
    'unknown',
    'unknown',
    'agent: Which one?',
    'agent: It is done.',
    'unknown',
  ],
  'handmade-legacy-failure': ['agent: Starting.', 'unknown', 'error: The API key is not valid.'],
}

function isNoise(line: string): boolean {
  const option = OPTION_WARNING.split('MODEL')
  return line === SDK_WARNING || option.every((piece) => line.includes(piece))
}

describe('Cline: recorded and hand-made runs', () => {
  for (const [name, expected] of Object.entries(RUNS)) {
    it(name, () => {
      const lines = brief(mapFixture(clineDialect, name).activity)
      assert.deepEqual(
        lines.filter((line) => !isNoise(line)),
        expected,
      )
    })
  }

  it('all of them are described', () => {
    assert.deepEqual(fixtureNames(clineDialect.id), Object.keys(RUNS).toSorted())
  })

  it('steps and their usage', () => {
    const run = mapFixture(clineDialect, 'reasoning-and-cache')
    assert.deepEqual(
      eventsOf(run, 'step-finish').map(({ finishReason, usage }) => [
        finishReason,
        usage?.inputTokens,
        usage?.totalTokens,
      ]),
      [
        ['tool-calls', 100, 180],
        ['stop', 100, 180],
      ],
    )
    assert.equal(eventsOf(run, 'finish')[0]?.usage?.cachedInputTokens, 100)
    assert.ok(Math.abs((run.mapper.usage.turn()[0]?.costUsd ?? 0) - 0.001305) < 1e-9)
  })

  it('usage of subagents and teammates is counted separately', () => {
    const shares = (name: string): readonly unknown[] =>
      mapFixture(clineDialect, name)
        .mapper.usage.turn()
        .map(({ scope, inputTokens, outputTokens }) => [scope, inputTokens, outputTokens])
    assert.deepEqual(shares('handmade-subagents'), [
      ['own', 200, 40],
      ['subagents', 120, 20],
    ])
    assert.deepEqual(shares('handmade-team'), [
      ['own', 200, 40],
      ['subagents', 50, 5],
    ])
  })

  it('only runs that failed have an error', () => {
    const failed = fixtureNames(clineDialect.id).filter(
      (name) => eventsOf(mapFixture(clineDialect, name), 'error').length > 0,
    )
    assert.deepEqual(failed, [
      'error-in-stream',
      'handmade-gave-up',
      'handmade-legacy-failure',
      'interrupted-in-tool',
      'provider-401',
      'provider-429',
      'provider-unreachable',
      'startup-error',
      'stream-cut',
      'unknown-provider',
    ])
  })
})
