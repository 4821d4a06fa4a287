import assert from 'node:assert/strict'
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect, type Client } from '@inspan/client'

export const INSPAN: string = fileURLToPath(new URL('../../bin/inspan.js', import.meta.url))

export interface ServingOptions {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Whether the folder is a git repository with one commit. Default: true. */
  readonly isRepository?: boolean
  /** Further files of the folder. */
  readonly files?: Readonly<Record<string, string>>
  /** Another server whose data it shares. */
  readonly sharing?: Serving
}

/** A running `inspan serve` in a folder of its own, without any coding agent. */
export class Serving implements AsyncDisposable {
  readonly base: string = realpathSync(mkdtempSync(join(tmpdir(), 'inspan-serving-')))
  readonly folder: string = join(this.base, 'project')
  readonly home: string
  readonly #options: ServingOptions
  #child: ChildProcess | undefined
  #client: Client | undefined
  url = ''

  private constructor(options: ServingOptions) {
    this.#options = options
    this.home = options.sharing?.home ?? join(this.base, 'home')
    mkdirSync(this.folder)
    for (const [name, text] of Object.entries({ 'a.txt': 'a\n', ...options.files })) {
      writeFileSync(join(this.folder, name), text)
    }
    if (options.isRepository === false) return
    const git = ['-c', 'user.name=a', '-c', 'user.email=a@b.c', '-C', this.folder]
    for (const args of ['init -q', 'add -A', 'commit -qm Begin']) execFileSync('git', [...git, ...args.split(' ')])
  }

  static async start(options: ServingOptions): Promise<Serving> {
    const serving = new Serving(options)
    await serving.restart()
    serving.#client = await connect({ url: serving.url, token: serving.token })
    return serving
  }

  get token(): string {
    return (JSON.parse(readFileSync(join(this.home, 'server-tokens.json'), 'utf8')) as { token: string }).token
  }

  get client(): Client {
    assert.ok(this.#client !== undefined)
    return this.#client
  }

  /** Starts the server, after the first time on the same port. */
  async restart(): Promise<void> {
    const { args = [], env = {} } = this.#options
    const port = this.url === '' ? '0' : new URL(this.url).port
    const child = spawn(process.execPath, [INSPAN, 'serve', '--no-page', '--port', port, ...args], {
      cwd: this.folder,
      env: { PATH: '/usr/bin:/bin', HOME: this.base, INSPAN_HOME: this.home, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.#child = child
    let out = ''
    for await (const chunk of child.stdout) {
      out += String(chunk)
      if (/^Listening on \S+$/m.test(out)) break
    }
    this.url = /^Listening on (\S+)$/m.exec(out)?.[1] ?? ''
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined) return
    child.kill(signal)
    await once(child, 'close')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client?.close()
    await this.kill('SIGTERM')
    rmSync(this.base, { recursive: true, force: true, maxRetries: 5 })
  }
}
