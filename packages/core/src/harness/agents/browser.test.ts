import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { BrowserTools, type Browser, type PageView } from '@inspan/tools'
import { HarnessBench } from '../harness.fixture.ts'

/** A browser without a program, for one page per thread. */
function browserOf(title: string, log: string[]): BrowserTools {
  const open = async (threadId: string): Promise<Browser> => {
    log.push(`${title} for ${threadId === '' ? 'nobody' : 'a thread'}`)
    let url = 'about:blank'
    const read = async (): Promise<PageView> => ({ url, title, text: '[e1] link: More' })
    return {
      open: async (wanted) => {
        url = wanted
        return read()
      },
      read,
      click: read,
      type: read,
      screenshot: async () => Buffer.from('PNG'),
      wait: read,
      close: async () => void log.push(`${title} closed`),
    }
  }
  return new BrowserTools({ open })
}

const OPEN = { toolCalls: [{ id: 'c1', name: 'browser_open', input: { url: 'https://example.org/' } }] }

suite('a browser', () => {
  test('a browser of a harness gives its tools to the agents of every mode, and stays open', async () => {
    const log: string[] = []
    const browser = browserOf('Shop', log)
    const bench = new HarnessBench([OPEN, { text: 'Done.' }], { browser, initialState: { yolo: true } })
    await bench.harness.sendMessage({ content: 'Look.' })
    assert.equal(bench.all('tool_end')[0]?.result, 'Shop\nhttps://example.org/\n\n[e1] link: More')
    assert.equal(bench.harness.getBrowser(), browser)
    await bench.harness.destroy()
    assert.deepEqual(log, ['Shop for a thread'])
    await browser.close()
    assert.equal(log.at(-1), 'Shop closed')
  })

  test('a browser of an agent overrides that of the harness, and is made once for a run', async () => {
    const log: string[] = []
    const other = browserOf('Other', log)
    await using bench = new HarnessBench(
      [OPEN, { text: 'Done.' }],
      { browser: browserOf('Shop', log), initialState: { yolo: true } },
      { browser: other },
    )
    await bench.harness.sendMessage({ content: 'Look.' })
    assert.deepEqual(log, ['Other for a thread'])
    let made = 0
    await using dynamic = new HarnessBench([OPEN, OPEN, { text: 'Done.' }], {
      browser: () => {
        made++
        return other
      },
      initialState: { yolo: true },
    })
    await dynamic.harness.sendMessage({ content: 'Look.' })
    assert.equal(made, 1)
  })

  test('is asked about before it opens or clicks, and opens no address that is not of the web', async () => {
    const log: string[] = []
    const files = { toolCalls: [{ id: 'c1', name: 'browser_open', input: { url: 'file:///etc/passwd' } }] }
    await using bench = new HarnessBench([files, { text: 'Done.' }], { browser: browserOf('Shop', log) })
    const asked = bench.next('tool_approval_required')
    const sent = bench.harness.sendMessage({ content: 'Look.' })
    assert.equal((await asked).toolName, 'browser_open')
    await bench.harness.session.respondToToolApproval({ decision: 'approve' })
    await sent
    assert.deepEqual([bench.all('tool_end')[0]?.isError, log], [true, []])
  })

  test('shows no page that may not be opened, also if a link or a redirect has led there', async () => {
    let url = 'https://example.org/'
    const page = async (): Promise<PageView> => ({ url, title: 'T', text: 'secret' })
    const moved = async (): Promise<PageView> => {
      url = 'http://10.0.0.1/'
      return page()
    }
    const screenshot = async (): Promise<Buffer> => Buffer.from('secret')
    const open = async (): Promise<Browser> => {
      return { open: page, read: page, click: moved, type: page, screenshot, wait: page, close: async () => undefined }
    }
    const calls = [
      { id: 'c1', name: 'browser_open', input: { url } },
      { id: 'c2', name: 'browser_click', input: { target: 'e1' } },
      { id: 'c3', name: 'browser_read', input: {} },
      { id: 'c4', name: 'browser_screenshot', input: {} },
    ]
    const script = [...calls.map((call) => ({ toolCalls: [call] })), { text: 'Done.' }]
    const browser = new BrowserTools({ open, allows: ({ hostname }) => hostname === 'example.org' })
    await using bench = new HarnessBench(script, { browser, initialState: { yolo: true } })
    await bench.harness.sendMessage({ content: 'Look.' })
    const [shown, ...refused] = bench.all('tool_end')
    assert.match(String(shown?.result), /secret/)
    for (const { isError, result } of refused) {
      assert.deepEqual([isError, result], [true, 'http://10.0.0.1/ may not be opened.'])
    }
    assert.equal(refused.length, 3)
  })
})
