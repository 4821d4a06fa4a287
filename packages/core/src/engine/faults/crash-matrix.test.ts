import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { agentEventsOf, noFaults, type LogRecord } from '@evener/protocol'
import { SqliteStore } from '../../stores/sqlite-store.ts'
import { liveTurn } from './crash-matrix.fixture.ts'
import { recordsAfter } from '../log/load-state.ts'

const CHILD = fileURLToPath(new URL('crash-matrix-child.fixture.ts', import.meta.url))

interface Ran {
  readonly lines: readonly string[]
  readonly signal: NodeJS.Signals | null
}

/** A process of its own, that can be killed. */
async function run(folder: string, env: Record<string, string>): Promise<Ran> {
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

/** The next process: this one. */
async function runHere(folder: string): Promise<string[]> {
  const lines: string[] = []
  const files = { url: join(folder, 'data.db'), journal: join(folder, 'journal') }
  await liveTurn({ ...files, faults: noFaults, say: (line) => lines.push(line) })
  return lines
}

async function readLines(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.split('\n').filter((line) => line !== '')
}

async function readRecords(folder: string): Promise<LogRecord[]> {
  const store = new SqliteStore({ url: join(folder, 'data.db') })
  try {
    if ((await store.getThread('thread')) === null) return []
    return await Array.fromAsync(recordsAfter(store, 'thread', 0))
  } finally {
    await store.close()
  }
}

function said(lines: readonly string[], word: string): string[] {
  return lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1))
}

/** The questions that are open in a log, and the calls that nobody knows the outcome of. */
function leftOpen(records: readonly LogRecord[]): { waits: string[]; inDoubt: string[] } {
  const waits = new Set<string>()
  const calls = new Set<string>()
  for (const { body } of records) {
    if (body.type === 'wait.opened') waits.add(body.wait.id)
    if (body.type === 'wait.answered') waits.delete(body.waitId)
    if (body.type === 'call.started') calls.add(body.toolCallId)
    if (body.type === 'tool-result') calls.delete(body.toolCallId)
  }
  return { waits: [...waits], inDoubt: [...calls] }
}

/** What has to hold after a death at any point, which left `left` behind, and one more start. */
async function check(
  folder: string,
  before: readonly string[],
  left: readonly LogRecord[],
  after: readonly string[],
): Promise<void> {
  assert.ok(after.includes('over'), 'the second process did not get to the end')
  const records = await readRecords(folder)
  const spoken = JSON.stringify(records)
  for (const words of said(before, 'accepted'))
    assert.ok(spoken.includes(words), `"${words}" was acknowledged and is lost`)
  const open = leftOpen(left)
  assert.deepEqual(said(after, 'found'), open.waits, 'the questions that were there are there, and no others')
  for (const wait of said(before, 'waiting'))
    assert.ok(open.waits.includes(wait) || isAnswered(left, wait), 'a question is lost')
  for (const wait of said(before, 'answered')) assert.ok(isAnswered(left, wait), 'an answer is lost')
  assert.equal(records.filter(({ body }) => body.type === 'wait.answered').length, 1, 'answers')

  const journal = await readLines(join(folder, 'journal'))
  assert.equal(new Set(journal).size, journal.length, `a tool ran twice: ${journal.join(', ')}`)
  const runs = records.flatMap(({ body }) => (body.type === 'run.started' ? [body.runId] : []))
  // A model whose answer was cut off is asked again, and gives its calls other ids.
  const ran = journal.map((line) => line.slice(0, line.indexOf(':')))
  for (const [toolName, toolCallId] of Object.entries({ write: 'c1', guarded: 'c2' })) {
    const times = ran.filter((line) => line === `${toolName} ${runs[0]}`).length
    assert.ok(times === 1 || (times === 0 && open.inDoubt.includes(toolCallId)), `${toolName} ran ${times} times`)
  }
  const events = records.flatMap(agentEventsOf)
  const count = (type: string): number => events.filter((event) => event.type === type).length
  // What was steered and not heard begins a run of its own; both have one turn, and that has one finish.
  const isOwnRun = runs.length === 2 && said(before, 'accepted').includes('Hurry.')
  assert.ok(runs.length === 1 || isOwnRun, `${runs.length} runs`)
  assert.equal(records.filter(({ body }) => body.type === 'turn.started').length, runs.length, 'turns')
  assert.equal(count('finish'), runs.length, 'finishes')
  // An order that was cut off before it was whole is none, and has no result.
  const cut = events.filter((event) => event.type === 'tool-call' && event.meta?.interrupted === true)
  assert.equal(count('tool-call') - cut.length, count('tool-result'), 'calls and results')
  assert.equal(records.at(-1)?.body.type, 'run.ended', 'the run is not over')
}

function isAnswered(records: readonly LogRecord[], wait: string): boolean {
  return records.some(({ body }) => body.type === 'wait.answered' && body.waitId === wait)
}

/** Everything that writes, and everything that acts: a turn of which one was missing would not be the one meant. */
const EXPECTED = ['createStream', 'putOwner', 'claim', 'append', 'release', 'removeOwner', 'model', 'tool']

test(
  'C4-38 crash matrix: killed at every point, a run loses nothing, repeats nothing and ends once',
  { timeout: 580_000 },
  async (t) => {
    const dry = await mkdtemp(join(tmpdir(), 'evener-matrix-'))
    const log = join(dry, 'points')
    // What the first process compiled the others need not compile again.
    const cache = join(await mkdtemp(join(tmpdir(), 'evener-matrix-')), 'compiled')
    t.after(() => rm(join(cache, '..'), { recursive: true }))
    const clean = await run(dry, { EVENER_FAULT_LOG: log, NODE_COMPILE_CACHE: cache })
    assert.ok(clean.lines.includes('over'))
    await check(dry, clean.lines, await readRecords(dry), await runHere(dry))
    const points = (await readLines(log)).map((line) => JSON.parse(line) as { name: string; n: number })
    await rm(dry, { recursive: true })
    const names = new Set(points.map(({ name }) => name))
    for (const each of EXPECTED)
      assert.ok(names.has(`${each}.before`) && names.has(`${each}.after`), `the dry run has no ${each}`)

    let kills = 0
    const queue = points.map((point, index) => ({ ...point, at: index + 1 }))
    const worker = async (): Promise<void> => {
      for (let point = queue.shift(); point !== undefined; point = queue.shift()) {
        const folder = await mkdtemp(join(tmpdir(), 'evener-matrix-'))
        try {
          const { lines, signal } = await run(folder, {
            EVENER_FAULT: `*:${point.at}:kill`,
            NODE_COMPILE_CACHE: cache,
          })
          const left = await readRecords(folder)
          if (signal === 'SIGKILL') kills++
          await check(folder, lines, left, await runHere(folder))
        } catch (error) {
          queue.length = 0
          throw new Error(`killed at point ${point.at}, ${point.name} ${point.n}`, { cause: error })
        } finally {
          await rm(folder, { recursive: true })
        }
      }
    }
    await Promise.all([worker(), worker()])
    // Text is written when its time has come: one process may have a write less than another.
    assert.ok(kills >= points.length - 4, `only ${kills} of ${points.length} were killed`)
    t.diagnostic(`crash matrix: ${points.length} points`)
  },
)
