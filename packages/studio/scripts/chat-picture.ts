// Takes the picture of the chat in a terminal that the README shows: `node packages/studio/scripts/chat-picture.ts <file>`.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import Anser from 'anser'
import { chromium } from 'playwright-core'

const [file] = process.argv.slice(2)
if (file === undefined) throw new Error('Give the name of the picture.')
const folder = mkdtempSync(join(tmpdir(), 'inspan-picture-'))
for (const name of ['README.md', 'package.json', 'index.ts']) writeFileSync(join(folder, name), '')
const inspan = fileURLToPath(new URL('../../inspan/bin/inspan.js', import.meta.url))
const tmux = (...args: readonly string[]): string =>
  execFileSync('tmux', ['-f', '/dev/null', '-S', join(folder, '.tmux'), ...args], { encoding: 'utf8' })

async function until(shown: RegExp): Promise<void> {
  while (!shown.test(tmux('capture-pane', '-p'))) await sleep(100)
}

const chat = `INSPAN_HOME='${join(folder, '.home')}' '${process.execPath}' '${inspan}' chat`
tmux('new-session', '-d', '-x', '92', '-y', '24', '-c', folder, chat)
await until(/Type a message/)
tmux('send-keys', '-l', 'What is in this folder?')
tmux('send-keys', 'Enter')
await until(/y allow once/)
tmux('send-keys', 'y')
await until(/There are 3 entries/)
tmux('send-keys', '-l', 'And now?')
tmux('send-keys', 'Enter')
await until(/y allow once/)
const html = Anser.ansiToHtml(Anser.escapeForHtml(tmux('capture-pane', '-p', '-e')))
tmux('kill-server')
rmSync(folder, { recursive: true, force: true })

const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
})
const page = await browser.newPage({ viewport: { width: 900, height: 480 } })
await page.setContent(
  `<body style="margin:0;background:#18181b"><pre style="margin:0;padding:16px;color:#e4e4e7;font:14px/1.3 monospace">${html}</pre>`,
)
await page.locator('pre').screenshot({ path: file })
await browser.close()
