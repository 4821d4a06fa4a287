// The path of a new user in a real terminal (tmux), from the first start to a replay.
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { startProvider, type ProviderRequest, type ModelTurn } from '@inspan/testing'
import { Serving } from '../commands/serving.fixture.ts'
import { TmuxTerminal } from './tmux.fixture.ts'

const WORDS = Array.from({ length: 60 }, (_, index) => `word${index} `)
const MODELS = ['anthropic/claude-sonnet-4-5', 'anthropic/claude-haiku-4-5'] as const

const write = (path: string, content: string) => ({ name: 'write_file', input: { path, content } })
const STEPS: Readonly<Record<string, readonly ModelTurn[]>> = {
  'Sign the first note': [
    { text: 'I will write.', toolCalls: [write('one.txt', 'first\n')] },
    { text: 'The **first** note is signed.' },
  ],
  'Wait for me': [
    {
      toolCalls: [
        { name: 'execute_command', input: { command: 'until [ -e gate ]; do sleep 0.1; done; echo waited' } },
      ],
    },
    { text: 'Nobody spoke.' },
  ],
  'Look out below': [{ text: 'I heard you.' }],
  'Speak for a while': [{ text: WORDS, delayPerDeltaMs: 60 }],
  'Sign the second note': [
    { text: 'I will write again.', toolCalls: [write('two.txt', 'second\n')] },
    { text: 'The second note is signed.' },
  ],
  'Which way is shorter': [{ text: 'The short one.' }],
}

/** Answers by what was asked last. */
function answer({ text }: ProviderRequest): ModelTurn {
  const [prompt = ''] = Object.keys(STEPS).toSorted((a, b) => text.lastIndexOf(b) - text.lastIndexOf(a))
  const results = text.slice(text.lastIndexOf(prompt)).split('"tool_result"').length - 1
  const turns = STEPS[prompt] ?? []
  return turns[Math.min(results, turns.length - 1)] ?? { text: 'Nothing was asked.' }
}

describe('the path of a new user in a terminal', { timeout: 300_000 }, () => {
  it('leads from the first start to a replay, with our own loop and its tools', async () => {
    await using provider = await startProvider({ turns: Array.from({ length: 40 }, () => answer) })
    const keys = { ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: `${provider.url}/v1` }
    await using serving = await Serving.start({ args: ['--model', MODELS[0]], env: keys })
    using first = new TmuxTerminal()
    using second = new TmuxTerminal()
    const { client, folder, home, token, url } = serving
    const file = (name: string): string | undefined =>
      existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : undefined
    const say = (text: string): void => {
      first.type(text)
      first.press('Enter')
    }

    // The first start, a prompt, and an approval in a second terminal.
    first.chat(['--connect', url], { INSPAN_TOKEN: token })
    await first.shows(/Type a message/)
    say('Sign the first note')
    await first.shows(/Allow write_file\?[^]*\+ first[^]*y allow once/)
    second.chat(['--connect', url, '--continue'], { INSPAN_TOKEN: token })
    await second.shows(/Allow write_file\?[^]*\+ first[^]*y allow once/)
    assert.equal(file('one.txt'), undefined)
    second.press('y')
    await first.shows(/✓ write_file one\.txt[^]*The first note is signed\./)
    assert.equal(file('one.txt'), 'first\n')

    // A message while a command runs.
    say('Wait for me')
    await first.shows(/\$ until[^]*y allow once/)
    first.press('y')
    await first.shows(/… execute_command[^]*Esc interrupts/)
    say('Look out below')
    await first.shows(/queued: Look out below/)
    writeFileSync(join(folder, 'gate'), '')
    await first.shows(/I heard you\./)

    // Leaving and coming back in the middle of a stream.
    say('Speak for a while')
    await first.shows(/word3 /)
    first.press('C-c', 'C-c')
    await first.shows(/left with 0/)
    first.chat(['--connect', url, '--continue'], { INSPAN_TOKEN: token })
    await first.shows(/> Speak for a while\s+word0 word1 [^]*word58\s+word59/)
    await first.shows(/^(?![^]*Esc interrupts)/)

    // A crash of the server in the middle of an approval.
    say('Sign the second note')
    await first.shows(/y allow once/)
    await serving.kill()
    await first.shows(/Not connected, trying again/)
    await serving.restart()
    await first.shows(/^(?![^]*Not connected)[^]*y allow once/)
    assert.equal(file('two.txt'), undefined)
    first.press('y')
    await first.shows(/The second note is signed\./)
    assert.equal(file('two.txt'), 'second\n')

    // Rewinding: first what it would do, then it.
    say('/rewind')
    await first.shows(/5 {2}Sign the second note/)
    say('/rewind 5')
    await first.shows(/removed: two\.txt[^]*\/rewind 5 yes does it/)
    assert.equal(file('two.txt'), 'second\n')
    say('/rewind 5 yes')
    await first.shows(/Rewound\./)
    assert.deepEqual([file('one.txt'), file('two.txt')], ['first\n', undefined])

    // A fork.
    say('/fork Another try')
    await first.shows(/This is a copy\.[^]*Another try ·/)
    const { threads } = await client.routes.threads()
    assert.deepEqual(new Set(threads.map(({ title }) => title)), new Set(['Another try', 'Sign the first note']))
    say('/quit')
    await first.shows(/left with 0/)

    // A comparison and a replay, by commands of their own.
    const env = { ...keys, INSPAN_HOME: home }
    first.resize(120, 40)
    first.start(['compare', 'Which way is shorter', '--with', MODELS.join(',')], env, folder)
    await first.shows(
      /claude-sonnet-4-5 .* complete\n[^]*claude-haiku-4-5 .* complete\n[^]*The short one\.[^]*left with 0/,
    )
    const origin = threads.find(({ title }) => title === 'Sign the first note')?.id ?? ''
    first.start(['replay', origin], env, folder)
    await first.shows(/word0 word1[^]*word59[^]*left with 0/)
  })
})
