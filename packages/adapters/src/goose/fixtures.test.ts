import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { testRuns } from '../../test/fixture-runs.ts'
import { eventsOf, fixtureNames, mapFixture } from '../../test/support.ts'
import { gooseDialect } from './mapper.ts'

const RETRY = 'Please retry if you think this is a transient or recoverable error.'
const UNAUTHORIZED =
  'Ran into this error: Authentication error: Authentication failed for http://127.0.0.1:39655/v1/chat/completions. Status: 401 Unauthorized. Response: mock 401 error.'
const SERVER_ERROR =
  'Ran into this error: Server error: Server error (500 Internal Server Error) at http://127.0.0.1:46857/v1/chat/completions: mock 500 error.'
const CUT =
  'Network error: Stream decode error: error decoding response body\n\nPlease resend your message to try again.'
const TOO_LONG =
  'Unable to continue: Context limit still exceeded after compaction. Try using a shorter message, a model with a larger context window, or start a new session.'
const APPROVAL =
  'Error: Tool approval required in non-interactive mode with GooseMode::approve. This is an invalid configuration — Approve/SmartApprove modes require an interactive terminal. Use GooseMode::Auto for headless sessions.'
const LONG_OUTPUT = 'command for i in $(seq 1 3000); do echo line $i of long output padding padding padding; done → 0'

/** The expected activity, from the scripts that the runs were recorded with. */
const RUNS: Readonly<Record<string, readonly string[]>> = {
  'empty-answer': ['error: The model returned an empty response. Please resend your message to continue.'],
  'subagents-fail-and-nest': [
    'unknown',
    'subagent_completed ?',
    'subagent_failed ? ✗',
    'unknown',
    'subagent_failed nobody ✗',
    'subagent_completed ?',
    'subagent_started ? ?',
    'agent: Done.',
  ],
  // Goose reports the subagent as completed, with the reason for the missing answer in place of the answer.
  'background-subagent-fails': ['subagent_started ? ?', 'subagent_failed ? ✗', 'agent: Done.'],
  'banner-and-text': ['unknown', 'unknown', 'unknown', 'agent: Hello from the mock model.'],
  'subagents-one-silent': ['subagent_completed ?', 'subagent_failed ? ✗', 'agent: Done.'],
  'thinking-text-and-call': ['agent: I run it.', 'command echo hi → 0', 'agent: Done.'],
  'shell-exit-codes': [
    'agent: I will run a command.',
    'command echo hi; echo warn >&2 → 0',
    'command echo partial; ls /nope; exit 3 → 3 ✗',
    'command no-such-command-xyz → 127 ✗',
    'agent: One passed, two failed.',
  ],
  'shell-file-operations': [
    'read /workspace/notes.txt',
    'read /workspace/notes.txt:2-4',
    'search TODO in /workspace/src',
    'search beta in /workspace/notes.txt',
    'search *.ts in /workspace',
    'list /workspace/src',
    LONG_OUTPUT,
    'command echo before; sleep 20 ✗',
    'agent: Done.',
  ],
  'file-tools': [
    'write /workspace/new/created.txt',
    'write /workspace/src/app.ts',
    'write /workspace/src/app.ts ✗',
    'write /workspace/missing.txt ✗',
    'list /workspace',
    'list /workspace/nope ✗',
    'unknown',
    'read /workspace/notes.txt ✗',
    'write /workspace/notes.txt',
    'unknown',
    'unknown',
    'agent: Files done.',
  ],
  'skills-and-todo': [
    'skill demo /workspace/skills/demo/SKILL.md',
    'skill nope /workspace/skills/nope/SKILL.md ✗',
    'unknown',
    'agent: Skill and todo done.',
  ],
  'mcp-calls-with-progress': ['unknown', 'unknown', 'unknown', 'unknown', 'unknown', 'agent: MCP done.'],
  'provider-401': [
    `warning: Error: ${UNAUTHORIZED}`,
    `warning: ${RETRY}`,
    `error [authentication]: ${UNAUTHORIZED}\n\n${RETRY}`,
  ],
  'provider-500': [`error: ${SERVER_ERROR}\n\n${RETRY}`],
  'retry-then-success': ['agent: Recovered after 429.'],
  'context-overflow': [
    'warning [inlineMessage]: Context limit reached. Compacting to continue conversation...',
    'warning [progressMessage]: goose is compacting the conversation...',
    `warning [inlineMessage]: ${TOO_LONG}`,
    `error [no-answer]: The run ended without an answer of the agent: ${TOO_LONG}`,
  ],
  'stream-cut': ['agent: This stream will be cut in the middle', `error: ${CUT}`],
  'output-limit': [
    'agent: This answer was cut by max tokens',
    'warning [output-limit]: The answer was cut off at the output limit.',
  ],
  'unknown-provider': ['unknown', 'error [exit-1]: goose exited with code 1:   error: Unknown provider: nope'],
  'resume-first': ['agent: First answer.'],
  'resume-second': ['agent: Second answer.'],
  'interrupted-in-tool': [
    'warning: Error: Headless run interrupted',
    'agent: Sleeping.',
    'unknown',
    'command sleep 365.1 ✗',
    'error: Headless run interrupted',
  ],
  'interrupted-in-text': [
    'warning: Error: Headless run interrupted',
    'agent: Streaming then hanging for a while',
    'error: Headless run interrupted',
  ],
  'approval-without-terminal': [
    `warning: ${APPROVAL}`,
    'command echo needs approval ✗',
    `error [exit-1]: goose exited with code 1: ${APPROVAL}`,
  ],
  'chat-mode': ['agent: Try.', 'command echo in-chat ✗', 'agent: Chat only.'],
  'invalid-calls': ['unknown', 'unknown', 'agent: Invalid tool calls handled.'],
  'handmade-older-tools': [
    'agent: Working.',
    'read /workspace/src/app.ts:2-5',
    'write /workspace/src/app.ts',
    'command npm test',
    'read /workspace/notes.txt',
    'search TODO in /workspace/src',
    'search **/*.ts',
    'list /workspace/src',
    'skill demo /workspace/skills/demo/SKILL.md',
    'unknown',
    'agent: All done.',
  ],
  'handmade-restated-text': [
    'agent: I will look at the notes. Then at the rest.',
    'read /workspace/notes.txt',
    'agent: 110.5 lines.',
  ],
  'handmade-delegation': [
    'agent: Delegating.',
    'unknown',
    'subagent_completed ?',
    'subagent_failed reviewer ✗',
    'subagent_started ? ?',
    'unknown',
    'unknown',
    'subagent_failed ? ✗',
    'agent: One counted, two failed.',
  ],
  'handmade-turn-limit': ['command make → 0', 'warning: That is as many turns as I may take.'],
  'handmade-blocks': ['agent: I ask.', 'unknown', 'list ✗', 'warning [inlineMessage]: Compacted.', 'agent: Seen.'],
}

