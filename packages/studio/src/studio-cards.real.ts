// Cards, limits, notifications and accessibility of the web page, in a real browser.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Agent, MemoryStore } from '@inspan/core'
import { createThread, ProcessOwner, ThreadLog } from '@inspan/core/engine'
import { scriptedModel } from '@inspan/testing'
import type { Browser, Page } from 'playwright-core'
import { axeFaults, say, shownThread, startBrowser, startStudio, visit } from './studio.fixture.ts'

const WRITE = { text: 'I will write.', toolCalls: [{ name: 'write_file', input: { path: 'a.txt', content: 'hello' } }] }

describe('the cards of the web page', { timeout: 300_000 }, () => {
  let browser: Browser
  before(async () => {
    browser = await startBrowser()
  })
  after(() => browser.close())

  it('show the output of a command while it runs, and its exit code', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-cards-'))
    const gate = join(folder, 'go')
    const command = `echo first line; until [ -e '${gate}' ]; do sleep 0.05; done; echo last line; exit 3`
    const bench = await startStudio([], new MemoryStore(), {
      agent: new Agent({
        id: 'me',
        model: scriptedModel([
          { toolCalls: [{ name: 'execute_command', input: { command } }] },
          { toolCalls: [{ name: 'execute_command', input: { command: 'echo second command' } }] },
          { text: 'It failed.' },
        ]),
      }),
      workspace: { root: folder },
      permissions: { categories: { read: 'allow', execute: 'allow' } },
    })
    await visit(browser, bench, async (page) => {
      await say(page, 'Run it')
      const card = page.locator('article').getByLabel('Output').first()
      await card.getByText('first line').waitFor()
      await page.getByLabel('running', { exact: true }).waitFor()
      assert.doesNotMatch(await card.innerText(), /last line/)
      await writeFile(gate, '')
      await page.getByText('exit 3', { exact: true }).waitFor()
      await page.getByText('exit 0', { exact: true }).waitFor()
      await page.getByText('It failed.').waitFor()
      // What was printed, as it was printed: not the JSON that the model gets.
      const failed = page.getByRole('button', { name: /^execute_command .*exit 3/ })
      if ((await failed.getAttribute('aria-expanded')) === 'false') await failed.click()
      assert.equal(await card.innerText(), 'first line\nlast line\n')
    })
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })

  it('show the work of a subagent inside the call that started it', async () => {
    const bench = await startStudio(
      [
        { toolCalls: [{ name: 'subagent', input: { agentType: 'explorer', task: 'Look around' } }] },
        { text: 'The explorer is back.' },
      ],
      new MemoryStore(),
      {
        subagents: [
          {
            id: 'explorer',
            name: 'Explorer',
            description: 'Looks around.',
            instructions: 'Look around.',
            defaultModelId: 'test/small',
          },
        ],
        resolveModel: () => scriptedModel([{ text: 'I found **three** files.' }]),
        permissions: { categories: { read: 'allow', other: 'allow' }, tools: { subagent: 'allow' } },
      },
    )
    await visit(browser, bench, async (page) => {
      await say(page, 'Send somebody')
      await page.getByText('The explorer is back.').waitFor()
      assert.equal(await page.getByRole('group', { name: 'What the subagent did' }).count(), 0)
      const card = page.getByRole('button', { name: /^subagent/ })
      assert.equal(await card.getAttribute('aria-expanded'), 'false')
      await card.click()
      await page.getByRole('group', { name: 'What the subagent did' }).getByText('I found three files.').waitFor()
      await card.click()
      await page.getByRole('group', { name: 'What the subagent did' }).waitFor({ state: 'detached' })
    })
  })

  it('count down to the end of a limit that an agent has met', async () => {
    const store = new MemoryStore()
    const { id } = await createThread(store, { resourceId: 'studio', title: 'Limited' })
    const owner = await ProcessOwner.register(store)
    const log = await ThreadLog.open({ store, stream: id, fence: await owner.claim(id) })
    const limit = { agentId: 'claude-code', name: 'five_hour' }
    const resetsAt = Date.now() + 90 * 60_000
    await log.commit([
      { type: 'message.added', messageId: 'm', role: 'user', parts: [{ id: '0', type: 'text', text: 'Go' }] },
      { type: 'note', kind: 'limit', text: 'Near.', data: { ...limit, status: 'near', used: 0.9, resetsAt } },
      { type: 'note', kind: 'limit', text: 'Reached.', data: { ...limit, status: 'reached', resetsAt } },
      { type: 'note', kind: 'limit', text: 'Fine.', data: { ...limit, name: 'weekly', status: 'ok' } },
    ])
    await owner.release(id, await owner.claim(id))
    await owner.close()
    await visit(browser, await startStudio([], store), async (page) => {
      await page
        .getByRole('navigation')
        .getByRole('button', { name: /^Limited/ })
        .click()
      const bar = page.getByText('claude-code has reached its limit "five_hour"')
      await bar.waitFor()
      const first = /in (1:(?:29|30):\d\d)\./.exec(await bar.innerText())?.[1]
      assert.ok(first !== undefined, await bar.innerText())
      await page.getByText(`in ${first}.`).waitFor({ state: 'detached' })
      assert.match(await bar.innerText(), /in 1:\d\d:\d\d\./)
      assert.doesNotMatch(await page.getByRole('main').innerText(), /weekly/)
    })
  })

  it('answer a free question, one with several answers, and a plan', async () => {
    const free = { name: 'ask_user', input: { question: 'Which name?' } }
    const several = {
      name: 'ask_user',
      input: {
        question: 'Which colours?',
        options: [{ label: 'Red' }, { label: 'Green' }, { label: 'Blue' }],
        selectionMode: 'multi_select',
      },
    }
    const plan = { name: 'submit_plan', input: { title: 'The plan', plan: '1. **Think**\n2. Act' } }
    const bench = await startStudio([
      { toolCalls: [free] },
      { toolCalls: [several] },
      { toolCalls: [plan] },
      { text: 'Thank you.' },
    ])
    await visit(browser, bench, async (page) => {
      await say(page, 'Ask me')
      await page.getByLabel('Your answer').fill('Ada')
      await page.getByRole('button', { name: 'Answer' }).click()
      await page.getByText('Which colours?').first().waitFor()
      await page.getByRole('button', { name: 'Red' }).click()
      await page.getByRole('button', { name: 'Blue' }).click()
      assert.equal(await page.getByRole('button', { name: 'Red' }).getAttribute('aria-pressed'), 'true')
      await page.getByRole('button', { name: 'Answer' }).click()
      assert.deepEqual(await axeFaults(page), [])
      await page.getByText('Approve this plan?').waitFor()
      await page.getByRole('button', { name: 'Approve the plan' }).click()
      await page.getByText('Thank you.').waitFor()
      const outputs = await bench.harness.session.thread.listMessages({ threadId: await shownThread(page) })
      assert.match(JSON.stringify(outputs), /Ada[^]*Red[^]*Blue/)
    })
  })

  it('show on the first screen what needs you, whichever agent asks', async () => {
    const asking = (id: string): Agent => new Agent({ id, model: scriptedModel([WRITE, { text: `${id} is done.` }]) })
    const bench = await startStudio([], new MemoryStore(), {
      modes: [
        { id: 'one', name: 'One', agent: asking('agent-one') },
        { id: 'two', name: 'Two', agent: asking('agent-two') },
      ],
      workspace: { root: await mkdtemp(join(tmpdir(), 'inspan-home-')) },
    })
    await visit(browser, bench, async (page) => {
      for (const mode of ['One', 'Two']) {
        await page.getByLabel('Mode').selectOption(mode)
        await say(page, `Ask ${mode}`)
        await page.getByRole('region', { name: 'Waits for you' }).waitFor()
        await page.getByRole('button', { name: /Needs you/ }).click()
      }
      await page.getByRole('region', { name: 'Waits: Ask One' }).getByText('agent-one').waitFor()
      await page.getByRole('region', { name: 'Waits: Ask Two' }).getByText('agent-two').waitFor()
    })
  })

  it('notify about what waits while the page is hidden, and the page can be installed', async () => {
    const bench = await startStudio([WRITE, { text: 'Written.' }])
    await visit(browser, bench, async (page) => {
      await page.context().grantPermissions(['notifications'])
      await page.reload()
      await page.evaluate('navigator.serviceWorker.ready')
      await page.evaluate("Object.defineProperty(document, 'hidden', { get: () => true })")
      // Chromium drops a notification that is listed in the moment in which it is shown, so the list is read once, later.
      await page.evaluate(`{
        const { prototype } = ServiceWorkerRegistration
        const show = prototype.showNotification
        globalThis.notified = new Promise((resolve, reject) => {
          prototype.showNotification = function (...given) {
            return show.apply(this, given).then(resolve, reject)
          }
        })
        undefined
      }`)
      await say(page, 'Write it')
      await page.evaluate('notified')
      const shown: unknown = await page.evaluate(
        'navigator.serviceWorker.ready.then((worker) => worker.getNotifications()).then((all) => all.map(({ title, body }) => `${title}: ${body}`))',
      )
      assert.match(String(shown), /^Write it: write_file/)
      const session = await page.context().newCDPSession(page)
      const { errors } = await session.send('Page.getAppManifest')
      assert.deepEqual(errors, [])
      const { installabilityErrors } = await session.send('Page.getInstallabilityErrors')
      // A window without a profile of its own is never offered an installation; nothing else may be missing.
      assert.deepEqual(
        installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== 'in-incognito'),
        [],
      )
    })
  })

  it('have no faults that axe finds, on every screen, in light and dark and on a phone', async () => {
    const read = { text: '```ts\nconst a = 1\n```', toolCalls: [{ name: 'read_file', input: { path: 'a' } }] }
    const bench = await startStudio([read, WRITE, read, WRITE])
    await visit(browser, bench, async (page) => {
      for (const theme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme: theme })
        await page.reload()
        for (const [name, show] of SCREENS) {
          await show(page)
          for (const width of [1100, 390]) {
            await page.setViewportSize({ width, height: 800 })
            assert.deepEqual(await axeFaults(page), [], `${name}, ${theme}, ${width} wide`)
            const widest = await page.evaluate('document.documentElement.scrollWidth')
            assert.equal(widest, width, `${name} is ${String(widest)} wide on a screen of ${width}`)
          }
          await page.setViewportSize({ width: 1100, height: 800 })
        }
      }
    })
  })
})

