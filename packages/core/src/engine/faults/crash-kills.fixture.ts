import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { noFaults } from '@inspan/protocol/driver'
import type { LogRecord } from '@inspan/protocol/log'
import { SqliteStore } from '@inspan/stores'
import { recordsAfter } from '../log/load-state.ts'
import { PLAYS, type PlayName } from './crash-plays.fixture.ts'

const CHILD = fileURLToPath(new URL('crash-matrix-child.fixture.ts', import.meta.url))

/** A kill at one point, what it left behind, and what one more start made of that. */
export interface Survived {
  /** The output of the process that was killed. */
  readonly before: readonly string[]
  readonly left: readonly LogRecord[]
  /** The output of the next process. */
  readonly after: readonly string[]
  readonly records: readonly LogRecord[]
  /** The lines tools wrote. */
  readonly journal: readonly string[]
}

interface RanPlay {
  readonly lines: readonly string[]
  readonly signal: NodeJS.Signals | null
}

/** Runs the play in a child process that can be killed. */
async function run(play: PlayName, folder: string, env: Record<string, string>): Promise<RanPlay> {
  const child = spawn(process.execPath, [CHILD, play, join(folder, 'data.db'), join(folder, 'journal')], {
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

/** Continues the thread in this process, as the next one after the kill. */
async function survive(play: PlayName, folder: string, before: readonly string[]): Promise<Survived> {
  const left = await readRecords(folder)
  const after: string[] = []
  const files = { url: join(folder, 'data.db'), journal: join(folder, 'journal') }
  await PLAYS[play]({ ...files, faults: noFaults, say: (line) => after.push(line) })
  assert.ok(after.includes('over'), 'the second process did not get to the end')
  return { before, left, after, records: await readRecords(folder), journal: await readLines(files.journal) }
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

/** Every kind of write and effect. A play without one of them would not test what it is meant to. */
const EXPECTED = ['createStream', 'putOwner', 'claim', 'append', 'release', 'removeOwner', 'model', 'tool']

/** How many processes in a row have to end by themselves. */
const ENOUGH_ENDS = 3

/**
 * Kills the play at each of its points in turn, until it ends before the next one, and checks what survives. Text is
 * written on a timer, so on a busy machine one process may have some points more than another.
 */
export async function killEverywhere(
  t: TestContext,
  play: PlayName,
  check: (survived: Survived) => void,
): Promise<void> {
  // Saves the other processes from compiling again.
  const cache = join(await mkdtemp(join(tmpdir(), 'inspan-matrix-')), 'compiled')
  t.after(() => rm(join(cache, '..'), { recursive: true }))
  /** Returns the name of the point at which the process was killed, or undefined if it ended. */
  const killAt = async (fault: string): Promise<string | undefined> => {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-matrix-'))
    const log = join(folder, 'points')
    let name: string | undefined
    try {
      const env = { INSPAN_FAULT: `${fault}:kill`, INSPAN_FAULT_LOG: log, NODE_COMPILE_CACHE: cache }
      const { lines, signal } = await run(play, folder, env)
      const point = JSON.parse((await readLines(log)).at(-1) ?? '{}') as { readonly name: string }
      if (signal === 'SIGKILL') ({ name } = point)
      else assert.ok(lines.includes('over'), 'the play did not get to its end')
      check(await survive(play, folder, lines))
      return name
    } catch (error) {
      throw new Error(`killed at ${fault}, ${name}`, { cause: error })
    } finally {
      await rm(folder, { recursive: true })
    }
  }
  const killedAt: string[] = []
  let next = 1
  let endedInARow = 0
  const worker = async (): Promise<void> => {
    while (endedInARow < ENOUGH_ENDS) {
      const name = await killAt(`*:${next++}`).catch((error: unknown) => {
        endedInARow = Infinity
        throw error
      })
      endedInARow = name === undefined ? endedInARow + 1 : 0
      if (name !== undefined) killedAt.push(name)
    }
  }
  await Promise.all([worker(), worker()])
  t.diagnostic(`crash matrix: ${killedAt.length} points`)
  // Processes that differ in length may all have missed one of the last points.
  for (const point of EXPECTED.flatMap((each) => [`${each}.before`, `${each}.after`])) {
    if (!killedAt.includes(point)) assert.equal(await killAt(`${point}:1`), point)
  }
}

export function said(lines: readonly string[], word: string): string[] {
  return lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1))
}

/** Returns the open waits of a log, and the tools whose calls are in doubt. */
function leftOpen(records: readonly LogRecord[]): { waits: string[]; inDoubt: Set<string> } {
  const waits = new Set<string>()
  const calls = new Map<string, string>()
  const names = new Map<string, string>()
  for (const { body } of records) {
    if (body.type === 'tool-call') names.set(body.toolCallId, body.toolName)
    if (body.type === 'wait.opened') {
      waits.add(body.wait.id)
      // A tool asks its questions before it has any effect.
      calls.delete(body.wait.subject.toolCallId ?? '')
    }
    if (body.type === 'wait.answered') waits.delete(body.waitId)
    if (body.type === 'call.started') calls.set(body.toolCallId, names.get(body.toolCallId) ?? '')
    if (body.type === 'tool-result') calls.delete(body.toolCallId)
  }
  return { waits: [...waits], inDoubt: new Set(calls.values()) }
}

/**
 * Checks what has to hold after a kill at any point: nothing acknowledged is lost, every wait is there, no tool has run
 * twice. Returns the names of the tools whose call was in doubt.
 */
export function checkSurvived({ after, before, journal, left, records }: Survived): ReadonlySet<string> {
  const spoken = JSON.stringify(records)
  for (const words of said(before, 'accepted'))
    assert.ok(spoken.includes(words), `"${words}" was acknowledged and is lost`)
  const open = leftOpen(left)
  assert.deepEqual(said(after, 'found'), open.waits, 'the questions that were there are there, and no others')
  for (const wait of said(before, 'waiting'))
    assert.ok(open.waits.includes(wait) || isAnswered(left, wait), 'a question is lost')
  for (const wait of said(before, 'answered')) assert.ok(isAnswered(left, wait), 'an answer is lost')
  assert.equal(new Set(journal).size, journal.length, `a tool ran twice: ${journal.join(', ')}`)
  assert.equal(records.at(-1)?.body.type, 'run.ended', 'the run is not over')
  return open.inDoubt
}

function isAnswered(records: readonly LogRecord[], wait: string): boolean {
  return records.some(({ body }) => body.type === 'wait.answered' && body.waitId === wait)
}

/** Returns how often a tool has run, in all runs. */
export function timesRun(journal: readonly string[], toolName: string): number {
  return journal.filter((line) => line.startsWith(`${toolName} `)).length
}
