import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What a process that starts after the kill finds and can do. */
export interface AfterKill {
  /** It is asked the same question again, although nothing was sent a second time. */
  readonly isAskedAgain: boolean
  /** How often the tool ran, after one approval. */
  readonly toolRuns: number
  /** The agent finished its answer. */
  readonly isFinished: boolean
}

const LIMIT_MS = 60_000

/** Kills a program while its question waits, starts it again in the same folder and lets it approve what it finds. */
export async function killDuringApproval(program: string, modules: string): Promise<AfterKill> {
  const folder = mkdtempSync(join(tmpdir(), 'inspan-compare-'))
  try {
    for (const file of [program, 'shared.mjs']) {
      cpSync(fileURLToPath(new URL(file, import.meta.url)), join(folder, file))
    }
    symlinkSync(modules, join(folder, 'node_modules'), 'junction')
    const first = await play(folder, [program], (printed) => printed.includes('asked deploy'))
    if (!first.includes('asked deploy')) throw new Error(`${program} never asked:\n${first}`)
    if (existsSync(join(folder, 'deployed.txt'))) throw new Error(`${program} ran the tool before anybody approved it.`)
    const second = await play(folder, [program, 'restarted'], (printed) => printed.includes('Done.'))
    const deployed = join(folder, 'deployed.txt')
    return {
      isAskedAgain: second.includes('asked deploy'),
      toolRuns: existsSync(deployed) ? readFileSync(deployed, 'utf8').trim().split('\n').length : 0,
      isFinished: second.includes('Done.'),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs a program until it ends or has printed enough, then kills it. Returns what it printed. */
async function play(folder: string, args: readonly string[], isEnough: (printed: string) => boolean): Promise<string> {
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS)
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      if (isEnough(printed)) child.kill('SIGKILL')
    })
  }
  await ended
  clearTimeout(timer)
  return printed
}
