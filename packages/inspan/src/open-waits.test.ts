import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { suite, test } from 'node:test'
import { SqliteStore } from '@inspan/core'
import { createThread, ProcessOwner, ThreadRuntime } from '@inspan/core/engine'
import type { Decision } from '@inspan/protocol/driver'
import { demoAgent } from './demo-agent.ts'
import { main } from './main.ts'

const ASK: Decision = { policy: 'ask', reason: 'somebody has to look at it' }

/** A thread of the demo agent that waits for an approval, in a separate folder. */
class Waiting implements AsyncDisposable {
  readonly folder: string
  out = ''
  err = ''

  private constructor(folder: string) {
    this.folder = folder
  }

  static async open(): Promise<Waiting> {
    const waiting = new Waiting(await mkdtemp(join(tmpdir(), 'inspan-waiting-')))
    const store = new SqliteStore({ url: waiting.file })
    const owner = await ProcessOwner.register(store)
    await createThread(store, { id: 'left', resourceId: waiting.folder })
    const demo = demoAgent(waiting.folder)
    const agents = { demo }
    const runtime = await ThreadRuntime.open({ store, owner, thread: 'left', agents, decide: () => ASK })
    await runtime.submit({ agentId: 'demo', parts: [{ id: '0', type: 'text', text: 'Look.' }] })
    await runtime.idle()
    await runtime.close()
    await owner.close()
    await store.close()
    return waiting
  }

  get file(): string {
    return join(this.folder, 'data.db')
  }

  async run(args: readonly string[], input?: readonly string[] | Readable, onAsk?: () => void): Promise<number> {
    this.out = ''
    this.err = ''
    return main(['run', '--db', this.file, '--thread', 'left', ...args], {
      out: (text) => (this.out += `${text}\n`),
      write: (text) => {
        this.out += text
        if (text.startsWith('Approve it?')) onAsk?.()
      },
      err: (text) => (this.err += `${text}\n`),
      input: input instanceof Readable ? input : Readable.from(input ?? []),
      isTty: input !== undefined,
      cwd: this.folder,
      env: { INSPAN_HOME: this.folder },
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, maxRetries: 5 })
  }
}

suite('inspan run on a conversation that waits for an answer', () => {
  test('reports what is waited for and how to answer, and ends with a code of its own', async () => {
    await using waiting = await Waiting.open()
    assert.equal(await waiting.run(['And?']), 3)
    assert.match(waiting.err, /approval .*list_files \{"path":"\."\}/)
    assert.match(waiting.err, /somebody has to look at it/)
    assert.match(waiting.err, /inspan run --thread left --answer approve/)
    assert.doesNotMatch(waiting.out, /demo agent/)
    assert.equal(await waiting.run(['And?']), 3, 'it still waits')
  })

  test('continues with the answer of the command line', async () => {
    await using waiting = await Waiting.open()
    assert.equal(await waiting.run(['--answer', 'approve']), 0, waiting.err)
    assert.match(waiting.out, /✓ list_files/)
    assert.match(waiting.out, /I see /)
  })

  test('takes a no as well, and asks what comes after it', async () => {
    await using waiting = await Waiting.open()
    assert.equal(await waiting.run(['--answer', 'decline', 'And now?']), 0, waiting.err)
    assert.match(waiting.out, /✗ list_files .*denied[\s\S]*I see /)
  })

  test('refuses text for an approval, and more answers than there are questions', async () => {
    await using waiting = await Waiting.open()
    assert.notEqual(await waiting.run(['--answer', 'perhaps']), 0)
    assert.match(waiting.err, /approve or decline/)
    assert.notEqual(await waiting.run(['--answer', 'approve', '--answer', 'approve']), 0)
    assert.match(waiting.err, /2 answers, but 1/)
    assert.equal(await waiting.run(['--answer', 'approve']), 0, 'nothing was answered before')
    assert.notEqual(await waiting.run(['--answer', 'approve']), 0)
    assert.match(waiting.err, /Leave out --answer/)
  })

  test('asks the person at a terminal', async () => {
    await using waiting = await Waiting.open()
    assert.equal(await waiting.run(['And now?'], ['y\n']), 0, waiting.err)
    assert.match(waiting.out, /Approve it\? \[y\/N\][\s\S]*✓ list_files[\s\S]*> And now\?/)
  })

  test('takes anything but a yes for a no, and nothing at all for no answer', async () => {
    await using waiting = await Waiting.open()
    assert.equal(await waiting.run(['And now?'], []), 3, waiting.err)
    assert.equal(await waiting.run(['And now?'], ['hm\n']), 0, waiting.err)
    assert.match(waiting.out, /✗ list_files .*denied/)
  })

  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    test(`ends at ${signal} while it asks, and the conversation goes on waiting`, { timeout: 60_000 }, async () => {
      await using waiting = await Waiting.open()
      const nobody = new PassThrough()
      assert.equal(await waiting.run(['And now?'], nobody, () => process.emit(signal, signal)), code)
      assert.match(waiting.err, /approval .*list_files/)
      assert.equal(await waiting.run(['--answer', 'approve']), 0, waiting.err)
      assert.match(waiting.out, /✓ list_files/)
    })
  }
})
