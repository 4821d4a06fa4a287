// What ⌘K, the list of threads and the list of devices do, in a real browser.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { MemoryStore } from '@inspan/core'
import { createThread } from '@inspan/core/engine'
import type { Browser, Page } from 'playwright-core'
import { axeFaults, openPage, say, startBrowser, startStudio, visit } from './studio.fixture.ts'

const WRITE = { text: 'I will write.', toolCalls: [{ name: 'write_file', input: { path: 'a.txt', content: 'hello' } }] }

async function choose(page: Page, search: string, option: RegExp): Promise<void> {
  await page.keyboard.press('ControlOrMeta+k')
  await page.getByPlaceholder('Type a command or the title of a thread').fill(search)
  await page.getByRole('option', { name: option }).click()
  await page.getByRole('dialog', { name: 'Commands' }).waitFor({ state: 'detached' })
}

describe('the commands of the web page', { timeout: 240_000 }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser.close())

  it('answer what waits, move the queue, rename the thread and rewind it', async () => {
    const bench = await startStudio([WRITE, WRITE, { text: 'Over.' }, { text: 'Second.' }, { text: 'First.' }])
    await visit(browser, bench, async (page) => {
      await say(page, 'Begin')
      await page.getByRole('button', { name: 'Allow once' }).waitFor()
      const box = page.getByLabel('Message', { exact: true })
      const queued = page.getByLabel('Queued messages')
      for (const text of ['One', 'Two', 'Three']) {
        await box.fill(text)
        await page.getByRole('button', { name: 'Queue', exact: true }).click()
        await queued.getByText(text).waitFor()
      }
      await choose(page, 'send first two', /^Send first: Two$/)
      await queued.locator('li:first-child', { hasText: 'Two' }).waitFor()
      await choose(page, 'queue three', /^Remove from the queue: Three$/)
      await queued.getByText('Three').waitFor({ state: 'detached' })
      await choose(page, 'deny', /^Deny: write_file: path: a\.txt, content: hello/)
      await page.getByLabel('denied').waitFor()
      await choose(page, 'allow once', /^Allow once: write_file: path: a\.txt, content: hello/)
      await page.getByText('First.').waitFor()
      const said = await page.getByLabel('You', { exact: true }).allInnerTexts()
      assert.deepEqual(
        said.map((text) => text.split('\n')[0]),
        ['Begin', 'Two', 'One'],
      )
      await page.getByRole('status').getByText('Idle').waitFor()

      await choose(page, 'rename', /^Rename this thread…$/)
      assert.deepEqual(await axeFaults(page), [])
      assert.equal(await page.getByLabel('New title').inputValue(), 'Begin')
      await page.getByLabel('New title').fill('The new title')
      await page.keyboard.press('Enter')
      await page
        .getByRole('navigation')
        .getByRole('button', { name: /^The new title/ })
        .waitFor()
      assert.equal(await page.getByLabel('Title of the thread').inputValue(), 'The new title')

      await choose(page, 'rewind', /^Rewind to before the last prompt…$/)
      await page.getByRole('button', { name: 'Conversation only' }).click()
      await page.getByText('First.').waitFor({ state: 'detached' })
      await page.getByText('Second.').waitFor()
    })
  })

  it('find threads that the list does not show, and are in reach on the first screen of a phone', async () => {
    const store = new MemoryStore()
    for (let index = 0; index < 120; index++) {
      await createThread(store, { resourceId: 'studio', title: `Number ${String(index).padStart(3, '0')}` })
    }
    await visit(browser, await startStudio([], store), async (page) => {
      const listed = page.getByRole('navigation').getByRole('button', { name: /^Number \d+/ })
      await page.getByRole('button', { name: 'Show more threads' }).waitFor()
      assert.equal(await listed.count(), 100)
      await page.getByLabel('Search threads').fill('Number 119')
      await page.getByRole('navigation').getByText('Number 118').waitFor({ state: 'detached' })
      await page.setViewportSize({ width: 390, height: 800 })
      await page.getByRole('button', { name: 'Show threads' }).click()
      await page.getByRole('button', { name: 'All commands (⌘K)' }).click()
      await page.getByPlaceholder('Type a command or the title of a thread').fill('number 001')
      await page.getByRole('option', { name: 'Number 001' }).click()
      await page.getByText('Nothing was said here yet.').waitFor()
      await page.getByRole('heading', { name: 'Number 001' }).waitFor({ state: 'attached' })
      assert.equal(await page.getByLabel('Title of the thread').inputValue(), 'Number 001')
      await page.setViewportSize({ width: 1100, height: 800 })
      await page.getByLabel('Search threads').fill('')
      // Which threads are on the first page is open: those of one millisecond are in any order.
      await page.getByRole('button', { name: 'Show more threads' }).click()
      await page.getByRole('button', { name: 'Show more threads' }).waitFor({ state: 'detached' })
      assert.equal(await listed.count(), 120)
    })
  })

  it('pair another browser with an address that works once, and revoke it', async () => {
    const bench = await startStudio([{ text: 'For both.' }])
    const other = await (await browser.newContext()).newPage()
    await visit(browser, bench, async (page) => {
      await say(page, 'Speak')
      await page.getByText('For both.').waitFor()
      await choose(page, 'devices', /^Devices/)
      const devices = page.getByRole('list', { name: 'Devices' }).getByRole('listitem')
      await devices.filter({ hasText: /^Chrome on Linux/ }).waitFor()
      await page.getByRole('button', { name: 'Pair another browser' }).click()
      const address = await page.getByLabel('Address for the other browser').innerText()
      assert.deepEqual(await axeFaults(page), [])
      await page.getByRole('button', { name: 'Close' }).click()

      await other.goto(address)
      await other.getByRole('region', { name: 'Recent' }).getByText('Speak').waitFor()
      assert.doesNotMatch(other.url(), /code/)
      const third = await (await browser.newContext()).newPage()
      await third.goto(address)
      await third
        .getByRole('alert')
        .getByText(/wrong, used or too old/)
        .waitFor()
      await third.context().close()

      await choose(page, 'devices', /^Devices/)
      await devices
        .filter({ hasText: /^Chrome on Linux/ })
        .nth(1)
        .waitFor()
      await devices.last().getByRole('button', { name: 'Revoke Chrome on Linux' }).click()
      await devices
        .filter({ hasText: /^Chrome on Linux/ })
        .nth(1)
        .waitFor({ state: 'detached' })
      await other.getByText('Disconnected.').waitFor()
      await other.reload()
      await other.getByLabel('One-time code').waitFor()
    })
    await other.context().close()
  })

  it('take a denial back before it is sent', async () => {
    const bench = await startStudio([WRITE, { text: 'Written.' }])
    const page = await openPage(browser, bench)
    try {
      await say(page, 'Write')
      await page.getByRole('button', { name: 'Deny…' }).click()
      await page.getByLabel('Reason, told to the agent').fill('No')
      await page.getByRole('button', { name: 'Back' }).click()
      await page.getByRole('button', { name: 'Deny…' }).waitFor()
      await page.getByRole('button', { name: 'Allow once' }).click()
      await page.getByText('Written.').waitFor()
    } finally {
      await bench.close()
      await page.context().close()
    }
  })
})
