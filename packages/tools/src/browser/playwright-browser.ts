import type { Browser as Chromium, Page } from 'playwright-core'
import type { Browser, PageView } from './browser.ts'

export class PlaywrightBrowser implements Browser {
  readonly #program: Chromium
  readonly #page: Page

  constructor(program: Chromium, page: Page) {
    this.#program = program
    this.#page = page
  }

  async open(url: string): Promise<PageView> {
    await this.#page.goto(url, { waitUntil: 'load' })
    return this.read()
  }

  async read(): Promise<PageView> {
    const text = await this.#page.evaluate(READ_PAGE)
    return { url: this.#page.url(), title: await this.#page.title(), text: String(text) }
  }

  async click(target: string): Promise<PageView> {
    await this.#page.locator(selectorOf(target)).first().click()
    await this.#page.waitForLoadState('load')
    return this.read()
  }

  async type(target: string, text: string, { submit = false }: { readonly submit?: boolean } = {}): Promise<PageView> {
    const field = this.#page.locator(selectorOf(target)).first()
    await field.fill(text)
    if (submit) {
      await field.press('Enter')
      await this.#page.waitForLoadState('load')
    }
    return this.read()
  }

  async screenshot({ fullPage = false }: { readonly fullPage?: boolean } = {}): Promise<Buffer> {
    return this.#page.screenshot({ fullPage, type: 'png' })
  }

  async wait({ ms, text }: { readonly text?: string; readonly ms?: number }): Promise<PageView> {
    if (text !== undefined) await this.#page.getByText(text).first().waitFor()
    else await this.#page.waitForTimeout(ms ?? 1000)
    return this.read()
  }

  async close(): Promise<void> {
    await this.#program.close()
  }
}

function selectorOf(target: string): string {
  return /^e\d+$/.test(target) ? `[data-inspan-ref="${target}"]` : target
}

/** Runs in the page: numbers what can be used, and returns the visible text with the numbers. */
const READ_PAGE = `(() => {
  let count = 0
  const lines = []
  const visible = (element) => element.checkVisibility ? element.checkVisibility() : true
  const walk = (node) => {
    if (node.nodeType === 3) {
      const text = node.nodeValue.replace(/\\s+/g, ' ').trim()
      if (text !== '') lines.push(text)
      return
    }
    if (node.nodeType !== 1 || /^(script|style|noscript|template)$/i.test(node.tagName) || !visible(node)) return
    const tag = node.tagName.toLowerCase()
    if (/^(a|button|input|select|textarea)$/.test(tag) || node.getAttribute('role') === 'button') {
      const ref = 'e' + ++count
      node.setAttribute('data-inspan-ref', ref)
      const name = (node.getAttribute('aria-label') || node.innerText || node.placeholder || node.name || '').replace(/\\s+/g, ' ').trim()
      const secret = tag === 'input' && node.type === 'password'
      const value = 'value' in node && tag !== 'button' && !secret && node.value ? ' = ' + node.value : ''
      lines.push('[' + ref + '] ' + (tag === 'a' ? 'link' : tag === 'input' ? node.type + ' field' : tag) + ': ' + name + value)
      return
    }
    for (const child of node.childNodes) walk(child)
  }
  if (document.body) walk(document.body)
  return lines.join('\\n')
})()`
