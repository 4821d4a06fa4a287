/** What the page costs a browser: its first paint, and its work per frame while an answer streams in. */
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, Harness, MemoryStore } from '@inspan/core'
import { serve } from '@inspan/server'
import { report, scriptedModel } from '@inspan/testing'
import type { Browser, Page } from 'playwright-core'
import { studioPages } from './index.ts'
import { cpuClock, longThread, openPage, say, showLongThread, startBrowser } from './studio.fixture.ts'

const PAINTS = 7
const ROUNDS = 2
/** 200 tokens in a second, for three seconds. */
const TOKENS = 600
const TOKEN_MS = 5
const FRAMES =
  'new Promise((resolve) => { let n = 0; const on = () => (window.__over ? resolve(n) : (n++, requestAnimationFrame(on))); window.__over = false; requestAnimationFrame(on) })'

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
}

async function firstPaint(page: Page, url: string): Promise<number> {
  await page.goto('about:blank')
  await page.goto(url)
  const paint = await page.evaluate(
    `new Promise((resolve) => new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') resolve(startTime)
    }).observe({ type: 'paint', buffered: true }))`,
  )
  return Number(paint)
}

/** Returns the milliseconds of CPU that the page's main thread used per frame while `work` went on. */
async function workPerFrame(page: Page, work: () => Promise<void>): Promise<number> {
  const cpuMs = await cpuClock(page)
  const frames = page.evaluate(FRAMES)
  const before = await cpuMs()
  await work()
  const used = (await cpuMs()) - before
  await page.evaluate('window.__over = true')
  return used / Number(await frames)
}

const text = Array.from({ length: TOKENS }, (_, index) => (index % 40 === 39 ? `word${index}.\n\n` : `word${index} `))
text.push('The end of it.')

async function streaming(browser: Browser, messages: number, pages: string): Promise<number> {
  const storage = new MemoryStore()
  await longThread(storage, 'A long one', messages)
  const agent = new Agent({ id: 'me', model: scriptedModel([{ text, delayPerDeltaMs: TOKEN_MS }]) })
  const harness = new Harness({ id: 'studio', agent, storage, modes: [{ id: 'build' }] })
  const server = await serve({ harness, pages })
  const page = await openPage(browser, { server })
  await showLongThread(page, 'A long one', messages)
  await page.waitForTimeout(500)
  const work = await workPerFrame(page, async () => {
    await say(page, 'Go')
    // Looking into the page all the time would be work, too.
    while ((await page.getByText('The end of it.').count()) === 0) await page.waitForTimeout(500)
  })
  await page.context().close()
  await server.close()
  await harness.destroy()
  return work
}

const folder = await mkdtemp(join(tmpdir(), 'inspan-frames-'))
const browser = await startBrowser()
try {
  await cp(studioPages(), folder, { recursive: true })
  await writeFile(join(folder, 'empty.html'), '<!doctype html><title>Empty</title><p>Empty</p>')
  const agent = new Agent({ id: 'me', model: scriptedModel([]) })
  const harness = new Harness({ id: 'studio', agent, storage: new MemoryStore(), modes: [{ id: 'build' }] })
  const server = await serve({ harness, pages: folder })
  const page = await openPage(browser, { server })
  const [floors, ours]: [number[], number[]] = [[], []]
  for (let round = 0; round < PAINTS; round++) {
    floors.push(await firstPaint(page, `${server.url}/empty.html`))
    ours.push(await firstPaint(page, server.url))
  }
  report({
    name: 'studio: first paint, relative to an empty page of the same server',
    ratio: Number((median(ours) / median(floors)).toPrecision(3)),
    limit: 3,
    unit: 'ms',
    floor: median(floors),
    ours: median(ours),
  })
  await page.goto(`${server.url}/empty.html`)
  const empty = await workPerFrame(page, () => page.waitForTimeout(TOKENS * TOKEN_MS))
  await page.context().close()
  await server.close()
  await harness.destroy()
  await streaming(browser, 50, folder)
  const [shorts, longs]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    shorts.push(await streaming(browser, 50, folder))
    longs.push(await streaming(browser, 5000, folder))
  }
  const [short, long] = [median(shorts), median(longs)]
  report({
    name: 'studio: work per frame while 200 tokens a second stream into a thread of 5,000 messages, relative to one of 50',
    ratio: Number((long / short).toPrecision(3)),
    limit: 1.3,
    unit: 'ms',
    floor: short,
    ours: long,
  })
  report({
    name: 'studio: work per frame while 200 tokens a second stream into a thread of 5,000 messages, relative to an empty page',
    ratio: Number((long / empty).toPrecision(3)),
    limit: 12,
    unit: 'ms',
    floor: empty,
    ours: long,
  })
} finally {
  await browser.close()
  await rm(folder, { recursive: true, force: true })
}
