/** A plain `EventSource` in a real browser: Debian's Chromium, or the one that CHROMIUM names. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Agent, Harness } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'
import { chromium } from 'playwright-core'
import { serve, type InspanServer } from './serve.ts'

const PAGE = `
window.events = []
window.follow = async (code) => {
  const headers = { 'content-type': 'application/json' }
  await fetch('/v1/pair', { method: 'POST', headers, body: JSON.stringify({ code }) })
  const source = new EventSource('/v1/events')
  source.onmessage = ({ data, lastEventId }) => {
    window.events.push({ ...JSON.parse(data), lastEventId })
    document.body.append(Object.assign(document.createElement('p'), { textContent: data }))
  }
}
`

interface Seen {
  readonly type: string
  readonly lastEventId: string
}

test('an EventSource continues after a restart of the server, from the last event it has seen', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'inspan-event-source-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const pages = await mkdtemp(join(folder, 'pages-'))
  await writeFile(join(pages, 'page.js'), PAGE)
  await writeFile(join(pages, 'index.html'), '<script src="/page.js"></script>')
  const agent = new Agent({ id: 'agent', model: scriptedModel([{ text: 'first' }, { text: 'second' }]) })
  const harness = new Harness({ id: 'events', agent, modes: [{ id: 'build' }] })
  await harness.session.thread.create({ id: 'talk' })
  const options = { harness, pages, tokenFile: join(folder, 'tokens.json') }
  let server = await serve(options)
  const submit = async ({ token, url }: InspanServer): Promise<void> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ commands: [{ type: 'submit', prompt: 'Hi', thread: 'talk' }] })
    await fetch(`${url}/v1/commands`, { method: 'POST', headers, body })
  }
  const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  t.after(async () => {
    await browser.close()
    await server.close()
    await harness.destroy()
  })
  const page = await browser.newPage()
  await page.goto(server.url)
  await page.evaluate(`window.follow(${JSON.stringify(server.pair().code)})`)
  const shows = (text: string): Promise<void> => page.locator('p', { hasText: text }).first().waitFor()
  await shows('"snapshot"')
  await submit(server)
  await shows('first')
  const { port } = server
  // The stream named no thread, and another one is the newest now.
  await harness.session.thread.create({ id: 'newer' })
  await server.close()
  server = await serve({ ...options, port })
  await page.locator('p', { hasText: '"type":"hello"' }).nth(1).waitFor()
  await submit(server)
  await shows('second')
  const events = (await page.evaluate('window.events')) as readonly Seen[]
  const again = events.findLastIndex(({ type }) => type === 'hello')
  assert.deepEqual(
    events.slice(0, 2).map(({ type }) => type),
    ['hello', 'snapshot'],
  )
  assert.ok(again > 2)
  assert.deepEqual(new Set(events.slice(again + 1).map(({ type }) => type)), new Set(['delta']))
  const seqs = events.flatMap(({ lastEventId, type }) => (type === 'hello' ? [] : [Number(lastEventId.split('/')[2])]))
  assert.deepEqual(
    seqs,
    seqs.toSorted((a, b) => a - b),
  )
  assert.equal(new Set(seqs).size, seqs.length, 'nothing came twice')
})
