import { randomBytes } from 'node:crypto'
import { InspanError } from '@inspan/protocol'
import { OutputWindow } from './output-window.ts'
import type { CommandExit, RunningCommand } from './shell.ts'

export interface BackgroundProcess {
  readonly id: string
  readonly threadId: string
  readonly command: string
  readonly output: OutputWindow
  readonly running: RunningCommand
  exit: CommandExit | undefined
}

const OUTPUT_CHARACTERS = 256 * 1024
const MOST_ENDED = 50

/** The commands that go on in the background. A thread sees only its own. */
export class Processes {
  readonly #byId = new Map<string, BackgroundProcess>()

  async start(
    threadId: string,
    command: string,
    run: (onOutput: (text: string) => void) => Promise<RunningCommand>,
  ): Promise<BackgroundProcess> {
    const output = new OutputWindow(OUTPUT_CHARACTERS)
    const running = await run((text) => output.add(text))
    const id = `p-${randomBytes(4).toString('hex')}`
    const process: BackgroundProcess = { id, threadId, command, output, running, exit: undefined }
    this.#byId.set(id, process)
    void running.ended.then((exit) => {
      process.exit = exit
      this.#forgetOldest()
    })
    return process
  }

  get(threadId: string, id: string): BackgroundProcess {
    const found = this.#byId.get(id)
    if (found !== undefined && found.threadId === threadId) return found
    const own = [...this.#byId.values()].filter((each) => each.threadId === threadId).map((each) => each.id)
    throw new InspanError('not-found', `There is no process "${id}".`, {
      hint: own.length === 0 ? 'None was started.' : `There are: ${own.join(', ')}.`,
    })
  }

  async endAll(): Promise<void> {
    const running = [...this.#byId.values()].filter(({ exit }) => exit === undefined)
    this.#byId.clear()
    await Promise.all(running.map(({ running: each }) => each.kill()))
  }

  #forgetOldest(): void {
    const ended = [...this.#byId.values()].filter(({ exit }) => exit !== undefined)
    for (const { id } of ended.slice(0, Math.max(0, ended.length - MOST_ENDED))) this.#byId.delete(id)
  }
}
