import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Agent, createTool, Harness, MemoryStore, type HarnessConfig } from '@inspan/core'
import { createThread, ProcessOwner, ThreadLog } from '@inspan/core/engine'
import type { Store } from '@inspan/protocol/store'
import { serve, type InspanServer, type ServeOptions } from '@inspan/server'
import { scriptedModel, type ModelRequest, type Script } from '@inspan/testing'
import { chromium, type Browser, type Page } from 'playwright-core'
import { preparedPages, studioPages } from './index.ts'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'

/** Builds the page if it is stale, and starts a real browser: Debian's Chromium, or the one that CHROMIUM names. */
export async function startBrowser(): Promise<Browser> {
  await preparedPages()
  if (!existsSync(executablePath)) throw new Error(`There is no browser at ${executablePath}: apt-get install chromium`)
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'],
  })
}

/** Opens the page in a browser of its own, as somebody does who has the code. */
export async function openPage(browser: Browser, { server }: Pick<StudioBench, 'server'>): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1100, height: 800 } })
  const page = await context.newPage()
  await page.goto(server.url)
  await page.getByLabel('One-time code').fill(server.pair().code)
  await page.getByRole('button', { name: 'Connect' }).click()
  await page.getByLabel('Message', { exact: true }).waitFor()
  return page
}

/** Shows the thread that `longThread` wrote with all its messages, not only the newest that the page follows. */
export async function showLongThread(page: Page, title: string, messages: number): Promise<void> {
  await page
    .getByRole('navigation')
    .getByRole('button', { name: new RegExp(`^${title}`) })
    .click()
  await page.getByText(`Answer ${messages - 1} with`).waitFor()
  if (messages <= 200) return
  await page.getByRole('button', { name: 'Details' }).click()
  await page.getByRole('button', { name: 'Load earlier prompts' }).click()
  await page.getByRole('button', { name: 'Load earlier prompts' }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Close the details' }).click()
}

/** Returns a clock of the CPU time, in milliseconds, that the page's main thread has used. */
export async function cpuClock(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'ThreadTime')?.value ?? 0) * 1000
  }
}

let axe: string | undefined

/** Returns what axe finds wrong with the page as it is. The policy of the page allows no scripts from elsewhere, so axe comes in through the debugger. */
export async function axeFaults(page: Page): Promise<unknown> {
  axe ??= await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  await page.evaluate(axe)
  return page.evaluate(
    'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map((node) => node.html).join(" ")))',
  )
}

export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text)
  await page.getByLabel('Message', { exact: true }).press('Enter')
}

/** Returns the id of the thread that the page shows. */
export async function shownThread(page: Page): Promise<string> {
  return decodeURIComponent(String(await page.evaluate('location.hash')).split('/')[2] ?? '')
}

/** Opens the page, uses it, and closes everything, whatever happens. */
export async function visit(browser: Browser, bench: StudioBench, use: (page: Page) => Promise<void>): Promise<void> {
  const page = await openPage(browser, bench)
  try {
    await use(page)
  } finally {
    // Closed first: a page that cannot be closed would leave the server behind, and the process would not end.
    await bench.close()
    await page.context().close()
  }
}

/** Writes a thread of so many messages: questions and answers in turn. */
export async function longThread(store: Store, title: string, messages: number): Promise<string> {
  const { id } = await createThread(store, { resourceId: 'studio', title })
  const owner = await ProcessOwner.register(store)
  const log = await ThreadLog.open({ store, stream: id, fence: await owner.claim(id) })
  for (let from = 0; from < messages; from += 500) {
    await log.commit(
      Array.from({ length: Math.min(500, messages - from) }, (_, at) => ({
        type: 'message.added' as const,
        messageId: `m${from + at}`,
        role: (from + at) % 2 === 0 ? ('user' as const) : ('assistant' as const),
        parts: [{ id: '0', type: 'text' as const, text: textOf(from + at) }],
      })),
    )
  }
  await owner.release(id, await owner.claim(id))
  await owner.close()
  return id
}

function textOf(index: number): string {
  if (index % 2 === 0) return `Question ${index}`
  return `Answer ${index} with **some** words.\n\n${'- a point of the answer\n'.repeat(1 + (index % 5))}`
}

export interface StudioBench {
  readonly harness: Harness
  readonly server: InspanServer
  close(): Promise<void>
}

/** A served harness with two tools, one of which needs an approval, and a model that follows a script. */
export async function startStudio(
  script: Script<ModelRequest>,
  storage: Store = new MemoryStore(),
  more: Partial<HarnessConfig> = {},
  served: Pick<ServeOptions, 'otherProjects' | 'projects'> = {},
): Promise<StudioBench> {
  const look = createTool({
    id: 'read_file',
    description: 'Reads a file.',
    category: 'read',
    execute: () => 'one\ntwo',
  })
  const write = createTool({
    id: 'write_file',
    description: 'Writes a file.',
    category: 'edit',
    execute: () => 'written',
  })
  const agent = new Agent({ id: 'me', model: scriptedModel(script), tools: [look, write] })
  const harness = new Harness({
    id: 'studio',
    agent,
    storage,
    permissions: { categories: { read: 'allow' } },
    modes: [
      { id: 'build', name: 'Build' },
      { id: 'plan', name: 'Plan' },
    ],
    ...more,
  })
  const server = await serve({ harness, pages: studioPages(), ...served })
  return {
    harness,
    server,
    close: async () => {
      await server.close()
      await harness.destroy()
    },
  }
}
