import { InspanError } from '@inspan/protocol'
import type { Browser as Chromium, BrowserType } from 'playwright-core'
import type { Browser } from './browser.ts'

export interface PlaywrightOptions {
  /** The path of Chromium or Chrome. Default: the one that Playwright has installed. */
  readonly executablePath?: string
  /** Default: true. */
  readonly headless?: boolean
  /** Arguments for the program, such as `--no-sandbox` where it runs as root. */
  readonly args?: readonly string[]
  /** Milliseconds that a page or an element has to appear. Default: 15,000. */
  readonly timeout?: number
}

/** Opens Chromium with one page. Needs the package `playwright-core`. */
export async function openPlaywright(options: PlaywrightOptions = {}): Promise<Browser> {
  const { args = [], executablePath, headless = true, timeout = 15_000 } = options
  const { chromium } = await load()
  let program: Chromium
  try {
    program = await chromium.launch({
      headless,
      args: [...args],
      ...(executablePath === undefined ? {} : { executablePath }),
    })
  } catch (cause) {
    throw new InspanError('unsupported', 'Chromium cannot be started.', {
      hint: 'Install it, and give its path as `executablePath`.',
      cause,
    })
  }
  const page = await program.newPage()
  page.setDefaultTimeout(timeout)
  const { PlaywrightBrowser } = await import('./playwright-browser.ts')
  return new PlaywrightBrowser(program, page)
}

async function load(): Promise<{ readonly chromium: BrowserType }> {
  try {
    return await import('playwright-core')
  } catch (cause) {
    throw new InspanError('unsupported', 'The browser needs the package playwright-core.', {
      hint: 'Install it next to @inspan/core.',
      cause,
    })
  }
}
