import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { testRuns, testStrangers } from '../../test/fixture-runs.ts'
import { eventsOf, mapFixture } from '../../test/support.ts'
import { piDialect } from './mapper.ts'

const UNAUTHORIZED = '401: {"message":"mock 401 error","type":"authentication_error","code":"invalid_api_key"}'
const BROKEN = '500: {"message":"mock 500 error","type":"server_error","code":"internal_error"}'
const TOO_LONG =
  '400: {"message":"This model\'s maximum context length is 200000 tokens. However, your messages resulted in 300000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}'
const NO_KEY = [
  'No API key found for anthropic.',
  'Use /login to log into a provider via OAuth or API key. See:',
  '  /usr/lib/node_modules/@earendil-works/pi-coding-agent/docs/providers.md',
  '  /usr/lib/node_modules/@earendil-works/pi-coding-agent/docs/models.md',
]

/** The expected activity, from the scripts that the runs were recorded with. */
const RUNS: Readonly<Record<string, readonly string[]>> = {
  'plain-answer': ['agent: Hello from the mock model.'],
  'plain-answer-anthropic': ['agent: Hello from the mock model.'],
  'text-mode': ['unknown'],
  commands: [
    'agent: I will run a command.',
    'command echo hi; echo warn >&2',
    'command echo partial; ls /nope; exit 3 → 3 ✗',
    'command no-such-command-xyz → 127 ✗',
    'agent: One passed, two failed.',
  ],
  'file-operations-by-shell': [
    'read /workspace/notes.txt',
    'read /workspace/notes.txt:2-4',
    'search TODO in /workspace/src',
    'search beta in /workspace/notes.txt',
    'search *.ts in /workspace',
    'list /workspace/src',
    'list /workspace/src',
    'command for i in $(seq 1 3000); do echo line $i of long output padding padding padding; done',
    'command echo before; sleep 20 ✗',
    'agent: Done.',
  ],
  'file-tools': [
    'read /workspace/notes.txt:2-4',
    'read /workspace/notes.txt',
    'write /workspace/new/created.txt',
    'write /workspace/src/app.ts',
    'write /workspace/src/app.ts ✗',
    'write /workspace/src/app.ts',
    'read /workspace/missing.txt ✗',
    'read /workspace/src ✗',
    'write /workspace/notes.txt',
    'unknown',
    'read /workspace/notes.txt:500- ✗',
    'agent: Files done.',
  ],
  'search-tools': [
    'search TODO in /workspace/src',
    'search nomatchxyz',
    'search **/*.ts',
    'list /workspace/src',
    'list',
    'list /workspace/nope ✗',
    'agent: Search done.',
  ],
  'parallel-calls': [
    'agent: Three at once.',
    'command exit 3 → 3 ✗',
    'read /workspace/notes.txt',
    'command sleep 1; echo first',
    'agent: All done.',
  ],
  'skill-read': ['read /workspace/.pi/skills/demo/SKILL.md', 'agent: Skill read.'],
  'provider-refuses': [`error: ${UNAUTHORIZED}`],
  'retries-in-vain': [
    `warning [auto_retry]: Retry 1 of 3: ${BROKEN}`,
    `warning [auto_retry]: Retry 2 of 3: ${BROKEN}`,
    `warning [auto_retry]: Retry 3 of 3: ${BROKEN}`,
    `error: ${BROKEN}`,
  ],
  'retry-that-helps': [`warning [auto_retry]: Retry 1 of 3: ${BROKEN}`, 'agent: Recovered after 500.'],
  'context-overflow': [`error: ${TOO_LONG}`],
  'cut-stream': [
    'agent: This stream will be cut in the middle',
    'warning [auto_retry]: Retry 1 of 3: terminated',
    'agent: After cut.',
  ],
  'output-limit': [
    'agent: This answer was cut by max tokens',
    'warning [output-limit]: The answer was cut off at the output limit.',
  ],
  reasoning: ['command echo thought', 'agent: Reasoned answer.'],
  'killed-in-a-call': ['agent: Sleeping.', 'command sleep 369.2 ✗', 'error [exit-143]: pi exited with code 143'],
  'killed-in-a-text': ['agent: Streaming then hanging for a while', 'error [SIGINT]: pi was killed by SIGINT'],
  'no-key': [
    ...NO_KEY.map((line) => `warning: ${line}`),
    `error [exit-1]: pi exited with code 1: ${NO_KEY.join('\n')}`,
  ],
  'invalid-calls': ['unknown', 'command echo broken', 'agent: Invalid tool calls handled.'],
  'rpc-abort': ['agent: Working.', 'command sleep 30; echo one ✗', 'error: This operation was aborted'],
  'rpc-compaction': ['agent: First.', 'agent: Second.'],
  'rpc-steering': [
    'agent: Working.',
    'command sleep 2; echo one',
    'agent: Steered answer.',
    'agent: Follow-up answer.',
    'warning [bogus]: Unknown command: bogus',
  ],
  'handmade-glob': [
    'search **/*.ts',
    'search *.md in /workspace/docs',
    'search *.js in /workspace/nowhere ✗',
    'unknown',
    'agent: Looked.',
  ],
  'handmade-older-results': [
    'search **/*.ts',
    'list /workspace/src',
    'search TODO ✗',
    'command make → 2 ✗',
    'unknown',
    'agent: Done as of old.',
  ],
  'handmade-overflow-recovered': [
    'warning [summarization_retry]: Retry 1 of 3: overloaded',
    'error: 400: the prompt is too long',
    'agent: Here is the answer.',
    'error: The extension threw.',
  ],
}

testRuns('Pi: recorded and hand-made runs', piDialect, RUNS)
testStrangers('Pi', piDialect)

describe('Pi: what its runs report', () => {
  it('a recovered overflow leaves the run whole', () => {
    const run = mapFixture(piDialect, 'handmade-overflow-recovered')
    assert.equal(eventsOf(run, 'error').length, 0)
    assert.equal(eventsOf(run, 'finish')[0]?.finishReason, 'stop')
  })

  it('text and reasoning are said once, delta by delta', () => {
    const run = mapFixture(piDialect, 'reasoning')
    const said = eventsOf(run, 'text-delta').map((event) => event.text)
    const thought = eventsOf(run, 'reasoning-delta').map((event) => event.text)
    assert.equal(said.join(''), 'Reasoned answer.')
    assert.equal(thought.join(''), 'Let me think about this for a while.Now the answer.')
    assert.ok(said.length > 2)
  })

  it('each prompt of a live process is a turn with its own usage', () => {
    const run = mapFixture(piDialect, 'rpc-compaction', { finish: 'at-turn-end' })
    assert.deepEqual(
      eventsOf(run, 'finish').map((finish) => [finish.finishReason, finish.usage?.totalTokens]),
      [
        ['stop', 1050],
        ['stop', 1050],
      ],
    )
  })

  it('in rpc mode the session is the one that is asked for', () => {
    assert.match(mapFixture(piDialect, 'rpc-steering').mapper.sessionId ?? '', /^[0-9a-f-]{36}$/)
  })
})
