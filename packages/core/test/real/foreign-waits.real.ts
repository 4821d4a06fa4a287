import assert from 'node:assert/strict'
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { suite, test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { recordsAfter } from '../../src/engine/index.ts'
import { SqliteStore } from '../../src/index.ts'
import type { LogRecord } from '@inspan/protocol/log'
import type { Provider, ProviderRequest, ModelTurn } from '@inspan/testing'
import type { HostCommand, HostSetup } from './host.fixture.ts'
import type { ProgramId } from './program-driver.ts'
import { installedPrograms, makePlace, scripted, TEST_MS } from './programs.ts'

const HOST = fileURLToPath(new URL('host.fixture.ts', import.meta.url))
const COMMAND = 'echo ran >> ran.txt && echo RAN-OK'

/** Has had half of its effect when it is interrupted. */
const SLOW = 'echo ran >> ran.txt && sleep 100'

interface Call {
  readonly name: string
  readonly input: { readonly [key: string]: string | number }
}

const CLIS: Readonly<Record<ProgramId, (command: string) => Call>> = {
  'claude-code': (command) => ({ name: 'Bash', input: { command } }),
  codex: (cmd) => ({ name: 'exec_command', input: { cmd, yield_time_ms: 30_000 } }),
}

/** One process that hosts the agent, and what it said. */
class HostProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #lines: Record<string, unknown>[] = []
  readonly ended: Promise<unknown>
  hasEnded = false
  #changed = Promise.withResolvers<void>()

  constructor(setup: HostSetup) {
    this.#child = spawn(process.execPath, [HOST, JSON.stringify(setup)], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.ended = new Promise((resolve) => this.#child.once('close', resolve))
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      this.#lines.push(JSON.parse(line) as Record<string, unknown>)
      this.#tell()
    })
    void this.ended.then(() => {
      this.hasEnded = true
      this.#tell()
    })
  }

  /** The first line with such a field. */
  async line(field: string): Promise<Record<string, unknown>> {
    for (;;) {
      const found = this.#lines.find((line) => field in line)
      if (found !== undefined) return found
      assert.ok(!this.hasEnded, `the process ended before "${field}": ${JSON.stringify(this.#lines)}`)
      await this.#changed.promise
    }
  }

  count(field: string): number {
    return this.#lines.filter((line) => field in line).length
  }

  answer(command: HostCommand): void {
    this.#child.stdin.write(`${JSON.stringify(command)}\n`)
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.ended
  }

  #tell(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers<void>()
  }
}

/** A model that orders the command, and after an interruption once more. */
function commanding(call: Call): (request: ProviderRequest) => ModelTurn {
  let continued = 0
  return ({ text }) => {
    if (text.includes('You were interrupted')) return continued++ === 0 ? { toolCalls: [call] } : { text: 'Done.' }
    return text.includes('NOT-EVERY-DAY') ? { text: 'Done.' } : { toolCalls: [call] }
  }
}

async function stage(
  t: TestContext,
  id: ProgramId,
  bin: string,
  command = COMMAND,
): Promise<HostSetup & { provider: Provider }> {
  const { root } = await makePlace(t)
  const model = commanding(CLIS[id](command))
  const provider = await scripted(
    t,
    Array.from({ length: 30 }, () => model),
  )
  return { agent: id, bin, root, providerUrl: provider.url, provider }
}

/** How often the command has begun. */
async function ranIn(root: string): Promise<number> {
  const ran = await readFile(join(root, 'work', 'ran.txt'), 'utf8').catch(() => '')
  return ran.split('\n').filter((line) => line !== '').length
}

async function readRecords(root: string): Promise<LogRecord[]> {
  const store = new SqliteStore({ url: join(root, 'data.db') })
  try {
    return await Array.fromAsync(recordsAfter(store, 'thread', 0))
  } finally {
    await store.close()
  }
}

for (const id of ['claude-code', 'codex'] as const) {
  suite(`${id}, whose host is killed while an approval waits`, () => {
    const bins = installedPrograms()
    for (const [decision, times] of [
      ['approve', 1],
      ['decline', 0],
    ] as const) {
      test(
        `goes on after "${decision}" in the same run; the tool runs ${times} times`,
        { timeout: TEST_MS },
        async (t) => {
          const { provider, ...setup } = await stage(t, id, bins[id])
          const first = new HostProcess(setup)
          t.after(() => first.kill())
          const { asked } = await first.line('asked')
          const { started } = await first.line('started')
          await first.kill()

          const second = new HostProcess(setup)
          t.after(() => second.kill())
          const { waiting, runId, resumable } = await second.line('waiting')
          assert.deepEqual([waiting, runId, resumable], [asked, started, true], 'the question is still there')
          second.answer({ waitId: String(waiting), decision, reason: 'NOT-EVERY-DAY' })
          const over = await second.line('over')
          await second.ended
          assert.deepEqual(over, { over: 'complete', runId: started }, 'the run has gone on under its id')
          assert.equal(second.count('asked'), 1, 'asked again, and answered from what was said before')

          assert.equal(await ranIn(setup.root), times)
          const last = provider.requests.findLast(({ route }) => route === 'main')?.text ?? ''
          assert.match(last, decision === 'approve' ? /RAN-OK/ : /NOT-EVERY-DAY/, 'the model sees what came of it')
          const bodies = (await readRecords(setup.root)).map(({ body }) => body)
          const of = (type: string): number => bodies.filter((body) => body.type === type).length
          assert.deepEqual([of('run.started'), of('run.ended'), of('turn.started'), of('turn.ended')], [1, 1, 2, 2])
        },
      )
    }
  })
}

for (const id of ['claude-code', 'codex'] as const) {
  suite(`${id}, whose host is killed while a command runs that a rule allows`, () => {
    const bins = installedPrograms()
    test(
      'has the same command asked about in the next run, and not run again by itself',
      { timeout: TEST_MS },
      async (t) => {
        const { provider: _provider, ...staged } = await stage(t, id, bins[id], SLOW)
        const setup = { ...staged, isAllowed: true }
        const first = new HostProcess(setup)
        t.after(() => first.kill())
        await first.line('begun')
        while ((await ranIn(setup.root)) === 0) {
          assert.ok(!first.hasEnded, 'the process ended before its command had begun')
          await delay(20)
        }
        assert.equal(first.count('asked'), 0, 'nobody was asked the first time')
        await first.kill()

        const second = new HostProcess({ ...setup, isAgain: true })
        t.after(() => second.kill())
        const { asked } = await second.line('asked')
        assert.equal(await ranIn(setup.root), 1)
        second.answer({ waitId: String(asked), decision: 'decline', reason: 'NOT-EVERY-DAY' })
        assert.equal((await second.line('over'))['over'], 'complete')
        assert.equal(await ranIn(setup.root), 1)
        const results = (await readRecords(setup.root)).flatMap(({ body }) =>
          body.type === 'tool-result' ? [body] : [],
        )
        assert.equal(results[0]?.outcome, 'in-doubt')
      },
    )
  })
}
