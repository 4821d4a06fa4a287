import { InspanError, type JsonObject } from '@inspan/protocol'
import type { SourcedTool, ToolOutcome, ToolRunContext, ToolSource } from '@inspan/protocol/driver'
import type { Browser, PageView } from './browser.ts'

export interface BrowserToolsOptions {
  /** The id of the tool source. */
  readonly id?: string
  /** Makes the browser of a thread, on its first call. */
  readonly open: (threadId: string) => Promise<Browser>
  /**
   * Called with every address before it is opened, and with that of every page before it is shown, because links and
   * redirects lead on; `false` refuses it. Default: only `http:` and `https:`.
   */
  readonly allows?: (url: URL) => boolean
  /** How much of a page the model gets, in characters. Default: 30,000. */
  readonly maxText?: number
}

const target: JsonObject = { type: 'string', description: 'A number such as e1 from the page, or a CSS selector.' }

const TOOLS: readonly (SourcedTool & { readonly required: readonly string[] })[] = [
  tool('browser_open', 'Open an address and read the page.', { url: { type: 'string' } }, ['url']),
  tool('browser_read', 'Read the open page as text. Links, buttons and fields are numbered as [e1].', {}, []),
  tool('browser_click', 'Click something on the page.', { target }, ['target']),
  tool(
    'browser_type',
    'Type into a field of the page. With `submit` press Enter afterwards.',
    { target, text: { type: 'string' }, submit: { type: 'boolean' } },
    ['target', 'text'],
  ),
  tool('browser_screenshot', 'Take a picture of the page.', { fullPage: { type: 'boolean' } }, []),
  tool(
    'browser_wait',
    'Wait until the page shows a text, or for some milliseconds.',
    { text: { type: 'string' }, ms: { type: 'integer', minimum: 1, maximum: 60_000 } },
    [],
  ),
]

function tool(
  name: string,
  description: string,
  properties: JsonObject,
  required: readonly string[],
): (typeof TOOLS)[number] {
  const reads = ['browser_read', 'browser_screenshot', 'browser_wait'].includes(name)
  return {
    name,
    description,
    category: reads ? 'read' : 'execute',
    inputSchema: { type: 'object', properties, required: [...required], additionalProperties: false },
    annotations: { readOnlyHint: reads, openWorldHint: true },
    // A page changes no file of the workspace.
    keepsFiles: true,
    required,
    checkInput: async (input) => {
      const missing = required.find((field) => typeof input[field] !== 'string')
      return missing === undefined ? undefined : `\`${missing}\` has to be a text.`
    },
  }
}

/** The tools of a browser. Every thread has a browser of its own, opened on its first call and closed with the source. */
export class BrowserTools implements ToolSource {
  readonly id: string
  readonly #options: BrowserToolsOptions
  readonly #browsers = new Map<string, Promise<Browser>>()

  constructor(options: BrowserToolsOptions) {
    this.id = options.id ?? 'browser'
    this.#options = options
  }

  list(): readonly SourcedTool[] {
    return TOOLS
  }

  async call(name: string, input: JsonObject, run: ToolRunContext): Promise<ToolOutcome> {
    try {
      return await this.#call(name, input, run)
    } catch (error) {
      if (!(error instanceof Error) || run.signal.aborted) throw error
      return { result: error.message.split('\n')[0] ?? '', isError: true }
    }
  }

  async close(): Promise<void> {
    const open = [...this.#browsers.values()]
    this.#browsers.clear()
    await Promise.all(open.map(async (browser) => (await browser.catch(() => undefined))?.close()))
  }

  async #call(name: string, input: JsonObject, { signal, threadId }: ToolRunContext): Promise<ToolOutcome> {
    const text = (field: string): string => {
      const value = input[field]
      if (typeof value === 'string') return value
      throw new InspanError('invalid-input', `\`${field}\` has to be a text.`)
    }
    // Refused before a browser is started for it.
    const url = name === 'browser_open' ? this.#checked(text('url')) : undefined
    const browser = await this.#browser(threadId)
    switch (name) {
      case 'browser_open':
        return this.#page(await browser.open(url ?? '', signal))
      case 'browser_read':
        return this.#page(await browser.read())
      case 'browser_click':
        return this.#page(await browser.click(text('target'), signal))
      case 'browser_type':
        return this.#page(await browser.type(text('target'), text('text'), { submit: input['submit'] === true }))
      case 'browser_screenshot': {
        this.#assertShown((await browser.read()).url)
        const data = (await browser.screenshot({ fullPage: input['fullPage'] === true })).toString('base64')
        const picture = { type: 'file', mediaType: 'image/png', data } as const
        return { result: 'A picture of the page.', modelOutput: { type: 'content', value: [picture] } }
      }
      case 'browser_wait': {
        const wanted = typeof input['text'] === 'string' ? { text: input['text'] } : {}
        const ms = typeof input['ms'] === 'number' ? { ms: input['ms'] } : {}
        return this.#page(await browser.wait({ ...wanted, ...ms }, signal))
      }
    }
    throw new InspanError('not-found', `The browser has no tool "${name}".`)
  }

  #page({ text, title, url }: PageView): ToolOutcome {
    const { maxText = 30_000 } = this.#options
    this.#assertShown(url)
    const cut = text.length > maxText ? `\n[${text.length - maxText} characters left out]` : ''
    return { result: `${title}\n${url}\n\n${text.slice(0, maxText)}${cut}` }
  }

  #checked(given: string): string {
    const { allows = isWeb } = this.#options
    const url = URL.canParse(given) ? new URL(given) : undefined
    if (url === undefined) throw new InspanError('invalid-input', `"${given}" is not an address.`)
    if (allows(url)) return url.href
    throw new InspanError('invalid-input', `${url.href} may not be opened.`)
  }

  /** A browser begins with an empty page, which is of nobody. */
  #assertShown(address: string): void {
    if (address !== 'about:blank') this.#checked(address)
  }

  #browser(threadId: string): Promise<Browser> {
    const known = this.#browsers.get(threadId)
    if (known !== undefined) return known
    const opened = this.#options.open(threadId)
    this.#browsers.set(threadId, opened)
    opened.catch(() => this.#browsers.delete(threadId))
    return opened
  }
}

function isWeb({ protocol }: URL): boolean {
  return protocol === 'http:' || protocol === 'https:'
}
