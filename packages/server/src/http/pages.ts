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

/**
 * The files of a web page. They are listed once: a request names one of them or nothing, so that no path can lead out of
 * the folder.
 */
export class Pages {
  readonly #files: ReadonlyMap<string, string>

  private constructor(files: ReadonlyMap<string, string>) {
    this.#files = files
  }

  static async open(folder: string): Promise<Pages> {
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
    return new Pages(files)
  }

  /** Returns the file for a request, if the request is for one. */
  async answer(method: string, path: string): Promise<Response | undefined> {
    const file = method === 'GET' || method === 'HEAD' ? this.#files.get(path) : undefined
    if (file === undefined) return undefined
    const { size } = await stat(file)
    // Names of built files hold a hash of their content.
    const cache = path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache'
    const body = method === 'HEAD' ? null : (Readable.toWeb(createReadStream(file)) as ReadableStream)
    return new Response(body, {
      headers: {
        'cache-control': cache,
        'content-length': String(size),
        'content-security-policy': POLICY,
        'content-type': TYPES[extname(file)] ?? 'application/octet-stream',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      },
    })
  }
}
