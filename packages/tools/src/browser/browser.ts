/** What a page looks like to a model. */
export interface PageView {
  readonly url: string
  readonly title: string
  /** The text of the page, with its links, buttons and fields numbered as `[e1]`. */
  readonly text: string
}

/**
 * A browser that agents can use. The default implementation drives Chromium through `playwright-core`; another one can
 * drive anything that has pages.
 */
export interface Browser {
  open(url: string, signal?: AbortSignal): Promise<PageView>
  read(): Promise<PageView>
  /** `target`: a number such as `e1` from the text of the page, or a CSS selector. */
  click(target: string, signal?: AbortSignal): Promise<PageView>
  type(target: string, text: string, options?: { readonly submit?: boolean }): Promise<PageView>
  /** Returns a PNG. */
  screenshot(options?: { readonly fullPage?: boolean }): Promise<Buffer>
  /** Waits until the page shows a text, or for some milliseconds. */
  wait(options: { readonly text?: string; readonly ms?: number }, signal?: AbortSignal): Promise<PageView>
  close(): Promise<void>
}
