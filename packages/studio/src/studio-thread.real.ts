// What the page shows of one thread, in a real browser.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import { Agent, MemoryStore } from '@inspan/core'
import { Memory } from '@inspan/memory'
import { scriptedModel } from '@inspan/testing'
import type { Browser, Page } from 'playwright-core'
import { axeFaults, longThread, say, shownThread, startBrowser, startStudio, visit } from './studio.fixture.ts'

const NEXT_FRAME = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))'
const LIST = 'document.querySelector("[aria-label=Conversation] > div")'
const CODE = 'Look:\n\n```ts\nexport const answer: number = 42\n```\n\nThat is all.'

/** Resolves when the list has not moved for a while. */
async function rested(page: Page): Promise<void> {
  for (let [rest, place] = [0, -1]; rest < 20;) {
    const now = Number(await page.evaluate(`${NEXT_FRAME}.then(() => ${LIST}.scrollTop)`))
    rest = now === place ? rest + 1 : 0
    place = now
  }
}

async function downloaded(page: Page, button: string): Promise<string> {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button, exact: true }).click(),
  ])
  return readFile(await file.path(), 'utf8')
}

describe('a thread on the web page', { timeout: 300_000 }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser.close())

  it('colours code and diffs, and folds reasoning', async () => {
    const edit = { path: 'a.ts', content: 'const one = 1\n' }
    const bench = await startStudio([
      { reasoning: 'Secret thoughts.', text: CODE, toolCalls: [{ name: 'write_file', input: edit }] },
      { text: 'Done.' },
    ])
    await visit(browser, bench, async (page) => {
      await say(page, 'Show code')
      const code = page.getByLabel('Code: ts')
      // The end of the code is coloured last: while it streams in, what came first already is.
      for (const word of ['export', '42']) await code.locator('.code-token', { hasText: word }).first().waitFor()
      assert.equal((await code.innerText()).trim(), 'export const answer: number = 42')
      const colours = (): Promise<unknown> =>
        page.evaluate(
          '[...new Set([...document.querySelectorAll("article .code-token")].map((each) => getComputedStyle(each).color))]',
        )
      const light = await colours()
      assert.ok(Array.isArray(light) && light.length >= 2, 'a keyword and a number differ')
      await page.evaluate("document.documentElement.classList.add('dark')")
      assert.notDeepEqual(await colours(), light)
      const diff = page.getByRole('group', { name: /^write_file/ }).getByLabel('Changes')
      await diff.locator('.code-token', { hasText: 'const' }).first().waitFor()
      assert.match(await diff.innerText(), /\+ const one = 1/)
      assert.equal(await page.getByText('Secret thoughts.').isVisible(), false)
      await page.getByText('Reasoning', { exact: true }).click()
      await page.getByText('Secret thoughts.').waitFor()
    })
  })

  it('shows tasks, how full the context is, and a cost that is marked as an estimate', async () => {
    const tasks = [
      { content: 'Read', status: 'completed', activeForm: 'Reading' },
      { content: 'Write', status: 'in_progress', activeForm: 'Writing' },
    ]
    const usage = { inputTokens: 50_000, outputTokens: 1000 }
    const script = [
      { toolCalls: [{ name: 'task_write', input: { tasks } }], usage },
      { text: 'Planned.', usage },
    ]
    const model = scriptedModel(script)
    const bench = await startStudio([], new MemoryStore(), {
      modes: [{ id: 'build', defaultModelId: 'anthropic/claude-sonnet-4-5' }],
      customModelCatalogProvider: () => [
        { id: 'anthropic/claude-sonnet-4-5', contextWindow: 128_000, hasApiKey: true, price: { input: 3, output: 15 } },
      ],
      agent: new Agent({ id: 'me', model }),
    })
    await visit(browser, bench, async (page) => {
      await say(page, 'Plan')
      await page.getByText('Planned.').waitFor()
      await page.getByRole('button', { name: 'Details' }).click()
      const list = page.getByRole('region', { name: 'Tasks' })
      await list.getByText('✓ Read').waitFor()
      await list.getByText('▸ Write').waitFor()
      const shown = page.getByRole('region', { name: 'Usage' })
      await shown.getByText('50,000 of 128,000').waitFor()
      await shown.getByText('100,000').waitFor()
      // 100,000 tokens in and 2,000 out.
      await shown.getByText('$0.3300 estimated').waitFor()
    })
  })

  it('shows how far the memory is', async () => {
    const bench = await startStudio([{ text: 'A long answer about many things.' }], new MemoryStore(), {
      memory: new Memory({ observationalMemory: { model: 'none/at-all' } }),
      omConfig: { defaultObservationThreshold: 5000, defaultReflectionThreshold: 7000 },
    })
    await visit(browser, bench, async (page) => {
      await say(page, 'Tell me')
      await page.getByText('A long answer').waitFor()
      await page.getByRole('button', { name: 'Details' }).click()
      const memory = page.getByRole('region', { name: 'Memory' })
      await memory.getByText(/^[1-9]\d* of 5,000$/).waitFor()
      await memory.getByText('0 of 7,000').waitFor()
    })
  })

  it('shows where earlier messages were summarised', async () => {
    const memory = new Memory({ compaction: { model: scriptedModel([{ text: 'They spoke.', repeat: true }]) } })
    const long = 'A long answer about many things. '.repeat(60)
    const bench = await startStudio(
      Array.from({ length: 8 }, (_, index) => ({ text: `${index}: ${long}` })),
      new MemoryStore(),
      { memory, customModelCatalogProvider: () => [{ id: 'scripted/scripted-model', contextWindow: 8000 }] },
    )
    await visit(browser, bench, async (page) => {
      for (let turn = 0; turn < 6; turn++) {
        await say(page, `Turn ${turn}`)
        await page.getByText(`${turn}: A long answer`).waitFor()
        await page.getByRole('status').getByText('Idle').waitFor()
      }
      assert.deepEqual(await memory.compact(await shownThread(page)), { isDone: true })
      await page
        .getByLabel('Note', { exact: true })
        .getByText(/^\d+ earlier messages were summarised for the agent: [\d,]+ tokens became [\d,]+\.$/)
        .waitFor()
      assert.deepEqual(await axeFaults(page), [])
    })
  })

  it('is exported as HTML, Markdown and JSON, renamed, searched for, and deleted after a question', async () => {
    const bench = await startStudio([{ text: 'The answer is <b>42</b>.' }, { text: 'Another.' }])
    await visit(browser, bench, async (page) => {
      await say(page, 'What is it?')
      await page.getByText('The answer is 42.').waitFor()
      await page.getByRole('button', { name: 'Details' }).click()
      assert.equal(await page.getByRole('button', { name: 'Load earlier prompts' }).count(), 0, 'there are none')
      const html = await downloaded(page, 'Export as HTML')
      assert.match(html, /The answer is &lt;b&gt;42&lt;\/b&gt;\./)
      assert.doesNotMatch(html, /<script|https?:/)
      assert.match(await downloaded(page, 'Export as Markdown'), /# What is it\?[^]*## You\n\nWhat is it\?\n\n## Agent/)
      const json = JSON.parse(await downloaded(page, 'Export as JSON')) as { messages: { content: string }[] }
      assert.deepEqual(
        json.messages.map(({ content }) => content),
        ['What is it?', 'The answer is <b>42</b>.'],
      )
      await page.getByLabel('Title of the thread').fill('The question')
      await page.getByLabel('Title of the thread').press('Enter')
      const listed = page.getByRole('navigation').getByRole('button', { name: /^The question/ })
      await listed.waitFor()
      await page.getByRole('button', { name: 'New thread' }).click()
      await say(page, 'Something else')
      await page.getByText('Another.').waitFor()
      await page.getByLabel('Search threads').fill('the QUEST')
      await page
        .getByRole('navigation')
        .getByRole('button', { name: /^Something else/ })
        .waitFor({ state: 'detached' })
      await listed.click()
      await page.getByText('The answer is 42.').waitFor()
      await page.getByRole('button', { name: 'Delete…' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Keep it' }).click()
      await page.getByText('The answer is 42.').waitFor()
      await page.getByRole('button', { name: 'Delete…' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
      await page.getByRole('heading', { name: 'What needs you' }).waitFor()
      await page.getByText('No thread matches.').waitFor()
    })
  })

  it('is replayed, frame by frame, without running anything', async () => {
    const bench = await startStudio([
      { text: 'I will look at the file first.', toolCalls: [{ name: 'read_file', input: { path: 'a.txt' } }] },
      { text: 'It has two lines.' },
    ])
    await visit(browser, bench, async (page) => {
      await say(page, 'How long is it?')
      await page.getByText('It has two lines.').waitFor()
      await page.getByRole('button', { name: 'Details' }).click()
      await page.getByRole('button', { name: 'Replay' }).click()
      const replayed = page.getByRole('region', { name: 'Replayed conversation' })
      await page.getByLabel('Speed').selectOption('20')
      await replayed.getByText('It has two lines.').waitFor()
      await page.getByRole('button', { name: 'Play again' }).waitFor()
      const position = page.getByLabel('Position in the replay')
      await position.fill('2')
      await replayed.getByText('It has two lines.').waitFor({ state: 'detached' })
      await replayed.getByText('How long is it?').waitFor()
      await page.reload()
      await replayed.getByText('It has two lines.').waitFor()
      for (const name of ['Fork here', 'Rewind']) {
        assert.equal(await page.getByRole('button', { name }).count(), 0, 'a replay changes nothing')
      }
      await page.getByRole('button', { name: 'Back to the thread' }).click()
      await page.getByRole('button', { name: 'Rewind' }).waitFor()
      await page.getByRole('region', { name: 'Conversation' }).getByText('It has two lines.').waitFor()
      assert.equal(
        await page.getByRole('region', { name: 'Conversation' }).locator('article').count(),
        3,
        'a replay adds nothing',
      )
    })
  })

  it('a thread of 10,000 messages opens at its end, scrolls up to its beginning, and is never all in the document', async () => {
    const store = new MemoryStore()
    await longThread(store, 'A long one', 10_000)
    const bench = await startStudio([{ text: 'And one more.' }], store)
    await visit(browser, bench, async (page) => {
      const articles = page.locator('article')
      const most = async (): Promise<void> => assert.ok((await articles.count()) < 60)
      await page
        .getByRole('navigation')
        .getByRole('button', { name: /^A long one/ })
        .click()
      await page.getByText('Answer 9999 with').waitFor()
      await most()
      await page.getByRole('button', { name: 'Details' }).click()
      await page.getByRole('button', { name: 'Load earlier prompts' }).click()
      await page.getByRole('button', { name: 'Load earlier prompts' }).waitFor({ state: 'detached' })
      await page.getByText('Answer 9999 with').waitFor()
      const prompts = page.getByRole('region', { name: 'Prompts' })
      await prompts.getByRole('button', { name: 'Question 0', exact: true }).click()
      await articles.getByText('Question 0', { exact: true }).waitFor()
      await most()
      // From the first message to the last by the wheel, without a frame in which nothing is shown.
      const list = page.getByRole('region', { name: 'Conversation' }).locator('> div')
      await list.hover()
      for (let turn = 0; turn < 30; turn++) {
        await page.mouse.wheel(0, 3000)
        await articles.first().waitFor()
        await most()
      }
      assert.doesNotMatch(await articles.first().innerText(), /^Question 0$/)
      await say(page, 'One more')
      await page.getByText('And one more.').waitFor()
      await most()
    })
  })

  it('keeps the end of the conversation in view when a question takes its room', async () => {
    const long = Array.from({ length: 60 }, (_, index) => `line ${index}\n\n`).join('')
    const options = Array.from({ length: 6 }, (_, index) => ({ label: `Option ${index}`, description: 'A choice.' }))
    const ask = { toolCalls: [{ name: 'ask_user', input: { question: 'Which one?', options } }] }
    const rounds = Array.from({ length: 5 }, (_, index) => ({ text: `${CODE}\n\nRound ${index}.`, ...ask }))
    const bench = await startStudio([{ text: long }, ...rounds, { text: 'And after it.' }])
    await visit(browser, bench, async (page) => {
      const conversation = page.getByRole('region', { name: 'Conversation' })
      const isInView = async (text: string): Promise<boolean> => {
        const said = conversation.getByText(text)
        // What is far from the screen is not even in the document.
        if ((await said.count()) === 0) return false
        const frame = await conversation.boundingBox()
        const shown = await said.boundingBox()
        return frame !== null && shown !== null && shown.y + shown.height <= frame.y + frame.height
      }
      await say(page, 'Speak')
      await page.getByText('line 59').waitFor()
      await page.getByRole('status').getByText('Idle').waitFor()
      await say(page, 'Ask')
      for (const index of rounds.keys()) {
        await conversation.getByText(`Round ${index}.`).waitFor()
        await page.getByRole('button', { name: 'Option 5' }).waitFor()
        await rested(page)
        assert.equal(await isInView(`Round ${index}.`), true, `round ${index}`)
        if (index < rounds.length - 1) await page.getByRole('button', { name: 'Option 5' }).click()
      }
      await page.setViewportSize({ width: 600, height: 600 })
      await rested(page)
      assert.equal(await isInView('Round 4.'), true)
      // Whoever has scrolled up stays there.
      await page.evaluate(`${LIST}.scrollBy(0, -600)`)
      await rested(page)
      await page.getByRole('button', { name: 'Option 5' }).click()
      await page.getByRole('status').getByText('Idle').waitFor()
      await rested(page)
      assert.equal(await isInView('And after it.'), false)
    })
  })

  it('keeps what is on screen in place while older messages arrive at the top', async () => {
    const store = new MemoryStore()
    await longThread(store, 'A long one', 1000)
    const bench = await startStudio([], store)
    await visit(browser, bench, async (page) => {
      await page
        .getByRole('navigation')
        .getByRole('button', { name: /^A long one/ })
        .click()
      await page.getByText('Answer 999 with').waitFor()
      const first = page.locator('article').getByText('Question 800', { exact: true })
      await rested(page)
      // Up to the beginning of the window that the page follows: message 800.
      await page.evaluate(`${LIST}.scrollTo(0, 0)`)
      await page.getByText('Answer 799 with').waitFor({ state: 'attached' })
      await rested(page)
      const place = (await first.boundingBox())?.y ?? -1000
      assert.ok(place >= 0 && place < 400, `Question 800 is at ${place}`)
      const seen = new Set<string>()
      for (let turn = 0; turn < 400 && !seen.has('Question 0'); turn++) {
        for (const text of await page.locator('article p').allInnerTexts()) seen.add(text)
        await page.evaluate(`${LIST}.scrollBy(0, -500)`)
        await page.evaluate(NEXT_FRAME)
      }
      const questions = [...seen].filter((text) => text.startsWith('Question ')).length
      assert.ok(seen.has('Question 0'))
      assert.ok(questions > 390, `only ${questions} of 400 questions came by`)
    })
  })
})
