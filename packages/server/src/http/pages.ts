import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { Readable } from 'node:stream'
import { InspanError } from '@inspan/protocol'

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
}

/** Nothing from elsewhere is loaded or run, and no other page may show this one. */
const POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

interface PageFiles {
  readonly files: ReadonlyMap<string, string>
  /** When the page was built. */
  readonly builtAt: number
}

/**
 * The files of a web page. A request names one that was listed, or nothing, so that no path can lead out of the folder.
 * They are listed again when the page was built anew: its parts have other names then.
 */
export class Pages {
  readonly #folder: string
  #listed: PageFiles

  private constructor(folder: string, listed: PageFiles) {
    this.#folder = folder
    this.#listed = listed
  }

  static async open(folder: string): Promise<Pages> {
    return new Pages(folder, await list(folder))
  }

  /** Returns the file for a request, if the request is for one. */
  async answer(method: string, path: string): Promise<Response | undefined> {
    if (method !== 'GET' && method !== 'HEAD') return undefined
    if (path === '/' || path.startsWith('/assets/')) await this.#refresh()
    const file = this.#listed.files.get(path)
    // A listed file is gone for a moment while the page is replaced.
    const found = file === undefined ? undefined : await stat(file).catch(() => undefined)
    if (file === undefined || found === undefined) return undefined
    // Names of built files hold a hash of their content.
    const cache = path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'
    const body = method === 'HEAD' ? null : (Readable.toWeb(createReadStream(file)) as ReadableStream)
    return new Response(body, {
      headers: {
        'cache-control': cache,
        'content-length': String(found.size),
        'content-security-policy': POLICY,
        'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      },
    })
  }

  async #refresh(): Promise<void> {
    const builtAt = await builtAtOf(this.#folder)
    // While it is being replaced, there is none.
    if (builtAt === undefined || builtAt === this.#listed.builtAt) return
    this.#listed = await list(this.#folder).catch(() => this.#listed)
  }
}

async function builtAtOf(folder: string): Promise<number | undefined> {
  const found = await stat(join(folder, 'index.html')).catch(() => undefined)
  return found?.mtimeMs
}

async function list(folder: string): Promise<PageFiles> {
  const builtAt = (await builtAtOf(folder)) ?? 0
  const files = new Map<string, string>()
  let entries
  try {
    entries = await readdir(folder, { recursive: true, withFileTypes: true })
  } catch (cause) {
    throw new InspanError('not-found', `The folder of the pages cannot be read: ${folder}.`, { cause })
  }
  for (const entry of entries) {
    if (!entry.isFile() || TYPES[extname(entry.name)] === undefined) continue
    const path = join(entry.parentPath, entry.name)
    files.set(path.slice(folder.replace(/\/$/, '').length), path)
  }
  const index = files.get('/index.html')
  if (index === undefined) throw new InspanError('not-found', `There is no index.html in ${folder}.`)
  files.set('/', index)
  return { files, builtAt }
}
