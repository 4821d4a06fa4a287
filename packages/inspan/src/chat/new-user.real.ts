// The path of a new user in a real terminal (tmux), from the first start to a replay: with our own loop and Claude Code.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startProvider, type ProviderRequest, type ModelTurn } from '@inspan/testing'
import { Serving } from '../commands/serving.fixture.ts'
import { TmuxTerminal } from './tmux.fixture.ts'

const INSTALL = fileURLToPath(new URL('../../../adapters/test/real/install-cli.ts', import.meta.url))
/** Many times what it takes: the machine may be busy, and the line on which a program is installed slow. */
const TEST_MS = 30 * 60_000
const WORDS = Array.from({ length: 60 }, (_, index) => `word${index} `)
const INTERRUPTED = 'You were interrupted'

interface Step {
  readonly name: string
  readonly input: Readonly<Record<string, string>>
}

/** How an agent is served, and what its tools are called. */
interface Kind {
  readonly args: readonly string[]
  readonly env: (providerUrl: string) => Readonly<Record<string, string>>
  readonly write: (path: string, content: string) => Step
  readonly run: (command: string) => Step
  /** The two that are compared. */
  readonly compared: readonly [string, string]
  /** Who says what it cost. */
  readonly cost: RegExp
}

const KINDS: Readonly<Record<string, () => Kind>> = {
  'our own loop': () => ({
    args: ['--model', 'anthropic/claude-sonnet-4-5'],
    env: (url) => ({ ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: `${url}/v1` }),
    write: (path, content) => ({ name: 'write_file', input: { path, content } }),
    run: (command) => ({ name: 'execute_command', input: { command } }),
    compared: ['anthropic/claude-sonnet-4-5', 'anthropic/claude-haiku-4-5'],
    cost: /· \$0\.\d{4} estimated ·/,
  }),
  'Claude Code': () => {
    const bin = execFileSync(process.execPath, [INSTALL, 'claude-code'], { encoding: 'utf8' }).trim()
    return {
      args: ['--harness', 'claude-code'],
      env: (url) => ({
        PATH: `${dirname(bin)}:/usr/bin:/bin`,
        ANTHROPIC_API_KEY: 'sk-ant-test',
        ANTHROPIC_BASE_URL: url,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        CLAUDE_CODE_MAX_RETRIES: '1',
      }),
      write: (file_path, content) => ({ name: 'Write', input: { file_path, content } }),
      run: (command) => ({ name: 'Bash', input: { command } }),
      compared: ['claude-code', 'demo'],
      cost: /· \$0\.\d{4} billed ·/,
    }
  },
}

/** A model that answers by what it was asked last, however often it is asked again. */
function model({ run, write }: Kind, folder: string): (request: ProviderRequest) => ModelTurn {
  const steps: Readonly<Record<string, readonly ModelTurn[]>> = {
    'Sign the first note': [
      { text: 'I will write.', toolCalls: [write(join(folder, 'one.txt'), 'first\n')] },
      { text: 'The **first** note is signed.', usage: { inputTokens: 20_000, outputTokens: 500 } },
    ],
    'Wait for me': [
      { toolCalls: [run(`until [ -e '${join(folder, 'gate')}' ]; do sleep 0.1; done; echo waited`)] },
      { text: 'Nobody spoke.' },
    ],
    'Look out below': [{ text: 'I heard you.' }],
    'Speak for a while': [{ text: WORDS, delayPerDeltaMs: 60 }],
    'Sign the second note': [
      { text: 'I will write again.', toolCalls: [write(join(folder, 'two.txt'), 'second\n')] },
      { text: 'The second note is signed.' },
    ],
    'Which way is shorter': [{ text: 'The short one.' }],
  }
  return ({ text }) => {
    const [prompt = ''] = Object.keys(steps).toSorted((a, b) => text.lastIndexOf(b) - text.lastIndexOf(a))
    const since = text.slice(Math.max(text.lastIndexOf(prompt), text.lastIndexOf(INTERRUPTED)))
    const results = since.split('"tool_result"').length - 1
    const turns = steps[prompt] ?? []
    return turns[Math.min(results, turns.length - 1)] ?? { text: 'Nothing was asked.' }
  }
}

