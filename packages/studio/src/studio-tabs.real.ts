// Answers from two tabs, runs that are ended or fail, and cards by activity, in a real browser.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Agent, createTool, MemoryStore } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'
import type { Browser, Page } from 'playwright-core'
import { axeFaults, openPage, say, startBrowser, startStudio, visit, type StudioBench } from './studio.fixture.ts'

describe('the web page in two tabs', { timeout: 240_000 }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser.close())

  async function secondTab(page: Page, bench: StudioBench): Promise<Page> {
    const second = await page.context().newPage()
    await second.goto(`${bench.server.url}/#${page.url().split('#')[1] ?? ''}`)
    return second
  }

  it('takes one of two approvals that are given at once', async () => {
    let calls = 0
    const count = createTool({ id: 'count', description: 'Counts.', category: 'edit', execute: () => ++calls })
    const script = [{ toolCalls: [{ name: 'count', input: {} }] }, { text: 'Counted.' }]
    const agent = new Agent({ id: 'me', model: scriptedModel(script), tools: [count] })
    const bench = await startStudio([], new MemoryStore(), { agent })
    await visit(browser, bench, async (page) => {
      await say(page, 'Count')
      await page.getByRole('button', { name: 'Allow once' }).waitFor()
      const second = await secondTab(page, bench)
      await second.getByRole('button', { name: 'Allow once' }).waitFor()
      const press = `[...document.querySelectorAll('button')].find((each) => each.textContent === 'Allow once').click()`
      await Promise.all([page.evaluate(press), second.evaluate(press)])
      for (const tab of [page, second]) {
        await tab.getByLabel('Conversation').getByText('Counted.').waitFor()
        await tab.getByRole('region', { name: 'Waits for you' }).waitFor({ state: 'detached' })
      }
      assert.equal(calls, 1)
    })
  })

  it('takes the answer to a question and to a plan from the other tab', async () => {
    const options = [{ label: 'Red' }, { label: 'Blue' }]
    const bench = await startStudio([
      { toolCalls: [{ name: 'ask_user', input: { question: 'Which colour?', options } }] },
      {
        toolCalls: [
          { name: 'ask_user', input: { question: 'Which of them?', options, selectionMode: 'multi_select' } },
        ],
      },
      { toolCalls: [{ name: 'ask_user', input: { question: 'Which name?' } }] },
      { toolCalls: [{ name: 'submit_plan', input: { title: 'Paint', plan: '1. Paint it' } }] },
      { text: 'Then another plan.' },
    ])
    await visit(browser, bench, async (page) => {
      await say(page, 'Ask')
      await page.getByRole('button', { name: 'Blue' }).waitFor()
      const second = await secondTab(page, bench)
      await second.getByRole('button', { name: 'Blue' }).click()
      // Each tab answers what the other one has brought up.
      await page.getByRole('region', { name: 'Waits for you' }).getByText('Which of them?').waitFor()
      await page.getByRole('button', { name: 'Red' }).click()
      await page.getByRole('button', { name: 'Answer' }).click()
      await second.getByLabel('Your answer').fill('Ada')
      await second.getByRole('button', { name: 'Answer' }).click()
      await page.getByText('Approve this plan? Paint').waitFor()
      await second.getByRole('button', { name: 'Reject…' }).click()
      await second.getByLabel('Reason, told to the agent').fill('Not today')
      await second.getByRole('button', { name: 'Reject', exact: true }).click()
      await page.getByText('Then another plan.').waitFor()
      await page.getByText('Approve this plan?').waitFor({ state: 'detached' })
    })
  })

  it('ends a run by its button and by Escape, and forgets a message that was queued', async () => {
    const long = { text: Array.from({ length: 2000 }, (_, index) => `word${index} `), delayPerDeltaMs: 50 }
    const bench = await startStudio([long, long, { text: 'Only this.' }])
    await visit(browser, bench, async (page) => {
      const box = page.getByLabel('Message', { exact: true })
      const ended = page.getByRole('status').getByText('Idle')
      await say(page, 'Speak')
      await page.getByText('word3 ').waitFor()
      await box.fill('Never this')
      await box.press('Alt+Enter')
      await page.getByLabel('Queued messages').getByText('Never this').waitFor()
      await page.getByRole('button', { name: 'Remove from the queue' }).click()
      await page.getByLabel('Queued messages').waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Cancel the run' }).click()
      await ended.waitFor()
      await say(page, 'Again')
      await page.getByLabel('Agent', { exact: true }).nth(1).getByText('word3 ').waitFor()
      await box.press('Escape')
      await ended.waitFor()
      await say(page, 'Now')
      await page.getByText('Only this.').waitFor()
      const said = await page.getByLabel('You', { exact: true }).allInnerTexts()
      assert.deepEqual(
        said.map((text) => text.split('\n')[0]),
        ['Speak', 'Again', 'Now'],
      )
    })
  })

  it('shows what went wrong and what to do about it, until the next run', async () => {
    const bench = await startStudio([
      { error: { status: 401, message: 'invalid x-api-key' } },
      { text: 'It works now.' },
    ])
    await visit(browser, bench, async (page) => {
      await say(page, 'Try')
      await page
        .getByText(/invalid x-api-key.*key/i)
        .first()
        .waitFor()
      await page.getByRole('status').getByText('Failed').waitFor()
      assert.deepEqual(await axeFaults(page), [])
      await say(page, 'Try again')
      await page.getByText('It works now.').waitFor()
      await page.getByText(/invalid x-api-key/).waitFor({ state: 'detached' })
    })
  })

  it('shows why something was not done, until that is dismissed', async () => {
    const call = { name: 'write_file', input: { path: 'a.txt', content: 'hello' } }
    const bench = await startStudio([{ toolCalls: [call] }, { text: 'Written.' }])
    await visit(browser, bench, async (page) => {
      await say(page, 'Write')
      await page.getByRole('button', { name: 'Allow once' }).waitFor()
      await page.getByLabel('You', { exact: true }).hover()
      await page.getByRole('button', { name: 'Rewind' }).click()
      await page.getByRole('button', { name: 'Conversation only' }).click()
      const refused = page.getByText(/^Not done: .*run/)
      await refused.waitFor()
      await page.getByRole('button', { name: 'Dismiss' }).click()
      await refused.waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Allow once' }).click()
      await page.getByText('Written.').waitFor()
    })
  })

  it('says what to do when a part of it is gone after an update', async () => {
    await visit(browser, await startStudio([]), async (page) => {
      await page.route('**/assets/compare-page*', (route) => route.fulfill({ status: 404 }))
      await page.getByRole('navigation').getByRole('button', { name: 'Compare agents' }).click()
      await page.getByRole('alert').getByText('After an update of the server, load the page again.').waitFor()
      assert.deepEqual(await axeFaults(page), [])
      await page.unroute('**/assets/compare-page*')
      await page.getByRole('button', { name: 'Load the page again' }).click()
      await page.getByLabel('Prompt for all').waitFor()
    })
  })

  it('shows each call by what it does: read, write, search, list, skill', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-kinds-'))
    await writeFile(join(folder, 'note.txt'), 'one\ntwo\n')
    await mkdir(join(folder, 'skills', 'paint'), { recursive: true })
    const skill = '---\nname: paint\ndescription: How to paint.\n---\nTake a brush.\n'
    await writeFile(join(folder, 'skills', 'paint', 'SKILL.md'), skill)
    const calls = [
      { name: 'list_files', input: { path: '.' } },
      { name: 'read_file', input: { path: 'note.txt' } },
      { name: 'grep', input: { pattern: 'two' } },
      { name: 'skill', input: { name: 'paint' } },
      { name: 'edit_file', input: { path: 'note.txt', old_string: 'two', new_string: 'three' } },
    ]
    const model = scriptedModel([...calls.map((call) => ({ toolCalls: [call] })), { text: 'All done.' }])
    const bench = await startStudio([], new MemoryStore(), {
      agent: new Agent({ id: 'me', model }),
      workspace: { root: folder },
      skills: [join(folder, 'skills')],
      permissions: { categories: { read: 'allow', edit: 'allow', other: 'allow' } },
    })
    await visit(browser, bench, async (page) => {
      await say(page, 'Do all of it')
      await page.getByText('All done.').waitFor()
      const kinds = await Promise.all(
        calls.map(({ name }) =>
          page
            .getByRole('button', { name: new RegExp(`^${name} `) })
            .locator('svg')
            .first()
            .getAttribute('class'),
        ),
      )
      const icons = ['folder-tree', 'file-text', 'search', 'sparkles', 'pencil']
      for (const [index, icon] of icons.entries()) {
        assert.match(kinds[index] ?? '', new RegExp(`lucide-${icon}\\b`), calls[index]?.name)
      }
      await page.getByRole('button', { name: /^grep two/ }).click()
      await page.getByLabel('Output').getByText('note.txt').waitFor()
      await page.getByRole('button', { name: /^edit_file note\.txt/ }).click()
      assert.match(await page.getByLabel('Changes').innerText(), /- two\s+\+ three/)
      assert.equal(await readFile(join(folder, 'note.txt'), 'utf8'), 'one\nthree\n')
    })
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })

  it('is used by two people who have a code each', async () => {
    const bench = await startStudio([{ text: 'For both.' }])
    const [one, other] = [await openPage(browser, bench), await openPage(browser, bench)]
    await say(one, 'Speak to both')
    await other
      .getByRole('navigation')
      .getByRole('button', { name: /^Speak to both/ })
      .click()
    await other.getByLabel('Conversation').getByText('For both.').waitFor()
    await bench.close()
    for (const page of [one, other]) await page.context().close()
  })
})
