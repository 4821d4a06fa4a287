// What people do on the web page besides talking, in a real browser.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import type { Comparison } from '@inspan/client/compare'
import type { Browser } from 'playwright-core'
import { Agent, MemoryStore } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'
import { axeFaults, say, startBrowser, startStudio, visit } from './studio.fixture.ts'

const WRITE = { text: 'I will write.', toolCalls: [{ name: 'write_file', input: { path: 'a.txt', content: 'hello' } }] }

describe('the web page at work', { timeout: 240_000 }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser.close())

  it('shows first what needs you in any thread, and takes the answer there', async () => {
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

  it('shows what waits first, then what runs, then what is recent', async () => {
    const long = { text: Array.from({ length: 2000 }, (_, index) => `word${index} `), delayPerDeltaMs: 50 }
    const bench = await startStudio([{ text: 'Done.' }, long, WRITE])
    await visit(browser, bench, async (page) => {
      const home = page.getByRole('button', { name: /Needs you/ })
      const conversation = page.getByRole('region', { name: 'Conversation' })
      await say(page, 'Rest')
      await conversation.getByText('Done.').waitFor()
      await home.click()
      await say(page, 'Speak')
      await conversation.getByText('word3 ').waitFor()
      await home.click()
      await say(page, 'Write')
      await page.getByRole('button', { name: 'Allow once' }).waitFor()
      await home.click()
      await page.getByRole('region', { name: 'Waits: Write' }).waitFor()
      await page.getByRole('region', { name: 'Running' }).getByText('Speak').waitFor()
      await page.getByRole('region', { name: 'Recent' }).getByText('Rest').waitFor()
      const regions = await page.getByRole('region').all()
      assert.deepEqual(await Promise.all(regions.map((region) => region.getAttribute('aria-label'))), [
        'Waits: Write',
        'Running',
        'Recent',
      ])
    })
  })

  it('chooses the model before a thread begins, and another one later', async () => {
    const ids = ['test/one', 'test/two', 'test/three']
    const bench = await startStudio([], new MemoryStore(), {
      agent: new Agent({ id: 'me', model: scriptedModel([]) }),
      resolveModel: (id) => scriptedModel([{ text: `I am ${id}.`, repeat: true }]),
      modes: [{ id: 'build', defaultModelId: 'test/one' }],
      customModelCatalogProvider: () => ids.map((id) => ({ id, hasApiKey: true })),
    })
    await visit(browser, bench, async (page) => {
      await page.getByLabel('Model').selectOption('test/two')
      await say(page, 'Who are you?')
      await page.getByText('I am test/two.').waitFor()
      await page.getByLabel('Model').selectOption('test/three')
      await say(page, 'And now?')
      await page.getByText('I am test/three.').waitFor()
    })
  })

  it('shows also what waits in other projects, and how to continue it there', async () => {
    const storage = new MemoryStore()
    const other = await startStudio([WRITE], storage, { resourceId: '/projects/the other' })
    await visit(browser, other, async (page) => {
      await say(page, 'Write over there')
      await page.getByRole('button', { name: 'Allow once' }).waitFor()
    })
    const bench = await startStudio([], storage, { resourceId: '/projects/mine' }, { otherProjects: true })
    await visit(browser, bench, async (page) => {
      const there = page.getByRole('region', { name: 'Waits in other folders' })
      await there.getByText('/projects/the other', { exact: true }).click()
      await there.getByText(/^write_file: path: a\.txt, content: hello/).waitFor()
      await there.getByText(/^cd '\/projects\/the other' && inspan chat --thread \S+$/).waitFor()
      assert.equal(await page.getByRole('button', { name: 'Allow once' }).count(), 0)
      assert.deepEqual(await axeFaults(page), [])
    })
  })

  it('takes the answer to what waits in another project, and opens its thread', async () => {
    const storage = new MemoryStore()
    const project = { resourceId: '/projects/the other' }
    const other = await startStudio([WRITE], storage, project)
    await visit(browser, other, async (page) => {
      await say(page, 'Write over there')
      await page.getByRole('button', { name: 'Allow once' }).waitFor()
    })
    const there = await startStudio([{ text: 'Written over there.' }], storage, project)
    const projects = {
      has: (id: string) => id === project.resourceId,
      open: async () => there.harness,
    }
    const bench = await startStudio([], storage, { resourceId: '/projects/mine' }, { otherProjects: true, projects })
    await visit(browser, bench, async (page) => {
      const waiting = page.getByRole('region', { name: 'Waits: Write over there' })
      await waiting.getByText('/projects/the other', { exact: true }).waitFor()
      await waiting.getByRole('button', { name: 'Allow once' }).click()
      await waiting.waitFor({ state: 'detached' })
      await page
        .getByRole('region', { name: 'Recent' })
        .getByRole('button', { name: /Write over there/ })
        .click()
      await page.getByLabel('Conversation').getByText('Written over there.').waitFor()
      assert.deepEqual(await axeFaults(page), [])
    })
    await there.close()
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
      await page.getByRole('row', { name: /^Plan .*complete$/ }).waitFor()
      const saved = async (name: string): Promise<string> => {
        const [saving] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name, exact: true }).click(),
        ])
        return `${saving.suggestedFilename()}\n${await readFile(await saving.path(), 'utf8')}`
      }
      const markdown = await saved('Markdown')
      assert.match(markdown, /^\S+\.md\n# Comparison\n\n> Which is better\?\n\n\| agent \| time \| input tokens /)
      assert.match(markdown, /\n\| Build \| [^]*\n## Build\n\nThe first answer\.\n\n## Plan\n\nThe second answer\.\n/)
      const csv = await saved('CSV')
      assert.match(
        csv,
        /^\S+\.csv\nagent,status,durationMs,inputTokens,outputTokens,[^]*\r\nBuild,complete,\d+,100,30,/,
      )
      assert.match(csv, /\r\nPlan,complete,\d+,90,20,[^]*\r\n$/)
      // The comparison is in the address: a reload shows it again and asks nobody twice.
      await page.reload()
      await page.getByRole('region', { name: 'Lane Plan' }).getByText('The second answer.').waitFor()
      assert.match(await differences.innerText(), /- The first answer\.\s+\+ The second answer\./)
      // Nothing goes by one click.
      await page.getByRole('button', { name: 'Drop all' }).click()
      await page.getByRole('button', { name: 'Really drop all' }).waitFor()
      const lane = page.getByRole('region', { name: 'Lane Plan' })
      await lane.getByRole('button', { name: 'Keep this one' }).click()
      await lane.getByRole('button', { name: 'Really drop the others' }).click()
      await page.getByLabel('Conversation').getByText('The second answer.').waitFor()
      await page.getByRole('button', { name: 'Build: Which is better?' }).waitFor({ state: 'detached' })
    })
  })

  it('allows in one thread, lists the grant and revokes it', async () => {
    const bench = await startStudio([WRITE, WRITE, { text: 'Twice.' }, WRITE, { text: 'Asked again.' }])
    await visit(browser, bench, async (page) => {
      await say(page, 'Write')
      await page.getByRole('button', { name: 'Allow in this thread' }).click()
      await page.getByText('Twice.').waitFor()
      await page.getByRole('button', { name: 'Details' }).click()
      await page.getByRole('list', { name: 'Allowed in this thread' }).getByText('write_file').waitFor()
      await page.getByRole('button', { name: 'Revoke write_file' }).click()
      await page.getByText('Nothing is allowed beyond the rules.').waitFor()
      await say(page, 'Write again')
      await page.getByRole('button', { name: 'Allow once' }).click()
      await page.getByText('Asked again.').waitFor()
    })
  })

  it('always allows in the project: in another thread and after a restart, until it is revoked', async () => {
    const storage = new MemoryStore()
    const project = { resourceId: '/projects/mine' }
    const bench = await startStudio([WRITE, { text: 'Allowed.' }, WRITE, { text: 'Not asked.' }], storage, project)
    await visit(browser, bench, async (page) => {
      await say(page, 'Write')
      await page.getByLabel(/everything of the same kind as write_file/).check()
      await page.getByRole('button', { name: 'Always allow in this project' }).click()
      await page.getByText('Allowed.').waitFor()
      await page.getByRole('button', { name: 'New thread' }).click()
      await page.getByText('Nothing was said here yet.').waitFor()
      await say(page, 'Write in another thread')
      await page.getByText('Not asked.').waitFor()
    })
    const foreign = await startStudio([WRITE], storage, { resourceId: '/projects/theirs' })
    await visit(browser, foreign, async (page) => {
      await say(page, 'Write over there')
      await page.getByRole('button', { name: 'Allow once' }).waitFor()
    })
    const again = await startStudio([WRITE, { text: 'Still allowed.' }, WRITE], storage, project)
    await visit(browser, again, async (page) => {
      await say(page, 'Write after the restart')
      await page.getByText('Still allowed.').waitFor()
      await page.getByRole('button', { name: 'Details' }).click()
      const listed = page.getByRole('list', { name: 'Always allowed in this project' })
      await listed.getByText('every edit').waitFor()
      await page.getByText('/projects/mine', { exact: true }).waitFor()
      assert.deepEqual(await axeFaults(page), [])
      await page.getByRole('button', { name: 'Revoke every edit' }).click()
      await page.getByText('Nothing is allowed beyond the rules.').waitFor()
      await say(page, 'Write once more')
      await page.getByRole('button', { name: 'Allow once' }).waitFor()
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

  it('offers by ⌘K only what concerns the screen that is shown', async () => {
    const bench = await startStudio([{ text: 'Said.' }])
    await visit(browser, bench, async (page) => {
      const found = async (search: string): Promise<number> => {
        await page.keyboard.press('ControlOrMeta+k')
        await page.getByPlaceholder('Type a command or the title of a thread').fill(search)
        const count = await page.getByRole('option', { name: search, exact: true }).count()
        await page.keyboard.press('Escape')
        await page.getByRole('dialog').waitFor({ state: 'detached' })
        return count
      }
      await say(page, 'Speak')
      await page.getByText('Said.').waitFor()
      await page.getByRole('status').getByText('Idle').waitFor()
      assert.deepEqual([await found('Delete this thread…'), await found('Cancel the run')], [1, 0])
      await page.getByRole('button', { name: /Needs you/ }).click()
      await page.getByRole('heading', { name: 'What needs you' }).waitFor()
      assert.deepEqual([await found('Delete this thread…'), await found('New thread')], [0, 1])
    })
  })

  it('follows the system from light to dark, unless a theme was chosen', async () => {
    const bench = await startStudio([])
    await visit(browser, bench, async (page) => {
      const dark = page.locator('html.dark')
      await page.emulateMedia({ colorScheme: 'dark' })
      await dark.waitFor()
      await page.emulateMedia({ colorScheme: 'light' })
      await dark.waitFor({ state: 'detached' })
      await page.keyboard.press('ControlOrMeta+k')
      await page.getByPlaceholder('Type a command or the title of a thread').fill('Dark theme')
      await page.keyboard.press('Enter')
      await dark.waitFor()
      // Scrollbars, boxes to tick and lists of choices are drawn by the browser.
      assert.equal(await page.evaluate('getComputedStyle(document.documentElement).colorScheme'), 'dark')
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
      // Nothing lies above it, also not the details on the right.
      await page.getByRole('button', { name: 'Details' }).click()
      await page.keyboard.press('ControlOrMeta+k')
      const { height = 0, width = 0, x = 0, y = 0 } = (await page.getByRole('dialog').boundingBox()) ?? {}
      for (const at of [x + 5, x + width - 5]) {
        const isOnTop = `document.elementFromPoint(${at}, ${y + height / 2}).closest('[role=dialog]') !== null`
        assert.equal(await page.evaluate(isOnTop), true, `at ${at}`)
      }
    })
  })
})
