// Takes the picture of the web page that the README shows: `node packages/studio/scripts/picture.ts <file>`.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, MemoryStore } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'
import { chromium } from 'playwright-core'
import { startStudio } from '../src/studio.fixture.ts'

const [file] = process.argv.slice(2)
if (file === undefined) throw new Error('Give the name of the picture.')
const folder = mkdtempSync(join(tmpdir(), 'inspan-picture-'))
mkdirSync(join(folder, 'src'))
writeFileSync(join(folder, 'src/config.ts'), 'export const retries = 3\nexport const timeoutMs = 5_000\n')
const content = 'export const retries = 3\nexport const timeoutMs = 30_000\n'
const model = scriptedModel([
  {
    reasoning: 'The file has to be looked at before it is changed.',
    text: 'Let me look at **config.ts** first:',
    toolCalls: [{ name: 'read_file', input: { path: 'src/config.ts' } }],
  },
  {
    text: 'The timeout is 5 seconds. I will raise it to 30:',
    toolCalls: [{ name: 'write_file', input: { path: 'src/config.ts', content } }],
  },
  { text: 'Done.' },
])
const agent = new Agent({ id: 'me', model })
const bench = await startStudio([], new MemoryStore(), { agent, workspace: { root: folder } })
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
})
const page = await browser.newPage({ viewport: { width: 1100, height: 720 } })
await page.goto(`${bench.server.url}/#code=${bench.server.pair().code}`)
await page.getByLabel('Message', { exact: true }).fill('Raise the timeout to 30 seconds')
await page.getByLabel('Message', { exact: true }).press('Enter')
await page.getByRole('button', { name: 'Allow once' }).waitFor()
// What comes a moment later belongs to the picture, too: the title in the list, and the colours of the code.
const title = /^Raise the timeout to 30 seconds/
await page.getByRole('navigation').getByRole('button', { name: title }).waitFor()
await page.getByText('Replaces the file that is there:').waitFor()
await page.getByLabel('Changes').locator('.code-token').first().waitFor()
await page.screenshot({ path: file })
await browser.close()
await bench.close()
rmSync(folder, { recursive: true, force: true })
