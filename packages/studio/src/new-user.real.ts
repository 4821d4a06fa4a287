// The path of a new user, from the first start to a replay, in a real browser: with our own loop and with Claude Code.
import assert from 'node:assert/strict'
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startProvider, type Provider, type ProviderRequest, type ModelTurn } from '@inspan/testing'
import type { Browser, Page } from 'playwright-core'
import { axeFaults, say, startBrowser } from './studio.fixture.ts'

const INSPAN = fileURLToPath(new URL('../../inspan/bin/inspan.js', import.meta.url))
const INSTALL = fileURLToPath(new URL('../../adapters/test/real/install-cli.ts', import.meta.url))
/** Many times what it takes: the machine may be busy, and the line on which a program is installed slow. */
const TEST_MS = 30 * 60_000

interface Step {
  readonly name: string
  readonly input: Readonly<Record<string, string>>
}

/** How an agent is served, and what its tools are called. */
interface Kind {
  readonly args: readonly string[]
  readonly env: (providerUrl: string, home: string) => Readonly<Record<string, string>>
  readonly write: (path: string, content: string) => Step
  readonly run: (command: string) => Step
  /** Who says what it cost. */
  readonly cost: RegExp
}

const KINDS: Readonly<Record<string, () => Kind>> = {
  'our own loop': () => ({
    args: ['--model', 'anthropic/claude-sonnet-4-5'],
    env: (url) => ({ ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: `${url}/v1`, PATH: process.env['PATH'] ?? '' }),
    write: (path, content) => ({ name: 'write_file', input: { path, content } }),
    run: (command) => ({ name: 'execute_command', input: { command } }),
    cost: /^\$0\.\d{4} estimated$/,
  }),
  'Claude Code': () => {
    const bin = execFileSync(process.execPath, [INSTALL, 'claude-code'], { encoding: 'utf8' }).trim()
    return {
      args: ['--harness', 'claude-code'],
      env: (url, home) => ({
        HOME: home,
        PATH: `${dirname(bin)}:${process.env['PATH'] ?? ''}`,
        ANTHROPIC_API_KEY: 'sk-ant-test',
        ANTHROPIC_BASE_URL: url,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        CLAUDE_CODE_MAX_RETRIES: '1',
      }),
      write: (file_path, content) => ({ name: 'Write', input: { file_path, content } }),
      run: (command) => ({ name: 'Bash', input: { command } }),
      cost: /^\$0\.\d{4} billed$/,
    }
  },
}

const WORDS = Array.from({ length: 60 }, (_, index) => `word${index} `)
const INTERRUPTED = 'You were interrupted'

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
    'Which way is shorter': [{ text: 'The short one.', usage: { inputTokens: 2000, outputTokens: 50 } }],
  }
  return ({ text }) => {
    const [prompt = ''] = Object.keys(steps).toSorted((a, b) => text.lastIndexOf(b) - text.lastIndexOf(a))
    const since = text.slice(Math.max(text.lastIndexOf(prompt), text.lastIndexOf(INTERRUPTED)))
    const results = since.split('"tool_result"').length - 1
    const turns = steps[prompt] ?? []
    return turns[Math.min(results, turns.length - 1)] ?? { text: 'Nothing was asked.' }
  }
}

