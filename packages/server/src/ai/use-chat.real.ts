/** `useChat` of `@ai-sdk/react` in a real browser: Debian's Chromium, or the one that CHROMIUM names. */
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createTool } from '@inspan/core'
import { build } from 'esbuild'
import { chromium, type Browser, type Page } from 'playwright-core'
import { ServerBench } from '../server.fixture.ts'

/** Shows all that `useChat` returns, each part of a message as an element of its own. */
const PAGE = `
import { createElement as h } from 'react'
import { createRoot } from 'react-dom/client'
import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'

const Part = ({ answer, part }) => {
  if (part.type === 'text' || part.type === 'reasoning') return h('p', { className: part.type }, part.text)
  if (part.type === 'file') return h('img', { src: part.url, alt: part.mediaType })
  if (part.type !== 'dynamic-tool') return null
  const decide = (label, approved, reason) =>
    h('button', { onClick: () => answer({ id: part.approval.id, approved, reason }) }, label + ' ' + part.input.of)
  return h('div', { className: 'tool' },
    h('span', null, [part.toolName, part.state, JSON.stringify(part.output ?? null)].join(' ')),
    part.state === 'approval-requested' && decide('Approve', true),
    part.state === 'approval-requested' && decide('Deny', false, 'Not on a Sunday.'))
}

const transport = new DefaultChatTransport({ api: '/v1/ai/chat' })
const finished = []

const Chat = ({ id, resume }) => {
  const chat = useChat({
    id,
    resume,
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    onFinish: ({ isAbort }) => finished.push(isAbort ? 'aborted' : 'finished'),
  })
  window.sendMessage = chat.sendMessage
  return h('main', null,
    h('output', null, chat.status),
    h('em', null, finished.join(' ')),
    h('strong', null, chat.error?.message),
    h('button', { onClick: () => void chat.stop() }, 'Stop'),
    chat.messages.map(({ id, parts, role }) =>
      h('section', { key: id, className: role }, parts.map((part, index) =>
        h(Part, { answer: chat.addToolApprovalResponse, key: index, part })))))
}

window.start = (id, resume) => createRoot(document.getElementById('root')).render(h(Chat, { id, resume }))
window.pair = (code) => fetch('/v1/pair', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ code }),
})
`

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const CHAT = 'my-chat'

let browser: Browser
let folder = ''
before(
  async () => {
    folder = await mkdtemp(join(tmpdir(), 'inspan-use-chat-'))
    const stdin = { contents: PAGE, resolveDir: fileURLToPath(new URL('.', import.meta.url)) }
    await build({ stdin, bundle: true, format: 'esm', outfile: join(folder, 'page.js') })
    await writeFile(join(folder, 'index.html'), '<div id="root"></div><script type="module" src="/page.js"></script>')
    const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  },
  { timeout: 120_000 },
)
after(async () => {
  await browser.close()
  await rm(folder, { recursive: true, force: true })
})

/** A server whose page is a React component with a chat, opened in a browser. */
class ChatPage implements AsyncDisposable {
  readonly bench: ServerBench
  readonly page: Page
  /** What the tool `write` was given. */
  readonly written: string[]
  /** Lets the tool `hold` end. */
  readonly release: () => void

  private constructor(bench: ServerBench, page: Page, written: string[], release: () => void) {
    this.bench = bench
    this.page = page
    this.written = written
    this.release = release
  }

  static async open(script: Parameters<typeof ServerBench.start>[0]): Promise<ChatPage> {
    const input = { type: 'object', properties: { of: { type: 'string' } } } as const
    const written: string[] = []
    const held = Promise.withResolvers<void>()
    const look = createTool({ id: 'look', description: 'Looks.', inputSchema: input, execute: async () => 'a heron' })
    const hold = createTool({
      id: 'hold',
      description: 'Takes long.',
      inputSchema: input,
      execute: async () => {
        await held.promise
        return 'held'
      },
    })
    const write = createTool({
      id: 'write',
      description: 'Writes.',
      inputSchema: input,
      execute: async ({ of }) => {
        written.push(JSON.stringify(of))
        return 'written'
      },
    })
    const bench = await ServerBench.start(script, {
      agent: { tools: { look, hold, write } },
      harness: { permissions: { tools: { look: 'allow', hold: 'allow', write: 'ask' } } },
      serve: { pages: folder },
    })
    const page = await (await browser.newContext()).newPage()
    const opened = new ChatPage(bench, page, written, held.resolve)
    await opened.visit()
    await page.evaluate(`window.pair(${JSON.stringify(bench.server.pair().code)})`)
    await opened.show()
    return opened
  }

  async visit(): Promise<void> {
    await this.page.goto(this.bench.url)
  }

  async show({ resume = false } = {}): Promise<void> {
    await this.page.evaluate(`window.start(${JSON.stringify(CHAT)}, ${resume})`)
    await this.page.locator('main').waitFor()
  }

  /** Sends a message without waiting for the answer. */
  async send(message: object): Promise<void> {
    await this.page.evaluate(`void window.sendMessage(${JSON.stringify(message)})`)
  }

  status(status: string): Promise<void> {
    return this.page.locator('output', { hasText: new RegExp(`^${status}$`) }).waitFor()
  }

  texts(selector: string): Promise<string[]> {
    return this.page.locator(selector).allTextContents()
  }

