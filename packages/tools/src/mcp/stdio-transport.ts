import { setImmediate as nextTask } from 'node:timers/promises'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { InspanError } from '@inspan/protocol'
import type { MCPStdioServerConfig } from '@inspan/protocol/chat'
import type { Line, RunProcess } from '@inspan/shell/run'

/** A message larger than this ends the connection: it would fill the memory. */
export const MAX_MESSAGE_BYTES: number = 16 * 1024 * 1024

/** What a server sees of our environment unless it is configured: enough to find programs, no keys. */
const INHERITED = ['HOME', 'LANG', 'LC_ALL', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER']
const INHERITED_ON_WINDOWS = ['APPDATA', 'LOCALAPPDATA', 'PATHEXT', 'SYSTEMDRIVE', 'SYSTEMROOT', 'TEMP', 'USERPROFILE']

const MAX_STDERR = 2_000

const SENT = Promise.resolve()

/** Talks to a server process, which ends with us even if we are killed. */
export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: Transport['onmessage']
  readonly #config: MCPStdioServerConfig
  readonly #cwd: string | undefined
  #run: RunProcess | undefined
  #isClosed = false
  #stderr = ''

  constructor(config: MCPStdioServerConfig, cwd?: string) {
    this.#config = config
    this.#cwd = cwd
  }

  /** Present, like `stderr`, because the library tells pipes from sockets by them. */
  get pid(): number | null {
    return this.#run?.pid ?? null
  }

  /** The last the server printed to its standard error. */
  get stderr(): string {
    return this.#stderr
  }

  async start(): Promise<void> {
    const { args = [], command, env = {} } = this.#config
    const { spawnRun } = await import('@inspan/shell/run')
    const run = await spawnRun({
      command,
      args,
      env: { ...inherited(), ...env },
      stdin: 'open',
      maxLineBytes: MAX_MESSAGE_BYTES,
      ...(this.#cwd === undefined ? {} : { cwd: this.#cwd }),
    })
    this.#run = run
    if (this.#isClosed) await run.kill()
    void this.#readMessages(run)
    void this.#readErrors(run)
    void run.exited.then(() => this.#end())
  }

  send(message: JSONRPCMessage): Promise<void> {
    if (this.#run === undefined || this.#isClosed) {
      return Promise.reject(new InspanError('closed', 'The server has ended.'))
    }
    // Nobody has to wait until it is written: a server that cannot be written to has ended, which is heard of.
    this.#run.post(`${JSON.stringify(message)}\n`)
    return SENT
  }

  async close(): Promise<void> {
    const isFirst = !this.#isClosed
    this.#isClosed = true
    // A server ends when its input ends; one that does not is killed.
    await this.#run?.closeStdin().catch(() => undefined)
    await this.#run?.kill({ graceMs: 1_000 })
    if (isFirst) this.onclose?.()
  }

  async #readMessages({ stdout }: RunProcess): Promise<void> {
    try {
      await stdout.deliver((lines) => {
        const [first, ...others] = lines
        if (first !== undefined) this.#readLine(first)
        return others.length === 0 ? undefined : this.#readLater(others)
      })
    } catch (error) {
      this.#fail(error)
    }
  }

  /** The library handles progress a moment later, and a result that comes with it must not be first. */
  async #readLater(lines: readonly Line[]): Promise<void> {
    for (const line of lines) {
      await nextTask()
      this.#readLine(line)
    }
  }

  #readLine(line: Line): void {
    if (line.partial) {
      this.onerror?.(new InspanError('io', `The server sent a message above ${MAX_MESSAGE_BYTES} bytes.`))
      void this.close()
      return
    }
    try {
      this.#receive(line.text)
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    this.onerror?.(error instanceof Error ? error : new Error(String(error)))
  }

  #receive(text: string): void {
    if (text === '' || text.trim() === '') return
    let message: unknown
    try {
      message = JSON.parse(text)
    } catch {
      this.onerror?.(new InspanError('io', 'The server printed something that is no message to its standard output.'))
      return
    }
    this.onmessage?.(message as JSONRPCMessage)
  }

  async #readErrors({ stderr }: RunProcess): Promise<void> {
    for await (const line of stderr) this.#stderr = `${this.#stderr}${line.text}\n`.slice(-MAX_STDERR)
  }

  #end(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    // What the server has started may still run.
    void this.#run?.kill({ graceMs: 0 })
    this.onclose?.()
  }
}

function inherited(): NodeJS.ProcessEnv {
  const names = process.platform === 'win32' ? [...INHERITED, ...INHERITED_ON_WINDOWS] : INHERITED
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  )
}
