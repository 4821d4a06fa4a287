import type { ClientState } from '@inspan/client'

/** What a terminal can show about a program that works for a while: in its tab, its dock icon, a notification. */
export type TerminalStatus = 'idle' | 'working' | 'blocked;permission' | 'blocked;question' | 'done' | 'error'

const QUERY = '\x1b]7501;?\x07'
const ANSWER = '\x1b]7501;'

/** Tells the terminal what the agent is doing (OSC 7501). Silent unless the terminal has answered that it listens. */
export class StatusReporter {
  readonly #write: (data: string) => void
  #isHeard = false
  #status: TerminalStatus = 'idle'

  constructor(write: (data: string) => void) {
    this.#write = write
  }

  /** Asks the terminal whether it listens. One that does not know the question ignores it. */
  ask(): void {
    this.#write(QUERY)
  }

  /** Reads the terminal's answer. Returns true if the input was one, and is nobody's key. */
  read(input: string): boolean {
    if (!input.startsWith(ANSWER)) return false
    if (!this.#isHeard) {
      this.#isHeard = true
      this.#report()
    }
    return true
  }

  update(state: ClientState): void {
    const status = statusOf(state, this.#status)
    if (status === this.#status) return
    this.#status = status
    this.#report()
  }

  end(): void {
    this.#status = 'idle'
    this.#report()
  }

  #report(): void {
    if (this.#isHeard) this.#write(`\x1b]7501;${this.#status}\x07`)
  }
}

function statusOf({ pendingApprovals = [], status }: ClientState, before: TerminalStatus): TerminalStatus {
  const [wait] = pendingApprovals
  if (wait !== undefined)
    return wait.kind === 'approval' || wait.kind === 'access' ? 'blocked;permission' : 'blocked;question'
  if (status === 'running') return 'working'
  if (status === 'error') return 'error'
  return before === 'idle' ? 'idle' : 'done'
}

/** Puts a text into the clipboard of the terminal (OSC 52), also over ssh. */
export function copySequence(text: string): string {
  return `\x1b]52;c;${Buffer.from(text, 'utf8').toString('base64')}\x07`
}
