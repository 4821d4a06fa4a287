// What people do on the web page besides talking, in a real browser.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import type { Comparison } from '@inspan/client/compare'
import type { Browser } from 'playwright-core'
import { say, startBrowser, startStudio, visit } from './studio.fixture.ts'

const WRITE = { text: 'I will write.', toolCalls: [{ name: 'write_file', input: { path: 'a.txt', content: 'hello' } }] }

describe('the web page at work', { timeout: 240_000 }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser.close())

  it('says first what needs you in any thread, and takes the answer there', async () => {
    const bench = await startStudio([{ text: 'Nothing to do.' }, WRITE, { text: 'It is written.' }])
    await visit(browser, bench, async (page) => {
      await page.getByText('Nothing waits for you.').waitFor()
      await say(page, 'Rest')
      await page.getByText('Nothing to do.').waitFor()
      await page.getByRole('button', { name: 'New thread' }).click()
      await page.getByText('Nothing was said here yet.').waitFor()
      await say(page, 'Write')
      await page.getByRole('button', { name: 'Allow once' }).waitFor()
      await page.getByRole('button', { name: 'Rest' }).click()
      await page.getByText('Nothing to do.').waitFor()
      await page.getByRole('button', { name: /Needs you/ }).click()
      const waiting = page.getByRole('region', { name: 'Waits: Write' })
      assert.match(await waiting.innerText(), /Asked because no rule allows/)
      const regions = await page.getByRole('region').all()
      const order = await Promise.all(regions.map((region) => region.getAttribute('aria-label')))
      assert.deepEqual(order, ['Waits: Write', 'Recent'])
      await waiting.getByRole('button', { name: 'Allow once' }).click()
      await waiting.waitFor({ state: 'detached' })
      await page.getByRole('region', { name: 'Recent' }).getByRole('button', { name: /Write/ }).click()
      await page.getByText('It is written.').waitFor()
    })
  })

  it('compares two lanes, declines what needs an approval, exports, and keeps one', async () => {
    const bench = await startStudio([
      WRITE,
      { text: 'The first answer.', usage: { inputTokens: 100, outputTokens: 30 } },
      { text: 'The second answer.', usage: { inputTokens: 90, outputTokens: 20 } },
    ])
    await visit(browser, bench, async (page) => {
      await page.getByRole('navigation').getByRole('button', { name: 'Compare agents' }).click()
      await page.getByLabel('Prompt for all').fill('Which is better?')
      await page.getByRole('button', { name: 'Start 2 lanes' }).click()
      await page.getByRole('region', { name: 'Lane Build' }).getByText('The first answer.').waitFor()
      await page.getByRole('region', { name: 'Lane Plan' }).getByText('The second answer.').waitFor()
      await page.getByRole('region', { name: 'Lane Build' }).getByLabel('denied').waitFor()
      const differences = page.getByRole('region', { name: 'Differences' })
      assert.match(await differences.innerText(), /- The first answer\.\s+\+ The second answer\./)
      const rows = await page.getByRole('table').getByRole('row').allInnerTexts()
      assert.match(rows[1] ?? '', /^Build\s+\d+\.\d s\s+100\s+30\s+–\s+0\s+0\s+complete$/)
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'JSON' }).click(),
      ])
      const exported = JSON.parse(await readFile(await file.path(), 'utf8')) as Comparison
      assert.deepEqual(
        exported.lanes.map(({ name, outputTokens }) => [name, outputTokens]),
        [
          ['Build', 30],
          ['Plan', 20],
        ],
      )
      // The comparison is in the address: a reload shows it again and asks nobody twice.
      await page.reload()
      await page.getByRole('region', { name: 'Lane Plan' }).getByText('The second answer.').waitFor()
      assert.match(await differences.innerText(), /- The first answer\.\s+\+ The second answer\./)
      const lane = page.getByRole('region', { name: 'Lane Plan' })
      await lane.getByRole('button', { name: 'Keep this one' }).click()
      await lane.getByRole('button', { name: 'Really drop the others' }).click()
      await page.getByLabel('Conversation').getByText('The second answer.').waitFor()
      await page.getByRole('button', { name: 'Build: Which is better?' }).waitFor({ state: 'detached' })
    })
  })

  it('lists what is always allowed and takes it back', async () => {
    const bench = await startStudio([WRITE, WRITE, { text: 'Twice.' }, WRITE, { text: 'Asked again.' }])
    await visit(browser, bench, async (page) => {
      await say(page, 'Write')
      await page.getByRole('button', { name: 'Always allow write_file in this thread' }).click()
      await page.getByText('Twice.').waitFor()
      await page.getByRole('button', { name: 'Details' }).click()
      await page.getByText('Always allowed: write_file').waitFor()
      await page.getByRole('button', { name: 'Revoke' }).click()
      await page.getByText('Nothing is always allowed here.').waitFor()
      await say(page, 'Write again')
      await page.getByRole('button', { name: 'Allow once' }).click()
      await page.getByText('Asked again.').waitFor()
    })
  })

  it('steers a run, queues messages and puts them in another order', async () => {
    const bench = await startStudio([
      { ...WRITE, text: 'I will write.' },
      { text: 'Steered.' },
      { text: 'Second in the queue.' },
      { text: 'First in the queue.' },
    ])
    await visit(browser, bench, async (page) => {
      await say(page, 'Begin')
      await page.getByRole('button', { name: 'Allow once' }).waitFor()
      const box = page.getByLabel('Message', { exact: true })
      for (const text of ['One', 'Two']) {
        await box.fill(text)
        await box.press('Alt+Enter')
        await page.getByLabel('Queued messages').getByText(text).waitFor()
      }
      await page.getByRole('button', { name: 'Send later' }).click()
      await page.getByLabel('Queued messages').locator('li:first-child', { hasText: 'Two' }).waitFor()
      await say(page, 'Look out')
      await page.getByRole('button', { name: 'Allow once' }).click()
      await page.getByText('First in the queue.').waitFor()
      const said = await page.getByLabel('You', { exact: true }).allInnerTexts()
      assert.deepEqual(
        said.map((text) => text.split('\n')[0]),
        ['Begin', 'Look out', 'Two', 'One'],
      )
    })
  })

  it('does everything by ⌘K: a mode, a prompt to jump to, a theme', async () => {
    const long = Array.from({ length: 80 }, (_, index) => `line ${index}\n\n`).join('')
    const bench = await startStudio([{ text: long }, { text: 'Short.' }])
    await visit(browser, bench, async (page) => {
      await say(page, 'The very first prompt')
      await page.getByText('line 79').waitFor()
      await say(page, 'And then')
      await page.getByText('Short.').waitFor()
      const choose = async (search: string): Promise<void> => {
        await page.keyboard.press('ControlOrMeta+k')
        await page.getByPlaceholder('Type a command or the title of a thread').fill(search)
        await page.keyboard.press('Enter')
      }
      await choose('Mode: Plan')
      await page.locator('select[aria-label=Mode] option[value=plan]:checked').waitFor({ state: 'attached' })
      await choose('The very first prompt')
      await page.getByLabel('You', { exact: true }).getByText('The very first prompt').waitFor()
      await choose('Dark theme')
      await page.locator('html.dark').waitFor()
    })
  })
})
