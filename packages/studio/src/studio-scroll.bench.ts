/** What scrolling costs a browser: its work per frame in a long thread, relative to a short one. */
import { Agent, Harness, MemoryStore } from '@inspan/core'
import { serve } from '@inspan/server'
import { report, scriptedModel } from '@inspan/testing'
import type { Browser } from 'playwright-core'
import { studioPages } from './index.ts'
import { cpuClock, longThread, openPage, showLongThread, startBrowser } from './studio.fixture.ts'

const ROUNDS = 3
const FRAMES = 240
/** How far each frame scrolls: a quick turn of the wheel. */
const STEP = 40

/** Scrolls up and down at the end of the thread, a step per frame, so that short and long threads draw the same messages. */
const SCROLL = `new Promise((resolve) => {
  const list = document.querySelector('[aria-label="Conversation"] > div')
  const top = list.scrollHeight - list.clientHeight
  const bottom = Math.max(0, top - ${(FRAMES / 4) * STEP})
  let frame = 0
  let direction = -1
  let least = top
  const step = () => {
    if (frame++ === ${FRAMES}) return resolve(top - least)
    if (list.scrollTop <= bottom) direction = 1
    if (list.scrollTop >= top) direction = -1
    list.scrollTop += direction * ${STEP}
    least = Math.min(least, list.scrollTop)
    requestAnimationFrame(step)
  }
  requestAnimationFrame(step)
})`

/** Returns the milliseconds of CPU that the page's main thread used per frame of scrolling. */
async function scrolling(browser: Browser, messages: number): Promise<number> {
  const storage = new MemoryStore()
  await longThread(storage, 'A long one', messages)
  const agent = new Agent({ id: 'me', model: scriptedModel([]) })
  const harness = new Harness({ id: 'studio', agent, storage, modes: [{ id: 'build' }] })
  const server = await serve({ harness, pages: studioPages() })
  const page = await openPage(browser, { server })
  try {
    await showLongThread(page, 'A long one', messages)
    // Once unmeasured: what is drawn is measured and compiled then.
    await page.evaluate(SCROLL)
    const cpuMs = await cpuClock(page)
    const before = await cpuMs()
    const distance = Number(await page.evaluate(SCROLL))
    const used = (await cpuMs()) - before
    if (distance < 1000) throw new Error(`The page scrolled by ${distance} pixels only.`)
    return used / FRAMES
  } finally {
    await page.context().close()
    await server.close()
    await harness.destroy()
  }
}

const browser = await startBrowser()
try {
  const [shorts, longs]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    shorts.push(await scrolling(browser, 50))
    longs.push(await scrolling(browser, 10_000))
  }
  const [short, long] = [Math.min(...shorts), Math.min(...longs)]
  report({
    name: 'studio: work per frame while scrolling a thread of 10,000 messages, relative to one of 50',
    ratio: Number((long / short).toPrecision(3)),
    limit: 1.3,
    unit: 'ms',
    floor: short,
    ours: long,
  })
} finally {
  await browser.close()
}