/** What the provider is asked before the folder is known is nobody's prompt. */
const NOBODY = (): ModelTurn => ({ text: 'Nothing was asked.' })

describe('the path of a new user in a terminal', { timeout: TEST_MS }, () => {
  for (const [name, kindOf] of Object.entries(KINDS)) {
    it(`leads from the first start to a replay, with ${name}`, { timeout: TEST_MS }, () => walk(kindOf()))
  }
})

async function walk(kind: Kind): Promise<void> {
  let answer: (request: ProviderRequest) => ModelTurn = NOBODY
  const turns = Array.from({ length: 60 }, () => (request: ProviderRequest) => answer(request))
  await using provider = await startProvider({ turns })
  const env = kind.env(provider.url)
  await using serving = await Serving.start({ args: kind.args, env })
  using first = new TmuxTerminal()
  using second = new TmuxTerminal()
  const { client, folder, token, url } = serving
  answer = model(kind, folder)
  const file = (name: string): string | undefined =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : undefined
  const say = (text: string): void => {
    first.type(text)
    first.press('Enter')
  }
  const idle = (): Promise<string> => first.shows(/^(?![^]*Esc interrupts)/)

  // The first start, a prompt, and an approval in a second terminal.
  first.chat(['--connect', url], { INSPAN_TOKEN: token })
  await first.shows(/Type a message/)
  say('Sign the first note')
  await first.shows(/Allow \w+\?[^]*\+ first[^]*y allow once/)
  second.chat(['--connect', url, '--continue'], { INSPAN_TOKEN: token })
  await second.shows(/Allow \w+\?[^]*\+ first[^]*y allow once/)
  assert.equal(file('one.txt'), undefined)
  second.press('y')
  await first.shows(/✓ \w+ \S*one\.txt[^]*The first note is signed\./)
  assert.equal(file('one.txt'), 'first\n')
  await idle()
  await first.shows(kind.cost)

  // A message while a command runs.
  say('Wait for me')
  await first.shows(/\$ until[^]*y allow once/)
  first.press('y')
  await first.shows(/… \w+ until[^]*Esc interrupts/)
  say('Look out below')
  await first.shows(/(queued:|>) Look out below/)
  writeFileSync(join(folder, 'gate'), '')
  await first.shows(/I heard you\./)
  await idle()

  // Leaving and coming back in the middle of a stream.
  say('Speak for a while')
  await first.shows(/word3 /)
  first.press('C-c', 'C-c')
  await first.shows(/left with 0/)
  first.chat(['--connect', url, '--continue'], { INSPAN_TOKEN: token })
  await first.shows(/> Speak for a while\s+word0 word1 [^]*word58\s+word59/)
  await idle()

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
  await idle()

  // What was changed. Then rewinding: first what it would do, then it.
  say('/files')
  await first.shows(/created \S*one\.txt[^]*\+first[^]*created \S*two\.txt[^]*\+second/)
  say('/rewind')
  const listed = await first.shows(/\d {2}Sign the second note/)
  const number = /(\d) {2}Sign the second note/.exec(listed)?.[1] ?? ''
  say(`/rewind ${number}`)
  await first.shows(new RegExp(`removed: \\S*two\\.txt[^]*/rewind ${number} yes does it`))
  assert.equal(file('two.txt'), 'second\n')
  say(`/rewind ${number} yes`)
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
  const own = { ...env, HOME: serving.base, INSPAN_HOME: serving.home }
  first.resize(120, 60)
  first.start(['compare', 'Which way is shorter', '--with', kind.compared.join(',')], own, folder)
  const [one, other] = kind.compared
  await first.shows(new RegExp(`${one} .* complete\n[^]*${other} .* complete\n[^]*The short one\\.`))
  first.press('Enter')
  await first.shows(/left with 0/)
  const origin = threads.find(({ title }) => title === 'Sign the first note')?.id ?? ''
  first.start(['replay', origin], own, folder)
  await first.shows(/word0 word1[^]*word59[^]*left with 0/)
}
