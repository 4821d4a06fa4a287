/** The examples that need a coding agent or a browser, with packed packages, real programs and scripted models. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { playProgram, startWebChat } from './pack-test/examples.ts'
import { installPacked, packAll } from './pack-test/packed.ts'
import { run } from './pack-test/run.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const TEST_MS = 20 * 60_000
const base = await realpath(await mkdtemp(join(tmpdir(), 'inspan-packed-')))
const consumer = join(base, 'consumer')
const places = { root, copy: join(base, 'workspace'), tarballs: join(base, 'tarballs'), consumer }

before(
  async () => {
    await packAll(places)
    const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      devDependencies: Readonly<Record<string, string>>
    }
    await installPacked(
      places,
      ['esbuild', 'react', 'react-dom'].map((name) => `${name}@${devDependencies[name]}`),
    )
    await cp(join(root, 'examples'), join(consumer, 'examples'), { recursive: true })
  },
  { timeout: TEST_MS },
)

after(() => rm(base, { recursive: true, force: true }))

interface Place {
  readonly work: string
  readonly env: NodeJS.ProcessEnv
}

/** Makes a project folder and a home of its own, and installs the agent. */
async function place(t: TestContext, agent: string, variable: string): Promise<Place> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'inspan-examples-')))
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }))
  const [work, home, temp] = [join(folder, 'work'), join(folder, 'home'), join(folder, 'temp')]
  for (const each of [work, home, temp]) await mkdir(each)
  await writeFile(join(work, 'README.md'), '# A project\n')
  await run('git', ['init', '--quiet'], { cwd: work })
  const installed = await run(process.execPath, ['packages/adapters/test/real/install-cli.ts', agent], { cwd: root })
  // Codex does not install the helper of its sandbox below the temporary directory, and then no command runs.
  return { work, env: { HOME: home, TMPDIR: temp, CODEX_HOME: undefined, [variable]: installed.trim() } }
}

function play(example: string, { env, work }: Place, input = ''): ReturnType<typeof playProgram> {
  return playProgram(process.execPath, [join(consumer, 'examples', example, 'main.ts'), '--scripted'], work, input, env)
}

describe('examples with real agents', () => {
  it('Claude Code runs a command that was approved', { timeout: TEST_MS }, async (t) => {
    const here = await place(t, 'claude-code', 'INSPAN_CLAUDE_CODE_BIN')
    const { stdout, code } = await play('claude-code-approvals', here, 'y\n')
    assert.equal(code, 0)
    assert.match(stdout, /May it run .*touch made\.txt.*\? \[y\/n\] /s)
    assert.match(stdout, /Done\./)
    assert.ok(existsSync(join(here.work, 'made.txt')))
  })

  it('Claude Code does not run a command that was declined', { timeout: TEST_MS }, async (t) => {
    const here = await place(t, 'claude-code', 'INSPAN_CLAUDE_CODE_BIN')
    await play('claude-code-approvals', here, 'n\n')
    assert.ok(!existsSync(join(here.work, 'made.txt')))
  })

  it('Codex reports on a repository', { timeout: TEST_MS }, async (t) => {
    const { stdout, code } = await play('codex-ci-report', await place(t, 'codex', 'INSPAN_CODEX_BIN'))
    assert.equal(code, 0)
    assert.match(stdout, /^# Review by Codex\n\nThe repository has a README and no tests\.\n/)
    assert.match(stdout, /^\| looked at \| (?!nothing)/m)
    assert.match(stdout, /^\| tokens \| [1-9]/m)
  })
})

describe('the web chat', () => {
  it('answers a person in a browser, once it was let in by its code', { timeout: TEST_MS }, async (t) => {
    const { server, address } = await startWebChat(process.execPath, consumer)
    t.after(async () => {
      server.kill('SIGTERM')
      await once(server, 'close')
    })
    const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
    t.after(() => browser.close())
    const page = await browser.newPage()
    await page.goto(address)
    await page.getByLabel('Message').fill('Hi')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('Hello from the server.').waitFor()
    assert.deepEqual(await page.getByRole('listitem').allInnerTexts(), ['Hi', 'Hello from the server.'])
    await page.reload()
    await page.getByText('Hello from the server.').waitFor()
  })
})
