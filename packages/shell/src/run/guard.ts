import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { parse } from 'node:path'
import { fileURLToPath } from 'node:url'
import { encodeCommand, parseAddedAnswer } from './guard-protocol.ts'
import { LineSplitter } from './line-splitter.ts'
import type { RunRoot } from './membership.ts'
import { SpawnError } from './spawn-error.ts'

interface GuardEntry {
  holders: number
  readonly roots: Map<number, RunRoot>
  readonly confirmed: PromiseWithResolvers<void>
  isConfirmed: boolean
}

interface Channel {
  readonly child: ChildProcess
  readonly input: Socket
  readonly output: Socket
}

/** Attempts in a row without an answer, after which waiting callers get an error. */
const triesBeforeGivingUp = 3
const retryMs = 5000

/**
 * The host's side of the guard process, which ends all registered runs when this process dies, even by `kill -9`. It is
 * started with the first run, and again if it dies. It never keeps this process alive.
 */
export class Guard {
  readonly #runs = new Map<string, GuardEntry>()
  #channel: Channel | undefined
  #failures = 0

  /** The pid of the guard process, while there is one. */
  get pid(): number | undefined {
    return this.#channel?.child.pid
  }

  /** Resolves when the guard has confirmed the run. Only then may the run be started. */
  async register(runId: string): Promise<void> {
    const entry = this.#runs.get(runId) ?? newEntry()
    entry.holders += 1
    this.#runs.set(runId, entry)
    if (this.#channel === undefined) this.#start()
    else if (entry.holders === 1) this.#channel.input.write(encodeCommand({ type: 'add', runId }))
    this.#holdWhileWaiting()
    await entry.confirmed.promise
  }

  /** Sends the guard the root process of the run, and later that this process has ended. */
  setRoot(runId: string, root: RunRoot): void {
    this.#runs.get(runId)?.roots.set(root.pid, root)
    this.#channel?.input.write(encodeCommand({ type: 'root', runId, root }))
  }

  /** Must be called once per `register`. */
  release(runId: string): void {
    const entry = this.#runs.get(runId)
    if (entry === undefined) return
    entry.holders -= 1
    if (entry.holders > 0) return
    this.#runs.delete(runId)
    this.#channel?.input.write(encodeCommand({ type: 'remove', runId }))
  }

  #start(): void {
    let channel: Channel
    try {
      channel = startGuardProcess()
    } catch (error) {
      setImmediate(() => this.#lost(error))
      return
    }
    this.#channel = channel
    const lost = (cause?: unknown): void => {
      if (this.#channel !== channel) return
      this.#channel = undefined
      this.#lost(cause)
    }
    channel.child.once('error', lost)
    channel.child.once('exit', () => lost())
    const answers = new LineSplitter((line) => this.#answered(line.text))
    channel.output.on('data', (chunk: Buffer) => answers.push(chunk))
    for (const [runId, { roots }] of this.#runs) {
      channel.input.write(encodeCommand({ type: 'add', runId }))
      for (const root of roots.values()) channel.input.write(encodeCommand({ type: 'root', runId, root }))
    }
    this.#holdWhileWaiting()
  }

  #answered(answer: string): void {
    this.#failures = 0
    const entry = this.#runs.get(parseAddedAnswer(answer) ?? '')
    if (entry === undefined) return
    entry.isConfirmed = true
    entry.confirmed.resolve()
    this.#holdWhileWaiting()
  }

  #lost(cause: unknown): void {
    if (this.#runs.size === 0) return
    this.#failures += 1
    if (this.#failures < triesBeforeGivingUp) {
      this.#start()
      return
    }
    this.#failures = 0
    for (const [runId, entry] of this.#runs) {
      if (entry.isConfirmed) continue
      this.#runs.delete(runId)
      entry.confirmed.reject(guardFailed(cause))
    }
    setTimeout(() => {
      if (this.#channel === undefined && this.#runs.size > 0) this.#start()
    }, retryMs).unref()
  }

  /** While a caller waits for an answer, the host must not exit for lack of other work. */
  #holdWhileWaiting(): void {
    const waiting = this.#runs.values().some((entry) => !entry.isConfirmed)
    if (waiting) this.#channel?.output.ref()
    else this.#channel?.output.unref()
  }
}

/** The guard of this process. */
export const hostGuard: Guard = new Guard()

function newEntry(): GuardEntry {
  return { holders: 0, roots: new Map(), confirmed: Promise.withResolvers(), isConfirmed: false }
}

function startGuardProcess(): Channel {
  // By its name in package.json, which is a source file in a clone and a bundle in the published package.
  const entry = fileURLToPath(import.meta.resolve('#guard-main'))
  const child = spawn(process.execPath, [entry], {
    cwd: parse(entry).root,
    detached: true,
    env: guardEnvironment(),
    stdio: ['pipe', 'pipe', 'ignore'],
    windowsHide: true,
  })
  child.unref()
  const input = child.stdin as Socket | undefined
  const output = child.stdout as Socket | undefined
  if (input === undefined || output === undefined) {
    child.once('error', () => undefined)
    throw new Error('no pipe could be made: too many open files')
  }
  // A broken pipe also shows as the exit of the guard.
  input.on('error', () => undefined)
  output.on('error', () => undefined)
  input.unref()
  return { child, input, output }
}

/** No run tag, so that the guard outlives the run its host may be part of; no NODE_OPTIONS meant for the host. */
function guardEnvironment(): NodeJS.ProcessEnv {
  const needed = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SystemRoot']
  return Object.fromEntries(
    needed.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  )
}

function guardFailed(cause: unknown): SpawnError {
  return new SpawnError(
    'guard-failed',
    process.execPath,
    `The guard process, which ends runs when this process dies, did not start (${process.execPath}). Nothing is run without it: check the limits on processes and memory.`,
    cause,
  )
}