testRuns('Goose: recorded and hand-made runs', gooseDialect, RUNS)

describe('Goose: what its runs report', () => {
  it('a resumed session counts what it used itself', () => {
    const first = mapFixture(gooseDialect, 'resume-first')
    const usageBaseline = first.mapper.usage.totals
    assert.ok(usageBaseline !== undefined)
    const second = mapFixture(gooseDialect, 'resume-second', { usageBaseline })
    const spent = { inputTokens: 800, outputTokens: 50, totalTokens: 1050, cachedInputTokens: 200 }
    for (const run of [first, second])
      assert.deepEqual(eventsOf(run, 'finish')[0]?.usage, {
        ...spent,
        cacheWriteInputTokens: 0,
        source: 'reported',
        scope: 'own',
      })
  })

  it('subagents are identified by the sessions they had', () => {
    const ids = mapFixture(gooseDialect, 'handmade-delegation').activity.flatMap((event) =>
      event.type === 'orchestration' ? [[event.action, event.subagentId]] : [],
    )
    assert.deepEqual(ids, [
      ['subagent_completed', '20260102_2'],
      ['subagent_failed', '20260102_3'],
      ['subagent_started', '20260102_4'],
      ['subagent_failed', '20260102_4'],
    ])
  })

  it('only runs that failed have an error', () => {
    const failed = fixtureNames(gooseDialect.id).filter(
      (name) => eventsOf(mapFixture(gooseDialect, name), 'error').length > 0,
    )
    assert.deepEqual(failed, [
      'approval-without-terminal',
      'context-overflow',
      'empty-answer',
      'interrupted-in-text',
      'interrupted-in-tool',
      'provider-401',
      'provider-500',
      'stream-cut',
      'unknown-provider',
    ])
  })
})
