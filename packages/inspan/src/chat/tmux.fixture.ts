import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const INSPAN = fileURLToPath(new URL('../../bin/inspan.js', import.meta.url))
const PATIENCE_MS = 30_000
/** tmux reports no change of its screen, so it is read again and again. */
const LOOK_MS = 50

/** A real terminal, run by a tmux server of its own. */
export class TmuxTerminal implements Disposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'inspan-tmux-'))
  #isStarted = false

  constructor(files: readonly string[] = []) {
    for (const name of files) writeFileSync(join(this.folder, name), '')
  }

  /** Starts the chat, instead of one that has ended. When it is left, the exit code and the settings of the terminal are printed. */
  chat(args: readonly string[], env: Readonly<Record<string, string>> = {}): void {
    const variables = { INSPAN_HOME: join(this.folder, '.home'), ...env }
    const settings = Object.entries(variables).map(([name, value]) => `${name}='${value}'`)
    const command = [...settings, `'${process.execPath}' '${INSPAN}' chat`, ...args].join(' ')
    const after =
      'echo "left with $?"; stty -a | tr ";" "\\n" | grep -o -e "-\\{0,1\\}icanon" -e "-\\{0,1\\}echo "; cat'
    if (this.#isStarted) this.#tmux('respawn-pane', '-k', '-c', this.folder, `${command}; ${after}`)
    else this.#tmux('new-session', '-d', '-x', '90', '-y', '40', '-c', this.folder, `${command}; ${after}`)
    this.#isStarted = true
  }

  type(text: string): void {
    this.#tmux('send-keys', '-l', text)
  }

  /** Presses keys by their tmux names: `Enter`, `Escape`, `M-Enter`, `C-c`. */
  press(...keys: readonly string[]): void {
    this.#tmux('send-keys', ...keys)
  }

  /** Sends a signal to the chat, as `kill` would. */
  signal(name: NodeJS.Signals): void {
    const shell = this.#tmux('display-message', '-p', '#{pane_pid}').trim()
    const children = readFileSync(`/proc/${shell}/task/${shell}/children`, 'utf8')
    process.kill(Number(children.trim()), name)
  }

  resize(columns: number, rows: number): void {
    this.#tmux('resize-window', '-x', String(columns), '-y', String(rows))
  }

  screen(options: readonly string[] = []): string {
    return this.#tmux('capture-pane', '-p', ...options)
  }

  /** Resolves with the screen when it looks as expected. */
  async shows(expected: RegExp): Promise<string> {
    const deadline = Date.now() + PATIENCE_MS
    for (;;) {
      const screen = this.screen()
      if (expected.test(screen)) return screen
      if (Date.now() > deadline) throw new Error(`The terminal never showed ${expected}. It shows:\n${screen}`)
      await sleep(LOOK_MS)
    }
  }

  [Symbol.dispose](): void {
    if (this.#isStarted) this.#tmux('kill-server')
    rmSync(this.folder, { recursive: true, force: true })
  }

  #tmux(...args: readonly string[]): string {
    const server = ['-f', '/dev/null', '-S', join(this.folder, '.tmux')]
    return execFileSync('tmux', [...server, ...args], { encoding: 'utf8' })
  }
}
