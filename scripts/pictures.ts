/**
 * `node scripts/pictures.ts [folder]` takes the pictures of the pages again: an agent with a scripted model asks whether
 * it may change a file, on the web page in Chromium and in the chat in tmux. Both show the same thread. The default
 * folder is docs/pictures.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Agent, Harness, Workspace } from '@inspan/core'
import { serve, type InspanServer } from '@inspan/server'
import { preparedPages } from '@inspan/studio'
import { scriptedModel } from '@inspan/testing'
import Anser from 'anser'
import { chromium, type Browser } from 'playwright-core'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = resolve(process.argv[2] ?? join(root, 'docs/pictures'))
const base = await mkdtemp(join(tmpdir(), 'inspan-pictures-'))
const project = join(base, 'project')
const PROMPT = 'Raise the timeout to 30 seconds'
const PATH = 'src/config.ts'
const BEFORE = 'export const retries = 3\nexport const timeoutMs = 5_000\n'
const COLUMNS = 90
const ROWS = 26

await mkdir(join(project, 'src'), { recursive: true })
await writeFile(join(project, PATH), BEFORE)
const model = scriptedModel([
  {
    reasoning: 'The timeout must be somewhere in the configuration.',
    text: 'Let me look at **config.ts** first:',
    toolCalls: [{ name: 'read_file', input: { path: PATH } }],
  },
  {
    text: 'The timeout is 5 seconds. I will raise it to 30:',
    toolCalls: [{ name: 'write_file', input: { path: PATH, content: BEFORE.replace('5_000', '30_000') } }],
  },
])
const harness = new Harness({
  id: 'pictures',
  agent: new Agent({ id: 'assistant', model }),
  workspace: new Workspace({ root: project }),
  permissions: { categories: { read: 'allow' } },
  modes: [
    { id: 'build', name: 'Build' },
    { id: 'plan', name: 'Plan' },
  ],
})
const server = await serve({ harness, pages: await preparedPages() })
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
if (!existsSync(executablePath)) throw new Error(`There is no browser at ${executablePath}: apt-get install chromium`)
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
try {
  await mkdir(folder, { recursive: true })
  await takeStudio(browser, server)
  await takeChat(browser, server)
} finally {
  await browser.close()
  await server.close()
  await harness.destroy()
  await rm(base, { recursive: true, force: true })
}

async function takeStudio(chrome: Browser, served: InspanServer): Promise<void> {
  const page = await chrome.newPage({ viewport: { width: 1100, height: 720 } })
  await page.goto(served.url)
  await page.getByLabel('One-time code').fill(served.pair().code)
  await page.getByRole('button', { name: 'Connect' }).click()
  const message = page.getByLabel('Message', { exact: true })
  await message.fill(PROMPT)
  await message.press('Enter')
  await page.getByRole('button', { name: 'Allow once' }).waitFor()
  await page
    .getByRole('navigation')
    .getByRole('button', { name: new RegExp(`^${PROMPT}`) })
    .waitFor()
  // The colours of code come a moment after the code.
  await page.getByLabel('Changes').locator('span[style]').first().waitFor()
  await message.blur()
  await page.screenshot({ path: join(folder, 'studio.png'), animations: 'disabled' })
  await page.close()
}

async function takeChat(chrome: Browser, { token, url }: InspanServer): Promise<void> {
  const socket = join(base, 'tmux')
  const tmux = (...args: readonly string[]): string =>
    execFileSync('tmux', ['-f', '/dev/null', '-S', socket, ...args], { encoding: 'utf8' })
  const inspan = `'${process.execPath}' '${join(root, 'packages/inspan/bin/inspan.js')}'`
  const env = `INSPAN_TOKEN='${token}' INSPAN_HOME='${join(base, 'home')}'`
  const size = ['-x', String(COLUMNS), '-y', String(ROWS)]
  tmux('new-session', '-d', ...size, '-c', project, `${env} ${inspan} chat --connect ${url} --continue`)
  try {
    const screen = await shown(() => tmux('capture-pane', '-p', '-e'), /y allow once/)
    const page = await chrome.newPage({ viewport: { width: 900, height: 600 } })
    await page.setContent(
      `<body style="margin:0;background:#18181b;color:#f4f4f5"><pre style="margin:0;padding:16px;font:14px/18px 'DejaVu Sans Mono',monospace">${Anser.ansiToHtml(Anser.escapeForHtml(screen.trimEnd()))}</pre>`,
    )
    await page.locator('pre').screenshot({ path: join(folder, 'chat.png') })
    await page.close()
  } finally {
    tmux('kill-server')
  }
}

/** Reads the screen again and again, because tmux does not report changes. */
async function shown(read: () => string, expected: RegExp): Promise<string> {
  const deadline = Date.now() + 60_000
  for (;;) {
    const screen = read()
    if (expected.test(screen)) return screen
    if (Date.now() > deadline) throw new Error(`The chat never showed ${expected}. It shows:\n${screen}`)
    await delay(100)
  }
}