/** `inspan serve` as a person starts it, in a repository with one commit. */
class Place implements AsyncDisposable {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), 'inspan-new-user-')))
  readonly folder = join(this.base, 'project')
  readonly kind: Kind
  readonly #provider: Provider
  #child: ChildProcess | undefined
  #port = '0'

  private constructor(kind: Kind, provider: (folder: string) => Provider) {
    this.kind = kind
    for (const path of [this.folder, join(this.base, 'home')]) mkdirSync(path)
    writeFileSync(join(this.folder, 'README.md'), '# A project\n')
    const git = ['-c', 'user.name=a', '-c', 'user.email=a@b.c', '-C', this.folder]
    for (const args of [
      ['init', '-q'],
      ['add', '-A'],
      ['commit', '-qm', 'Begin'],
    ]) {
      execFileSync('git', [...git, ...args])
    }
    this.#provider = provider(this.folder)
  }

  static async open(kind: Kind, script = model): Promise<Place> {
    let folder = ''
    const answer = (request: ProviderRequest): ModelTurn => script(kind, folder)(request)
    const provider = await startProvider({ turns: Array.from({ length: 60 }, () => answer) })
    return new Place(kind, (given) => {
      folder = given
      return provider
    })
  }

  /** Starts the server, after the first time on the same port, and returns the address that it prints for a browser. */
  async start(): Promise<string> {
    const home = join(this.base, 'home')
    const child = spawn(process.execPath, [INSPAN, 'serve', '--code', '--port', this.#port, ...this.kind.args], {
      cwd: this.folder,
      env: { TMPDIR: this.base, INSPAN_HOME: join(this.base, 'inspan'), ...this.kind.env(this.#provider.url, home) },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#child = child
    let out = ''
    for await (const chunk of child.stdout) {
      out += String(chunk)
      if (/^Open /m.test(out)) break
    }
    child.stdout.resume()
    this.#port = /^Listening on http:\/\/127\.0\.0\.1:(\d+)$/m.exec(out)?.[1] ?? '0'
    return /^Open (\S+)/m.exec(out)?.[1] ?? ''
  }

  /** Ends the server as a crash does. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined) return
    child.kill(signal)
    await once(child, 'close')
  }

  file(name: string): string | undefined {
    const path = join(this.folder, name)
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill('SIGTERM')
    await this.#provider.close()
    rmSync(this.base, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  }
}

describe('the path of a new user on the web page', { timeout: TEST_MS }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser.close())

  for (const [name, kindOf] of Object.entries(KINDS)) {
    it(`leads from the first start to a replay, with ${name}`, { timeout: TEST_MS }, async () => {
      await using place = await Place.open(kindOf())
      const context = await browser.newContext({ viewport: { width: 1100, height: 800 } })
      context.setDefaultTimeout(120_000)
      try {
        await walk(await context.newPage(), place)
      } finally {
        await context.close()
      }
    })
  }
})

describe('inspan serve without options', { timeout: TEST_MS }, () => {
  it('offers a coding agent that is installed here', { timeout: TEST_MS }, async () => {
    const kind = KINDS['Claude Code']?.()
    assert.ok(kind !== undefined)
    await using place = await Place.open({ ...kind, args: [] })
    await using browser = await startBrowser()
    const page = await browser.newPage()
    page.setDefaultTimeout(120_000)
    await page.goto(await place.start())
    await page.getByLabel('Mode').selectOption('claude-code')
    await say(page, 'Which way is shorter')
    await page.getByRole('region', { name: 'Conversation' }).getByText('The short one.').waitFor()
    await page
      .getByRole('navigation')
      .getByRole('button', { name: /Needs you/ })
      .click()
    await page.getByRole('region', { name: 'Recent' }).getByText('claude-code').waitFor()
  })
})

describe('a coding agent that has subagents of its own', { timeout: TEST_MS }, () => {
  it('shows their work inside the call that started them', { timeout: TEST_MS }, async () => {
    const kind = KINDS['Claude Code']?.()
    assert.ok(kind !== undefined)
    const task = 'Look into the cellar'
    const input = { description: 'Look around', prompt: task, subagent_type: 'general-purpose' }
    const script = () => (request: ProviderRequest) => {
      if (!request.text.includes('Send somebody')) {
        return request.text.includes(task) ? { text: 'The cellar is **empty**.' } : { text: 'Nothing was asked.' }
      }
      if (request.text.includes('"tool_result"')) return { text: 'They are back.' }
      return { toolCalls: [{ name: 'Agent', input }] }
    }
    await using place = await Place.open(kind, script)
    await using browser = await startBrowser()
    const page = await browser.newPage()
    page.setDefaultTimeout(120_000)
    await page.goto(await place.start())
    await say(page, 'Send somebody')
    const conversation = page.getByRole('region', { name: 'Conversation' })
    // Claude Code may ask its model once more when the subagent has ended, and then says it twice.
    await conversation.getByText('They are back.').first().waitFor()
    const card = conversation.getByRole('button', { name: /^(Agent|Task) / })
    assert.equal(await card.getAttribute('aria-expanded'), 'false')
    assert.equal(await conversation.getByText('The cellar is empty.').count(), 0)
    await card.click()
    await page.getByRole('group', { name: 'What the subagent did' }).getByText('The cellar is empty.').waitFor()
    assert.deepEqual(await axeFaults(page), [])
  })
})

describe('a comparison of two harnesses on the web page', { timeout: TEST_MS }, () => {
  it('has a lane of our own loop and one of Claude Code, each in a worktree', { timeout: TEST_MS }, async () => {
    const kind = KINDS['Claude Code']?.()
    assert.ok(kind !== undefined)
    const both: Kind = {
      ...kind,
      args: ['--model', 'openai/gpt-5.5', '--harness', 'claude-code'],
      env: (url, home) => ({ ...kind.env(url, home), OPENAI_API_KEY: 'key', OPENAI_BASE_URL: `${url}/v1` }),
    }
    await using place = await Place.open(both)
    await using browser = await startBrowser()
    const page = await browser.newPage()
    page.setDefaultTimeout(120_000)
    await page.goto(await place.start())
    await page.getByRole('navigation').getByRole('button', { name: 'Compare agents' }).click()
    await page.getByLabel('Prompt for all').fill('Which way is shorter')
    const chosen = [page.getByLabel('Agent of lane 1'), page.getByLabel('Agent of lane 2')]
    assert.deepEqual(await Promise.all(chosen.map((select) => select.inputValue())), ['build', 'claude-code'])
    assert.equal(await page.getByLabel(/in a git worktree of its own/i).isChecked(), true)
    await page.getByRole('button', { name: 'Start 2 lanes' }).click()
    for (const name of ['Build', 'claude-code']) {
      const lane = page.getByRole('region', { name: `Lane ${name}`, exact: true })
      await lane.getByText('The short one.').waitFor()
      await page.getByRole('row', { name: new RegExp(`^${name} .* complete$`) }).waitFor()
    }
    await page.getByRole('region', { name: 'Differences' }).getByText('Neither changed a file.').waitFor()
    const rows = await page.getByRole('table').getByRole('row').allInnerTexts()
    assert.match(rows[1] ?? '', /^Build\s[^]*\$0\.\d{4} estimated\s[^]*complete$/)
    assert.match(rows[2] ?? '', /^claude-code\s[^]*\$0\.\d{4} billed\s[^]*complete$/)
    const [saving] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV', exact: true }).click(),
    ])
    const csv = readFileSync(await saving.path(), 'utf8')
    assert.match(csv, /\r\nBuild,complete,[^]*\r\nclaude-code,complete,/)
    assert.deepEqual(await axeFaults(page), [])
  })
})

async function walk(page: Page, place: Place): Promise<void> {
  const conversation = page.getByRole('region', { name: 'Conversation' })
  const idle = (): Promise<void> => page.getByRole('status').getByText('Idle').waitFor()

  // The first start, a prompt, and an approval in the second tab.
  const address = await place.start()
  await page.goto(address)
  await page.getByText('Nothing waits for you.').waitFor()
  await say(page, 'Sign the first note')
  await page.getByRole('button', { name: 'Allow once' }).waitFor()
  const second = await page.context().newPage()
  await second.goto(address.split('#')[0] ?? '')
  const waits = second.getByRole('region', { name: 'Waits: Sign the first note' })
  await waits.getByLabel('Changes').getByText('first').waitFor()
  assert.equal(place.file('one.txt'), undefined)
  await waits.getByRole('button', { name: 'Allow once' }).click()
  await conversation.getByText('The first note is signed.').waitFor()
  assert.equal(place.file('one.txt'), 'first\n')
  await second.close()
  await idle()

  // A message while a command runs.
  await say(page, 'Wait for me')
  const asking = page.getByRole('region', { name: 'Waits for you' })
  const command = `until [ -e '${join(place.folder, 'gate')}' ]; do sleep 0.1; done; echo waited`
  await asking.getByText(`$ ${command}`, { exact: true }).waitFor()
  assert.match(await asking.innerText(), /Asked because .+\./)
  await asking.getByRole('button', { name: 'Allow once' }).click()
  await page.getByLabel('running', { exact: true }).waitFor()
  await say(page, 'Look out below')
  writeFileSync(join(place.folder, 'gate'), '')
  await conversation.getByText('I heard you.').waitFor()
  await idle()

  // A reload in the middle of a stream.
  await say(page, 'Speak for a while')
  await conversation.getByText('word3 ').waitFor()
  await page.reload()
  await conversation.getByText('word59').waitFor()
  const spoken = conversation.getByLabel('Agent', { exact: true }).filter({ hasText: 'word59' })
  assert.match(await spoken.innerText(), /word0 word1 word2 .*word58 word59/)
  await idle()

  // A crash of the server in the middle of an approval.
  await say(page, 'Sign the second note')
  await page.getByRole('button', { name: 'Allow once' }).waitFor()
  await place.kill()
  await page.getByText('Reconnecting…').waitFor()
  await place.start()
  await page.getByText('Reconnecting…').waitFor({ state: 'detached' })
  assert.equal(place.file('two.txt'), undefined)
  await page.getByRole('button', { name: 'Allow once' }).click()
  await conversation.getByText('The second note is signed.').waitFor()
  assert.equal(place.file('two.txt'), 'second\n')
  await idle()

  // Rewinding: first what it would do, then it.
  const asked = conversation.getByLabel('You', { exact: true }).filter({ hasText: 'Sign the second note' })
  await asked.hover()
  await asked.getByRole('button', { name: 'Rewind' }).click()
  await page.getByRole('dialog').getByText('two.txt').waitFor()
  assert.equal(place.file('two.txt'), 'second\n')
  assert.deepEqual(await axeFaults(page), [])
  await page.getByRole('button', { name: 'Files and conversation' }).click()
  await conversation.getByText('The second note is signed.').waitFor({ state: 'detached' })
  assert.deepEqual([place.file('one.txt'), place.file('two.txt')], ['first\n', undefined])

  // A fork at the first answer.
  await page.keyboard.press('ControlOrMeta+k')
  await page.getByPlaceholder('Type a command or the title of a thread').fill('Sign the first note')
  await page
    .getByRole('dialog')
    .getByRole('option', { name: /^Sign the first note/ })
    .first()
    .click()
  const answered = conversation.getByLabel('Agent', { exact: true }).filter({ hasText: 'note is signed' })
  await answered.hover()
  await answered.getByRole('button', { name: 'Fork here' }).click()
  await page
    .getByRole('navigation')
    .getByRole('button', { name: /^Fork of Sign the first note/ })
    .waitFor()
  await conversation.getByText('Wait for me').waitFor({ state: 'detached' })
  await conversation.getByText('The first note is signed.').waitFor()

  // A comparison, of which one is kept.
  await page.getByRole('navigation').getByRole('button', { name: 'Compare agents' }).click()
  await page.getByLabel('Prompt for all').fill('Which way is shorter')
  await page.getByRole('button', { name: 'Start 2 lanes' }).click()
  const lanes = page.getByRole('region', { name: /^Lane / })
  await lanes.nth(0).getByText('The short one.').waitFor()
  await lanes.nth(1).getByText('The short one.').waitFor()
  await page.getByRole('region', { name: 'Differences' }).getByText('Neither changed a file.').waitFor()
  assert.deepEqual(await axeFaults(page), [])
  await lanes.nth(0).getByRole('button', { name: 'Keep this one' }).click()
  await lanes.nth(0).getByRole('button', { name: 'Really drop the others' }).click()
  await conversation.getByText('The short one.').waitFor()

  // A replay of the first thread.
  await page
    .getByRole('navigation')
    .getByRole('button', { name: /^Sign the first note/ })
    .click()
  await conversation.getByText('word59').waitFor()
  await page.getByRole('button', { name: 'Details' }).click()
  await page.getByRole('region', { name: 'Usage' }).getByText(place.kind.cost).waitFor()
  await page.getByRole('button', { name: 'Replay' }).click()
  await page.getByLabel('Speed').selectOption('20')
  const replayed = page.getByRole('region', { name: 'Replayed conversation' })
  await replayed.getByText('word59').waitFor()
  await page.getByRole('button', { name: 'Play again' }).waitFor()
}
