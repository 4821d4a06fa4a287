import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const INSPAN = fileURLToPath(new URL('../../bin/inspan.js', import.meta.url))
const PATIENCE_MS = 60_000
/** tmux reports no change of its screen, so it is read again and again. */
const LOOK_MS = 50

/** A real terminal, run by a tmux server of its own. */
export class TmuxTerminal implements Disposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'inspan-tmux-'))
  #isStarted = false

  constructor(files: readonly string[] = []) {
    for (const name of files) writeFileSync(join(this.folder, name), '')
  }

  /** Starts the chat, instead of one that has ended. */
  chat(args: readonly string[], env: Readonly<Record<string, string>> = {}): void {
    this.start(['chat', ...args], env)
  }

  /**
   * Starts a command of inspan, instead of one that has ended. When it is left, the exit code and the settings of the
   * terminal are printed.
   */
  start(args: readonly string[], env: Readonly<Record<string, string>> = {}, folder: string = this.folder): void {
    const variables = { INSPAN_HOME: join(this.folder, '.home'), ...env }
    const settings = Object.entries(variables).map(([name, value]) => `${name}='${value}'`)
    const words = args.map((word) => `'${word}'`)
    const command = [...settings, `'${process.execPath}' '${INSPAN}'`, ...words].join(' ')
    const after =
      'echo "left with $?"; stty -a | tr ";" "\\n" | grep -o -e "-\\{0,1\\}icanon" -e "-\\{0,1\\}echo "; cat'
    if (this.#isStarted) this.#tmux('respawn-pane', '-k', '-c', folder, `${command}; ${after}`)
    else this.#tmux('new-session', '-d', '-x', '90', '-y', '40', '-c', folder, `${command}; ${after}`)
    this.#isStarted = true
    this.#tmux('set-option', '-s', 'set-clipboard', 'on')
  }

  /** Records what the program sends to the terminal from now on. The result returns it, with ␛ and ␇ for Escape and Bell. */
  record(): () => string {
    const file = join(this.folder, '.recorded')
    this.#tmux('pipe-pane', '-O', `cat >> '${file}'`)
    return () => readFileSync(file, 'utf8').replaceAll('\x1b', '␛').replaceAll('\x07', '␇')
  }

  /** Returns what a program has put into the clipboard. */
  clipboard(): string {
    return this.#tmux('show-buffer')
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
    process.kill(this.#pid(), name)
  }

  /** Returns how many milliseconds of CPU the chat has used. */
  cpuMs(): number {
    // The fields after the name of the program, which may hold spaces.
    const fields = readFileSync(`/proc/${this.#pid()}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    const ticks = Number(fields[11]) + Number(fields[12])
    return ticks * 10
  }

  #pid(): number {
    const shell = this.#tmux('display-message', '-p', '#{pane_pid}').trim()
    return Number(readFileSync(`/proc/${shell}/task/${shell}/children`, 'utf8').trim())
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