  async shows(text: string): Promise<void> {
    await this.page.getByText(text, { exact: true }).waitFor()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.context().close()
    await this.bench[Symbol.asyncDispose]()
  }
}

const call = (name: string, of: string) => ({ name, input: { of } })

suite('useChat in React', { timeout: 300_000 }, () => {
  test('shows reasoning and text, and continues in the same chat', async () => {
    await using chat = await ChatPage.open([
      { reasoning: ['Let me ', 'think.'], text: ['Hello ', 'there.'] },
      { text: 'Again.' },
    ])
    await chat.send({ text: 'Hi' })
    await chat.shows('Hello there.')
    assert.deepEqual(await chat.texts('.reasoning'), ['Let me think.'])
    await chat.status('ready')
    await chat.send({ text: 'And?' })
    await chat.shows('Again.')
    assert.deepEqual(await chat.texts('.text'), ['Hi', 'Hello there.', 'And?', 'Again.'])
  })

  test('runs two tools of one step, one of them when its button is pressed', async () => {
    await using chat = await ChatPage.open([
      { text: 'Working.', toolCalls: [call('look', 'pond'), call('write', 'note')] },
      { text: 'Done.' },
    ])
    await chat.send({ text: 'Go' })
    await chat.page.getByRole('button', { name: 'Approve note' }).waitFor()
    // The other tool may end later than this one asks.
    await chat.shows('look output-available "a heron"')
    assert.deepEqual(await chat.texts('.tool span'), [
      'look output-available "a heron"',
      'write approval-requested null',
    ])
    assert.deepEqual(chat.written, [])
    await chat.page.getByRole('button', { name: 'Approve note' }).click()
    await chat.shows('Done.')
    assert.deepEqual(chat.written, ['"note"'])
    assert.deepEqual(await chat.texts('.tool span'), [
      'look output-available "a heron"',
      'write output-available "written"',
    ])
    assert.deepEqual(await chat.texts('.assistant .text'), ['Working.', 'Done.'])
  })

  test('two calls that wait are decided one by one: one approved, one denied', async () => {
    await using chat = await ChatPage.open([
      { toolCalls: [call('write', 'one'), call('write', 'two')] },
      { text: 'Half done.' },
    ])
    await chat.send({ text: 'Go' })
    await chat.page.getByRole('button', { name: 'Deny one' }).click()
    await chat.page.getByRole('button', { name: 'Approve two' }).click()
    await chat.shows('Half done.')
    assert.deepEqual(chat.written, ['"two"'])
    assert.deepEqual(await chat.texts('.tool span'), ['write output-denied null', 'write output-available "written"'])
    assert.match(chat.bench.model.requestBodies.at(-1) ?? '', /Not on a Sunday/)
  })

  test('gives the model an image, and shows it', async () => {
    await using chat = await ChatPage.open([{ text: 'A pixel.' }])
    const url = `data:image/png;base64,${PIXEL}`
    await chat.send({ text: 'What?', files: [{ type: 'file', mediaType: 'image/png', url }] })
    await chat.shows('A pixel.')
    assert.equal(await chat.page.locator('.user img').count(), 1)
    assert.ok(chat.bench.model.requestBodies[0]?.includes(PIXEL))
  })

  test('shows an error, and continues after it', async () => {
    await using chat = await ChatPage.open([{ error: { status: 400, message: 'No such thing.' } }, { text: 'Better.' }])
    await chat.send({ text: 'Hi' })
    await chat.status('error')
    assert.match((await chat.texts('strong')).join(''), /No such thing/)
    await chat.send({ text: 'Again' })
    await chat.shows('Better.')
    assert.deepEqual(await chat.texts('strong'), [''])
  })

  test('ends without an error when somebody else cancels the run', async () => {
    await using chat = await ChatPage.open([{ text: ['Once ', 'upon '], hang: true }])
    await chat.send({ text: 'Tell' })
    await chat.shows('Once upon ')
    await chat.status('streaming')
    const cancel = JSON.stringify({ commands: [{ type: 'cancel', thread: CHAT }] })
    await chat.bench.fetch('/v1/commands', { method: 'POST', body: cancel })
    await chat.status('ready')
    assert.deepEqual([await chat.texts('.assistant .text'), await chat.texts('strong')], [['Once upon '], ['']])
    assert.equal((await chat.bench.fetch(`/v1/ai/chat/${CHAT}/stream`)).status, 204)
  })

  test('stops listening without cancelling, reloads in the middle, and gets the rest', async () => {
    await using chat = await ChatPage.open([
      { text: ['Once ', 'upon '], toolCalls: [call('hold', 'it')] },
      { text: 'a time.' },
    ])
    await chat.send({ text: 'Tell' })
    await chat.shows('hold input-available null')
    await chat.page.getByRole('button', { name: 'Stop' }).click()
    await chat.status('ready')
    assert.deepEqual(await chat.texts('em'), ['aborted'])
    await chat.visit()
    await chat.show({ resume: true })
    await chat.shows('hold input-available null')
    assert.deepEqual(await chat.texts('.text'), ['Once upon '])
    chat.release()
    await chat.shows('a time.')
    await chat.status('ready')
    assert.deepEqual(await chat.texts('.tool span'), ['hold output-available "held"'])
    assert.equal(chat.bench.model.requests.length, 2)
  })
})
