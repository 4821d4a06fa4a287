import assert from 'node:assert/strict'
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { agentEventsOf, type LogRecord } from '@inspan/protocol/log'
import type { Owner } from '@inspan/protocol/store'
import { SqliteStore } from '@inspan/stores'
import { recordsAfter } from '../log/load-state.ts'
import { createThread } from '../threads/threads.ts'

const CHILD = fileURLToPath(new URL('two-processes-child.fixture.ts', import.meta.url))
const FOR_EVER = 3_600_000

class Worker implements AsyncDisposable {
  readonly name: string
  readonly #process: ChildProcessByStdio<Writable, Readable, null>
  readonly #lines: AsyncIterator<string>

  constructor(place: Place, name: string, passivateAfter: number) {
    this.name = name
    const args = [CHILD, place.url, place.journal, name, String(passivateAfter)]
    this.#process = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]()
  }

  get pid(): number {
    return this.#process.pid ?? 0
  }

  tell(line: string): void {
    this.#process.stdin.write(`${line}\n`)
  }

  /** Resolves with the next line of output. */
  async says(): Promise<string> {
    const next = await this.#lines.next()
    return next.done === true ? 'nothing more' : next.value
  }

  async opened(): Promise<void> {
    for (let line = await this.says(); line !== 'open'; line = await this.says()) assert.match(line, /^refused held /)
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process.kill(signal)
  }

  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const gone = once(this.#process, 'exit')
    this.#process.kill('SIGKILL')
    await gone
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}

class Place implements AsyncDisposable {
  readonly #folder: string
  readonly store: SqliteStore

  private constructor(folder: string) {
    this.#folder = folder
    this.store = new SqliteStore({ url: this.url })
  }

  static async make(): Promise<Place> {
    const place = new Place(await mkdtemp(join(tmpdir(), 'inspan-two-')))
    await createThread(place.store, { id: 'thread', resourceId: 'test' })
    return place
  }

  get url(): string {
    return join(this.#folder, 'data.db')
  }

  get journal(): string {
    return join(this.#folder, 'journal')
  }

  /** Returns what tools did, and in which process. */
  async done(): Promise<string[]> {
    const text = await readFile(this.journal, 'utf8').catch(() => '')
    return text.split('\n').filter((line) => line !== '')
  }

  records(): Promise<LogRecord[]> {
    return Array.fromAsync(recordsAfter(this.store, 'thread', 0))
  }

  async holder(): Promise<Owner> {
    const owner = await this.store.getOwner((await this.store.getStream('thread'))?.owner ?? '')
    assert.ok(owner !== null)
    return owner
  }

  async released(): Promise<void> {
    while ((await this.store.getStream('thread'))?.owner !== null)
      await new Promise((resolve) => setTimeout(resolve, 5))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store.close()
    await rm(this.#folder, { recursive: true })
  }
}

/** Lets a process wait for an approval and returns the wait's id. */
async function waiting(worker: Worker): Promise<string> {
  await worker.opened()
  worker.tell('go')
  const [, waitId = ''] = /^waiting (.+)$/.exec(await worker.says()) ?? []
  assert.notEqual(waitId, '')
  return waitId
}

suite('two processes answer what a third one had asked before it was killed', () => {
  for (const round of [1, 2]) {
    test(`one of them wins, the other is told what happened, the tool runs once (${round})`, async () => {
      await using place = await Place.make()
      await using asker = new Worker(place, 'asker', FOR_EVER)
      const waitId = await waiting(asker)
      await asker.kill()

      await using ann = new Worker(place, 'ann', 1)
      await using bob = new Worker(place, 'bob', 1)
      await Promise.all([ann.opened(), bob.opened()])
      await place.released()
      for (const worker of [ann, bob]) worker.tell(`answer ${waitId}`)
      const said = await Promise.all([ann, bob].map(async (worker) => ({ worker, line: await worker.says() })))
      const winner = said.find(({ line }) => line.startsWith('over'))
      const loser = said.find(({ line }) => line.startsWith('refused'))
      assert.ok(winner !== undefined && loser !== undefined, JSON.stringify(said.map(({ line }) => line)))
      assert.equal(winner.line, 'over r complete 1', 'the same run, and the model sees the result once')
      const { name, pid } = winner.worker
      assert.match(
        loser.line,
        new RegExp(
          `refused (held .* in use by process ${pid} on ${hostname()}\\.|conflict .* answered by ${name} already)`,
        ),
      )
      // Once the thread is released, this is the only possible error.
      await place.released()
      loser.worker.tell(`answer ${waitId}`)
      assert.match(await loser.worker.says(), new RegExp(`^refused conflict .* answered by ${name} already`))

      assert.deepEqual(await place.done(), [`${name} r:c`])
      const records = await place.records()
      const count = (type: string): number => records.filter(({ body }) => body.type === type).length
      assert.deepEqual(
        [count('wait.answered'), count('call.started'), count('tool-result'), count('run.started'), count('run.ended')],
        [1, 1, 1, 1, 1],
      )
      assert.equal(records.flatMap(agentEventsOf).filter(({ type }) => type === 'finish').length, 1)
    })
  }
})

suite('a second process', () => {
  test('learns which process has the thread and where, and takes it at once when that is killed', async () => {
    await using place = await Place.make()
    await using holder = new Worker(place, 'holder', FOR_EVER)
    const waitId = await waiting(holder)
    await using second = new Worker(place, 'second', FOR_EVER)
    const refused = await second.says()
    assert.match(refused, new RegExp(`^refused held .*process ${holder.pid} on ${hostname()}`))
    assert.match(refused, /http:\/\/127\.0\.0\.1\/holder/)

    // A stopped process is not dead.
    holder.signal('SIGSTOP')
    assert.match(await second.says(), /^refused held /)
    await holder.kill()
    await second.opened()
    second.tell(`answer ${waitId}`)
    assert.equal(await second.says(), 'over r complete 1')
    assert.deepEqual(await place.done(), ['second r:c'])
  })

  test('on another machine takes over when the lease of a stopped one has run out; woken, that can write and begin nothing', async () => {
    await using place = await Place.make()
    await using old = new Worker(place, 'old', FOR_EVER)
    const waitId = await waiting(old)
    old.signal('SIGSTOP')
    // As seen from another machine: the pid means nothing there, and the heartbeat has stopped.
    const lease = async (until: number): Promise<void> =>
      place.store.putOwner({ ...(await place.holder()), host: 'elsewhere', until })
    await lease(Date.now() + FOR_EVER)
    await using next = new Worker(place, 'next', FOR_EVER)
    assert.match(await next.says(), /^refused held .* on elsewhere/, 'not before the lease is over')
    await lease(Date.now() - 1)
    await next.opened()
    const head = (await place.store.getStream('thread'))?.headSeq

    old.signal('SIGCONT')
    old.tell(`answer ${waitId}`)
    assert.match(await old.says(), /^refused fenced /)
    assert.equal((await place.store.getStream('thread'))?.headSeq, head, 'nothing of it is on record')
    assert.deepEqual(await place.done(), [])

    next.tell(`answer ${waitId}`)
    assert.equal(await next.says(), 'over r complete 1')
    assert.deepEqual(await place.done(), ['next r:c'])
  })
})
