// Takes the picture of the web page that the README shows: `node packages/studio/scripts/picture.ts <file>`.
import { chromium } from 'playwright-core'
import { startStudio } from '../src/studio.fixture.ts'

const [file] = process.argv.slice(2)
if (file === undefined) throw new Error('Give the name of the picture.')
const bench = await startStudio([
  {
    reasoning: 'The file has to be looked at before it is changed.',
    text: 'Let me look at **config.ts** first:',
    toolCalls: [{ name: 'read_file', input: { path: 'src/config.ts' } }],
  },
  {
    text: 'The timeout is 5 seconds. I will raise it to 30:',
    toolCalls: [{ name: 'write_file', input: { path: 'src/config.ts', content: 'export const timeoutMs = 30_000' } }],
  },
  { text: 'Done.' },
])
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
})
const page = await browser.newPage({ viewport: { width: 1100, height: 720 } })
await page.goto(`${bench.server.url}/#code=${bench.server.pair().code}`)
await page.getByLabel('Message', { exact: true }).fill('Raise the timeout to 30 seconds')
await page.getByLabel('Message', { exact: true }).press('Enter')
await page.getByRole('button', { name: 'Allow once' }).waitFor()
await page.screenshot({ path: file })
await browser.close()
await bench.close()
