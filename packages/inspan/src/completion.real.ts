// Completion in the real shells.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { SHELLS, type Shell } from './completion-script.ts'

const INSPAN = fileURLToPath(new URL('../bin/inspan.js', import.meta.url))
const PATIENCE_MS = 60_000
const LOOK_MS = 50

/** How a person who has installed the script starts each shell, without settings of their own. */
const STARTS: Readonly<Record<Shell, string>> = {
  bash: 'bash --noprofile --rcfile rc.bash -i',
  zsh: 'ZDOTDIR=. zsh -i',
  fish: 'XDG_CONFIG_HOME=$PWD/config fish',
}

/** A shell in a terminal of its own, in which keys are pressed. */
class ShellTerminal implements Disposable {
  readonly #folder: string

  constructor(folder: string, start: string) {
    this.#folder = folder
    this.#tmux('new-session', '-d', '-x', '150', '-y', '50', '-c', folder, start)
  }

  type(text: string): void {
    this.#tmux('send-keys', '-l', text)
  }

  press(key: string): void {
    this.#tmux('send-keys', key)
  }

  async shows(expected: RegExp): Promise<string> {
    const deadline = Date.now() + PATIENCE_MS
    for (;;) {
      const screen = this.#tmux('capture-pane', '-p')
      if (expected.test(screen)) return screen
      if (Date.now() > deadline) throw new Error(`The shell never showed ${expected}. It shows:\n${screen}`)
      await sleep(LOOK_MS)
    }
  }

  [Symbol.dispose](): void {
    this.#tmux('kill-server')
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync('tmux', ['-f', '/dev/null', '-S', join(this.#folder, '.tmux'), ...args], { encoding: 'utf8' })
  }
}

describe('inspan completion', { timeout: 300_000 }, () => {
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'inspan-completion-'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  for (const shell of SHELLS) {
    it(`completes commands, options and coding agents in ${shell}`, async () => {
      assert.equal(spawnSync(shell, ['-c', 'true']).status, 0, `${shell} is not installed: apt-get install ${shell}`)
      const script = execFileSync(process.execPath, [INSPAN, 'completion', shell], { encoding: 'utf8' })
      install(shell, folder, script)
      using terminal = new ShellTerminal(folder, STARTS[shell])
      await terminal.shows(/ready>/)
      terminal.type('inspan norm')
      terminal.press('Tab')
      await terminal.shows(/inspan normalize/)
      terminal.press('C-u')
      terminal.type('inspan run --max-c')
      terminal.press('Tab')
      await terminal.shows(/inspan run --max-cost/)
      terminal.press('C-u')
      terminal.type('inspan run --harness antig')
      terminal.press('Tab')
      await terminal.shows(/inspan run --harness antigravity/)
      terminal.press('C-u')
      terminal.type('inspan se')
      terminal.press('Tab')
      terminal.press('Tab')
      assert.match(await terminal.shows(/sessions/), /serve\b[^]*sessions/)
    })
  }
})

function install(shell: Shell, folder: string, script: string): void {
  if (shell === 'bash') writeFileSync(join(folder, 'rc.bash'), `PS1='ready> '\n${script}`)
  else if (shell === 'zsh') {
    writeFileSync(join(folder, '_inspan'), script)
    writeFileSync(
      join(folder, '.zshrc'),
      "fpath=($PWD $fpath)\nautoload -U compinit\ncompinit -u -d $PWD/dump\nbindkey -e\nPROMPT='ready> '\n",
    )
  } else {
    const config = join(folder, 'config', 'fish')
    execFileSync('mkdir', ['-p', join(config, 'completions')])
    writeFileSync(join(config, 'completions', 'inspan.fish'), script)
    writeFileSync(join(config, 'config.fish'), "function fish_prompt; echo 'ready> '; end\nset fish_greeting\n")
  }
}
