import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect, webSocketTransport, type Client, type Transport } from '@inspan/client'
import { admitCommand, createThread } from '@inspan/core/engine'
import type { JsonObject } from '@inspan/protocol'
import type { Command } from '@inspan/protocol/wire'
import { PostgresStore } from '../postgres-store.ts'
import { withClient } from '../server.fixture.ts'

const TOKEN = 'a-token-that-is-long-enough'
let lastId = 0

/** A command that a machine is to admit through its own store. */
export interface Request {
  readonly commandId: string
  readonly thread: string
  readonly command: Command
}

export interface Reply {
  readonly commandId: string
  readonly status: string
}

/** Several processes on one database, and a file with what their tools did. */
export class Fleet {
  readonly store: PostgresStore
  readonly machines = new Map<number, ChildProcess>()
  /** Where those that serve clients can be reached, by pid. */
  readonly urls = new Map<number, string>()
  readonly #clients: Client[] = []
  readonly #url: string
  readonly #folder: string

  private constructor(url: string, folder: string, store: PostgresStore) {
    this.#url = url
    this.#folder = folder
    this.store = store
  }

  static async start(url: string, size: number): Promise<Fleet> {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-fleet-'))
    const fleet = new Fleet(url, folder, await PostgresStore.open({ url }))
    await Promise.all(Array.from({ length: size }, () => fleet.add()))
    return fleet
  }

  async add(env: Readonly<Record<string, string>> = {}): Promise<ChildProcess> {
    const program = fileURLToPath(new URL('machine-child.fixture.ts', import.meta.url))
    const child = spawn(process.execPath, [program], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, LEDGER: this.#ledger, URL: this.#url, ...env },
    })
    const [{ status }] = (await once(child, 'message')) as [Reply]
    child.setMaxListeners(0)
    this.machines.set(child.pid ?? 0, child)
    if (status !== '') this.urls.set(child.pid ?? 0, status)
    return child
  }

  /** Adds machines that serve clients, and returns their pids. */
  async serve(count: number, env: Readonly<Record<string, string>> = {}): Promise<number[]> {
    const children = await Promise.all(Array.from({ length: count }, () => this.add({ SERVE: TOKEN, ...env })))
    return children.map(({ pid = 0 }) => pid)
  }

  /** Connects a client to one of the machines that serve. */
  async connect(pid: number, thread: string, onDelta?: (seq: number) => void): Promise<Client> {
    const socket = webSocketTransport({ url: this.urls.get(pid) ?? '', token: TOKEN })
    const transport: Transport = {
      ...socket,
      open: (events) =>
        socket.open({
          ...events,
          onMessage: (message) => {
            if (message.type === 'delta') onDelta?.(message.seq)
            events.onMessage(message)
          },
        }),
    }
    const client = await connect({ transport, thread, retry: { longestMs: 300 } })
    this.#clients.push(client)
    return client
  }

  /** Has a machine admit a command. Resolves with what it says. */
  async through(child: ChildProcess, request: Request): Promise<string> {
    const answered = new Promise<string>((resolve) => {
      const hear = ({ commandId, status }: Reply): void => {
        if (commandId !== request.commandId) return
        child.off('message', hear)
        resolve(status)
      }
      child.on('message', hear)
    })
    child.send(request)
    return answered
  }

  get #ledger(): string {
    return join(this.#folder, 'ledger')
  }

  /** Creates a thread and leaves a message for it in the database, as any process may. */
  async submit(prompt: string, metadata: JsonObject = {}): Promise<string> {
    const id = await this.create(metadata)
    await this.send(id, prompt)
    return id
  }

  /** Starts a run with so many effects, and returns once it has had a few. */
  async startRun(effects: number): Promise<{ readonly thread: string; readonly owner: number }> {
    const before = (await this.effects()).length
    const thread = await this.submit(`note ${effects}`)
    await until(async () => (await this.effects()).length > before + 2)
    const owner = await this.ownerOf(thread)
    if (owner === undefined) throw new Error(`No machine owns ${thread}, although its run has begun.`)
    return { thread, owner }
  }

  async create(metadata: JsonObject = {}): Promise<string> {
    const id = `thread-${++lastId}`
    await createThread(this.store, { id, resourceId: 'fleet', now: Date.now(), metadata })
    return id
  }

  async send(thread: string, prompt: string, commandId = uuid7()): Promise<void> {
    const key = { principal: 'ann', clientId: 'test', commandId }
    await admitCommand(this.store, { command: { type: 'submit', prompt }, key, target: thread, at: Date.now() })
  }

  async answer(thread: string, waitId: string, commandId: string): Promise<void> {
    const key = { principal: 'ann', clientId: 'test', commandId }
    const command = { type: 'answer', waitId, answer: { decision: 'approve' } } as const
    await admitCommand(this.store, { command, key, target: thread, at: Date.now() })
  }

  /** The pid of the process that owns the thread. */
  async ownerOf(thread: string): Promise<number | undefined> {
    const status = await this.store.getStream(thread)
    if (status?.owner === null || status?.owner === undefined) return undefined
    return (await this.store.getOwner(status.owner))?.pid
  }

  /** Waits until another process than `victim` owns the thread. */
  async isTakenFrom(thread: string, victim: number): Promise<void> {
    await until(async () => {
      const owner = await this.ownerOf(thread)
      return owner !== undefined && owner !== victim
    }, 5)
  }

  async hasEnded(thread: string): Promise<boolean> {
    const { headSeq = 0 } = (await this.store.getStream(thread)) ?? {}
    const { items } = await this.store.readRecords(thread, { after: Math.max(0, headSeq - 20), limit: 1000 })
    return items.some(({ body }) => body.type === 'run.ended')
  }

  /** How the run of a thread was resumed, and as which attempt. */
  async resumptions(thread: string): Promise<string[]> {
    const { items } = await this.store.readRecords(thread, { limit: 1000 })
    return items.flatMap(({ body }) => (body.type === 'run.resumed' ? `${body.reason} ${body.attempt}` : []))
  }

  async effects(): Promise<string[]> {
    const text = await readFile(this.#ledger, 'utf8').catch(() => '')
    return text.split('\n').filter((line) => line !== '')
  }

  async kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.machines.get(pid)
    if (child === undefined) throw new Error(`No machine has pid ${pid}.`)
    this.machines.delete(pid)
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }

  async connections(): Promise<number> {
    return withClient(this.#url, async (client) => {
      const { rows } = await client.query(
        'SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database()',
      )
      return (rows as { n: number }[])[0]?.n ?? 0
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()))
    await Promise.all([...this.machines.keys()].map((pid) => this.kill(pid)))
    await this.store.close()
    await rm(this.#folder, { recursive: true })
  }
}

export async function until(condition: () => Promise<boolean> | boolean, pauseMs = 20): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, pauseMs))
}

export function uuid7(): string {
  const time = Date.now().toString(16).padStart(12, '0')
  const random = crypto.randomUUID()
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`
}

/** Checks that no effect happened twice. Returns how many there were. */
export function noneTwice(effects: readonly string[]): number {
  const seen = new Set<string>()
  const twice = effects.filter((effect) => seen.size === seen.add(effect).size)
  if (twice.length > 0) throw new Error(`These effects happened twice: ${twice.slice(0, 5).join(', ')}`)
  return effects.length
}

/** The value that `share` of the times do not exceed. */
export function percentile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b)
  return Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0)
}
