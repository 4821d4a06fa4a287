import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { agentEventsOf, type LogRecord } from '@evener/protocol'
import { SqliteStore } from '../stores/sqlite-store.ts'
import { recordsAfter } from './load-state.ts'

const CHILD = fileURLToPath(new URL('crash-matrix-child.fixture.ts', import.meta.url))

interface Ran {
  readonly lines: readonly string[]
  readonly signal: NodeJS.Signals | null
}

async function run(folder: string, env: Record<string, string> = {}): Promise<Ran> {
  const child = spawn(process.execPath, [CHILD, join(folder, 'data.db'), join(folder, 'journal')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  const signal = await new Promise<NodeJS.Signals | null>((resolve) => {
    child.once('close', (_code, ended) => resolve(ended))
  })
  return { lines: output.split('\n').slice(0, -1), signal }
}

async function readLines(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.split('\n').filter((line) => line !== '')
}

async function readRecords(folder: string): Promise<LogRecord[]> {
  const store = new SqliteStore({ url: join(folder, 'data.db') })
  try {
    return await Array.fromAsync(recordsAfter(store, 'thread', 0))
  } finally {
    await store.close()
  }
}

/** What has to hold after a death at any point and one more start. */
async function check(folder: string, killed: Ran, again: Ran, point: string): Promise<void> {
  assert.ok(again.lines.includes('over'), `${point}: the second process did not get to the end`)
  const records = await readRecords(folder)
  const spoken = JSON.stringify(records)
  for (const line of killed.lines) {
    const words = /^accepted (.*)$/.exec(line)?.[1]
    if (words !== undefined) assert.ok(spoken.includes(words), `${point}: "${words}" was acknowledged and is lost`)
    const wait = /^waiting (.*)$/.exec(line)?.[1]
    const isAnswered = records.some(({ body }) => body.type === 'wait.answered' && body.waitId === wait)
    if (wait !== undefined) assert.ok(isAnswered, `${point}: the wait was not there any more`)
  }
  const journal = await readLines(join(folder, 'journal'))
  assert.equal(new Set(journal).size, journal.length, `${point}: a tool ran twice: ${journal.join(', ')}`)
  const events = records.flatMap(agentEventsOf)
  const count = (type: string): number => events.filter((event) => event.type === type).length
  const turns = records.filter(({ body }) => body.type === 'turn.started').length
  assert.equal(count('finish'), turns, `${point}: turns and finishes`)
  assert.equal(count('tool-call'), count('tool-result'), `${point}: calls and results`)
  assert.equal(records.at(-1)?.body.type, 'run.ended', `${point}: the run is not over`)
}

test(
  'C4-38 crash matrix: killed at every point, a run loses nothing, repeats nothing and ends once',
  { timeout: 280_000 },
  async (t) => {
    const dry = await mkdtemp(join(tmpdir(), 'evener-matrix-'))
    const log = join(dry, 'points')
    const clean = await run(dry, { EVENER_FAULT_LOG: log })
    assert.ok(clean.lines.includes('over'))
    await check(dry, clean, clean, 'no crash')
    const points = await readLines(log)
    await rm(dry, { recursive: true })
    assert.ok(points.length > 10, 'the dry run found no points')

    const queue = points.map((name, index) => ({ name, n: index + 1 }))
    const worker = async (): Promise<void> => {
      for (let point = queue.shift(); point !== undefined; point = queue.shift()) {
        const folder = await mkdtemp(join(tmpdir(), 'evener-matrix-'))
        try {
          const killed = await run(folder, { EVENER_FAULT: `*:${point.n}:kill` })
          const again = await run(folder)
          await check(folder, killed, again, `point ${point.n} (${point.name})`)
        } finally {
          await rm(folder, { recursive: true })
        }
      }
    }
    await Promise.all([worker(), worker()])
    t.diagnostic(`crash matrix: ${points.length} points`)
  },
)
