// In a real browser: Debian's Chromium, or the one that CHROMIUM names.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Agent, Harness } from '@inspan/core'
import { serve } from '@inspan/server'
import { scriptedModel } from '@inspan/testing'
import { build } from 'esbuild'
import { chromium } from 'playwright-core'

/** Each component shows what it selects; React itself counts how often it was rendered. */
const PAGE = `
import { createElement, Profiler, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { connect } from './index.ts'
import { useHarness } from './react.ts'

const SELECTORS = {
  all: undefined,
  firstAnswer: ({ messages }) => messages[1],
  mode: ({ head }) => ({ mode: head.mode, rules: head.rules }),
  firstTexts: ({ messages }) => messages.slice(0, 2).map(({ content }) => content),
  lastText: ({ messages }) => messages.at(-1)?.content,
}
window.renders = Object.fromEntries(Object.keys(SELECTORS).map((name) => [name, 0]))

window.start = async (code) => {
  const headers = { 'content-type': 'application/json' }
  await fetch('/v1/pair', { method: 'POST', headers, body: JSON.stringify({ code }) })
  const client = await connect({ url: location.origin })
  const Shown = ({ name }) => {
    const { send, state } = useHarness(client, SELECTORS[name])
    window.send = send
    return createElement('p', { id: name }, name === 'all' ? state.status + ' ' + state.messages.length : JSON.stringify(state))
  }
  const count = (name) => void window.renders[name]++
  const shown = Object.keys(SELECTORS).map((name) =>
    createElement(Profiler, { id: name, key: name, onRender: count }, createElement(Shown, { name })),
  )
  // The selector depends on what the component itself holds.
  const Picked = () => {
    const [index, setIndex] = useState(0)
    const { state } = useHarness(client, ({ messages }) => messages[index]?.content)
    return createElement('button', { onClick: () => setIndex(index + 1) }, String(state))
  }
  createRoot(document.getElementById('root')).render([...shown, createElement(Picked, { key: 'picked' })])
}
`

test(
  'a component with a selector is rendered again only when what it selects has changed',
  { timeout: 240_000 },
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-react-'))
    t.after(() => rm(folder, { recursive: true, force: true }))
    const resolveDir = fileURLToPath(new URL('.', import.meta.url))
    await build({
      stdin: { contents: PAGE, resolveDir },
      bundle: true,
      format: 'esm',
      outfile: join(folder, 'page.js'),
    })
    await writeFile(join(folder, 'index.html'), '<div id="root"></div><script type="module" src="/page.js"></script>')

    const words = Array.from({ length: 50 }, (_, index) => `word${index} `)
    const agent = new Agent({ id: 'agent', model: scriptedModel([{ text: 'Hello' }, { text: words }]) })
    const harness = new Harness({ id: 'react', agent, modes: [{ id: 'build' }] })
    const server = await serve({ harness, pages: folder })
    const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
    t.after(async () => {
      await browser.close()
      await server.close()
      await harness.destroy()
    })
    const page = await browser.newPage()
    await page.goto(server.url)
    await page.waitForFunction('window.start !== undefined')
    await page.evaluate(`window.start(${JSON.stringify(server.pair().code)})`)
    await page.getByText('idle 0').waitFor()
    await page.evaluate(`window.send({ type: 'submit', prompt: 'Hi' }).receipt`)
    await page.getByText('idle 2').waitFor()
    const renders = async (): Promise<Record<string, number>> =>
      (await page.evaluate('window.renders')) as Record<string, number>
    const { firstAnswer, firstTexts, mode, ...before } = await renders()

    await page.evaluate(`window.send({ type: 'submit', prompt: 'More' }).receipt`)
    await page.getByText('idle 4').waitFor()
    assert.equal(await page.locator('#lastText').textContent(), JSON.stringify(words.join('')))
    const after = await renders()
    assert.deepEqual([after['firstAnswer'], after['firstTexts'], after['mode']], [firstAnswer, firstTexts, mode])
    for (const name of ['all', 'lastText']) assert.ok((after[name] ?? 0) > (before[name] ?? 0), name)

    // A component that selects something else is shown it at once, although nothing happens in the thread.
    const picked = page.getByRole('button')
    for (const content of ['Hi', 'Hello', 'More']) {
      assert.equal(await picked.textContent(), content)
      await picked.click()
    }
  },
)