const CLOSE = async (page: Page): Promise<void> => {
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

const SCREENS: readonly (readonly [string, (page: Page) => Promise<void>])[] = [
  [
    'the first screen',
    async (page) => {
      await page.goto(`${page.url().split('#')[0]}#/home`)
      await page.getByRole('heading', { name: 'What needs you' }).waitFor()
    },
  ],
  [
    'a thread with its details',
    async (page) => {
      await page.getByRole('button', { name: 'New thread' }).first().click()
      await say(page, 'Write it')
      await page.getByRole('button', { name: 'Allow once' }).waitFor()
      const card = await page.getByRole('region', { name: 'Waits for you' }).getByRole('group').first().boundingBox()
      const pane = await page.getByRole('main').boundingBox()
      assert.ok(card !== null && pane !== null && card.x > pane.x, 'what waits does not touch the edge')
      await page.getByRole('button', { name: 'Details' }).click()
      await page.getByRole('complementary', { name: 'Details' }).waitFor()
    },
  ],
  [
    'the commands',
    async (page) => {
      await page.keyboard.press('ControlOrMeta+k')
      await page.getByRole('dialog').waitFor()
    },
  ],
  [
    'the question before a thread is deleted',
    async (page) => {
      await CLOSE(page)
      await page.getByRole('button', { name: 'Delete…' }).click()
      await page.getByRole('dialog').waitFor()
    },
  ],
  [
    'a replay',
    async (page) => {
      await CLOSE(page)
      await page.getByRole('button', { name: 'Replay' }).click()
      const position = page.getByLabel('Position in the replay')
      const last = Number(await position.getAttribute('max'))
      for (let frame = 0; frame <= last; frame++) {
        await position.fill(String(frame))
        assert.deepEqual(await axeFaults(page), [], `frame ${frame} of ${last}`)
      }
    },
  ],
  [
    'the form of a comparison',
    async (page) => {
      await page.goto(`${page.url().split('#')[0]}#/compare`)
      await page.getByLabel('Prompt for all').waitFor()
    },
  ],
]
