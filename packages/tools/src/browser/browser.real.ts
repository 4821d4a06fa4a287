import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite, test } from 'node:test'
import type { JsonObject } from '@inspan/protocol'
import type { ToolOutcome, ToolRunContext } from '@inspan/protocol/driver'
import { BrowserTools } from './browser-tools.ts'
import { openPlaywright } from './open-playwright.ts'

const PAGE = `<!doctype html><title>Shop</title><body><h1>Tea</h1>
  <a href="/more">More</a><input name="q" placeholder="Search"><input type="password" value="hidden">
  <button onclick="setTimeout(() => document.body.append('Bought!'), 50)">Buy</button>
  <p style="display:none">not shown</p><script>var secret = 1</script></body>`

const executablePath = process.env['INSPAN_CHROMIUM'] ?? '/usr/bin/chromium'

suite('agents use a real Chromium', () => {
  test('open, read, click, type, wait, take a picture, and close', async () => {
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'text/html')
      response.end(request.url === '/more' ? '<title>More</title><body>More tea</body>' : PAGE)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const tools = new BrowserTools({ open: () => openPlaywright({ executablePath, args: ['--no-sandbox'] }) })
    const call = (name: string, input: JsonObject = {}): Promise<ToolOutcome> =>
      tools.call(name, input, { signal: new AbortController().signal, threadId: 't' } as ToolRunContext)
    try {
      const opened = await call('browser_open', { url: address })
      assert.equal(
        opened.result,
        `Shop\n${address}\n\nTea\n[e1] link: More\n[e2] text field: Search\n[e3] password field: \n[e4] button: Buy`,
      )
      assert.match(JSON.stringify(await call('browser_type', { target: 'e2', text: 'green' })), /Search = green/)
      await call('browser_click', { target: 'e4' })
      assert.match(JSON.stringify(await call('browser_wait', { text: 'Bought!' })), /Bought!/)
      const picture = await call('browser_screenshot')
      const [part] = picture.modelOutput?.type === 'content' ? picture.modelOutput.value : []
      assert.ok(part?.type === 'file' && Buffer.from(part.data, 'base64').subarray(1, 4).toString() === 'PNG')
      assert.equal((await call('browser_click', { target: 'e1' })).result, `More\n${address}more\n\nMore tea`)
      assert.equal((await call('browser_open', { url: 'file:///etc/passwd' })).isError, true)
    } finally {
      await tools.close()
      server.closeAllConnections()
      server.close()
    }
  })
})
