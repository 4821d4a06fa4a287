import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ModelTurn } from '@inspan/testing'
import { aMessage, ALLOW_ALL, APPROVE, ASK, finishOf, liveHost, resultsOf, textOf } from '../../live/live-host.ts'
import { allowing, answers, benchOf, openStage, testLive, type LiveCli } from '../../live/live-scenarios.ts'
import { claudeCodeOptions, claudeCodeScenarios } from './claude-code-cli.ts'
import { testCli } from '../scenarios.ts'
import { claudeCodeLive } from '../../../src/claude-code/live.ts'

const cli: LiveCli = {
  ...claudeCodeScenarios,
  agent: (setup) => claudeCodeLive(claudeCodeOptions(setup)),
  command: (command) => ({ name: 'Bash', input: { command } }),
  // Commands wait for each other, reads do not.
  independent: (file, { work }) => ({ name: 'Read', input: { file_path: join(work, file) } }),
}

const call = (name: string, input: object): ModelTurn => ({ toolCalls: [{ name, input: input as never }] })
const done: ModelTurn = { text: 'Done.' }

const heardOf =
  (report: string) =>
  ({ text }: { readonly text: string }): ModelTurn => ({ text: text.includes(report) ? 'All found.' : 'Waiting.' })

const QUESTIONS = {
  questions: [
    {
      question: 'Which color?',
      header: 'Color',
      options: [
        { label: 'Red', description: 'Like fire' },
        { label: 'Blue', description: 'Like water' },
      ],
      multiSelect: false,
    },
  ],
}

/** The CLI keeps its plan in a file whose name it tells the model. */
function plan(text: string): readonly ModelTurn[] {
  const file = String.raw`{{re:(/[^ \x60"]*plans/[a-z-]*\.md)}}`
  return [call('Write', { file_path: file, content: text }), call('ExitPlanMode', {})]
}

testLive(cli, (test) => {
  test('asks a person what its model wants to know', async (t, bin) => {
    const bench = await benchOf(t, cli, bin, () => ({ turns: [call('AskUserQuestion', QUESTIONS), done] }))
    const { run } = await openStage(t, bench)
    const turn = run()
    const { request, answer } = await turn.ask()
    assert.equal(request.kind, 'question')
    answer({ decision: 'answer', value: 'Blue' })
    assert.match(resultsOf(await turn.all)[0] ?? '', /"Which color\?"="Blue"/)
  })

  test('shows its plan to a person, and makes another one when that was wrong', async (t, bin) => {
    const bench = await benchOf(t, cli, bin, () => ({
      turns: [
        call('ToolSearch', { query: 'select:EnterPlanMode,ExitPlanMode', max_results: 5 }),
        call('EnterPlanMode', {}),
        ...plan('PLAN-ONE'),
        ...plan('PLAN-TWO'),
        done,
      ],
    }))
    const { run } = await openStage(t, bench, { host: allowing() })
    const turn = run()
    const first = await turn.ask()
    assert.deepEqual([first.request.kind, first.request.payload?.['plan']], ['plan', 'PLAN-ONE'])
    first.answer({ decision: 'decline', reason: 'TOO-SHORT' })
    const second = await turn.ask()
    assert.equal(second.request.payload?.['plan'], 'PLAN-TWO')
    second.answer(APPROVE)
    const events = await turn.all
    assert.equal(finishOf(events), 'stop')
    assert.ok(resultsOf(events).includes('✗ TOO-SHORT'))
  })

  test('is governed in what it does without asking, and so are its subagents', async (t, bin) => {
    const read = ({ work }: { readonly work: string }): ModelTurn => call('Read', { file_path: join(work, 'secret') })
    const bench = await benchOf(t, cli, bin, (place) => ({
      routes: [{ match: 'SUBTASK-77', turns: [read(place), { text: 'I could not.' }] }],
      turns: [
        read(place),
        call('Grep', { pattern: 'SECRET', output_mode: 'content' }),
        call('Agent', { description: 'Look', prompt: 'SUBTASK-77', subagent_type: 'general-purpose' }),
        done,
      ],
    }))
    await writeFile(join(bench.place.work, 'secret'), 'SECRET-1')
    const host = liveHost(({ toolName }) =>
      ['read_file', 'grep'].includes(toolName)
        ? { policy: 'deny', reason: 'It is secret.' }
        : { policy: 'allow', reason: '' },
    )
    const { run } = await openStage(t, bench, { host })
    const refused = resultsOf(await run().all).filter((result) => result.includes('It is secret.'))
    assert.equal(refused.length, 3)
    assert.ok(bench.provider.requests.every(({ text }) => !text.includes('SECRET-1')))
  })

  test('passes to the rules where its shell is, and which folder is the project', async (t, bin) => {
    const look = call('Bash', { command: 'cat ../secrets/key' })
    const bench = await benchOf(t, cli, bin, () => ({
      turns: [call('Bash', { command: 'mkdir src secrets && cd src' }), look, done],
    }))
    const { host, run } = await openStage(t, bench, { host: allowing() })
    await run().all
    const { work } = bench.place
    const commands = host.judged.filter(({ toolName }) => toolName === 'execute_command')
    const looked = commands.filter(({ args }) => args['command'] === 'cat ../secrets/key')
    assert.ok(looked.length > 0)
    for (const { args, cwd } of looked) assert.deepEqual([args['cwd'], cwd], [join(work, 'src'), work])
  })

  test('waits for a subagent in the background before the turn is over', async (t, bin) => {
    const bench = await benchOf(t, cli, bin, () => ({
      routes: [{ match: 'SUBTASK-77', turns: [call('Bash', { command: 'touch sub.txt' }), { text: 'Found it.' }] }],
      turns: [
        call('Agent', {
          description: 'Look',
          prompt: 'SUBTASK-77',
          subagent_type: 'general-purpose',
          run_in_background: true,
        }),
        // The subagent's report may arrive before the answer is begun or after it.
        ...Array.from({ length: 3 }, () => heardOf('Found it.')),
      ],
    }))
    const { run } = await openStage(t, bench, { host: allowing() })
    const events = await run().all
    assert.equal(finishOf(events), 'stop')
    assert.match(textOf(events), /All found\./)
  })

  test(
    'is forked at the newest message that the thread holds',
    async (t, bin) => {
      const bench = await benchOf(t, cli, bin, () => ({ turns: answers('One.', 'Two.', 'Three.') }))
      const first = await openStage(t, bench)
      await first.run().all
      const { nativeId = '', anchor = '' } = first.host.bindings.at(-1) ?? {}
      await first.run({ runId: 'run-2' }).all
      const host = liveHost(() => ASK, {
        history: async function* () {
          yield aMessage('m', 'One.', { role: 'assistant', native: { sessionId: nativeId, messageId: anchor } })
        },
      })
      const binding = { agentId: 'claude-code', nativeId, syncedTo: 0, origin: true } as const
      const { run } = await openStage(t, bench, { binding, host })
      await run({ runId: 'run-3' }).all
      assert.match(bench.request(2), /One\./)
      assert.doesNotMatch(bench.request(2), /Two\./)
      assert.notEqual(host.bindings.at(-1)?.nativeId, nativeId)
    },
    'fork',
  )
})

testCli({
  ...cli,
  way: 'over its control protocol, as in print mode',
  host: ALLOW_ALL,
  unsupported: {
    'head-moved': 'it is resumed at our anchor, never at its end',
    'read-only': 'its host decides, call by call',
    touch: 'its host decides, call by call',
    'write-outside': 'its host decides, call by call',
  },
})
