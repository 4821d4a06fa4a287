/**
 * The guard process. Its stdin is a pipe from the host. When the pipe ends, the host is dead, for whatever reason, and
 * the guard ends every process of the runs that the host registered.
 */
import { spawnSync } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { hostTable } from './capabilities.ts'
import { encodeAnswer, parseCommand } from './guard-protocol.ts'
import type { GuardCommand } from './guard-protocol.ts'
import { killRuns } from './kill-tree.ts'
import { LineSplitter } from './line-splitter.ts'
import { firstMark, limitProgram } from './mark.ts'
import type { RunRoot, RunTarget } from './membership.ts'

/** Short, because nothing records what these processes do any more. */
const graceMs = 1000
/** A child that was forked but not yet executing when the host died shows its tag only later. */
const secondLookMs = 250

const runs = new Map<string, Map<number, RunRoot>>()

function obey(command: GuardCommand): void {
  const roots = runs.get(command.runId) ?? new Map<number, RunRoot>()
  if (command.type === 'remove') {
    runs.delete(command.runId)
  } else {
    if (command.type === 'root') roots.set(command.root.pid, command.root)
    runs.set(command.runId, roots)
  }
  if (command.type !== 'root') process.stdout.write(encodeAnswer(command.type, command.runId))
}

function targets(): RunTarget[] {
  return [...runs].flatMap(([runId, roots]): RunTarget[] =>
    roots.size === 0 ? [{ runId }] : [...roots.values()].map((root) => ({ runId, root })),
  )
}

async function hostIsDead(): Promise<void> {
  if (runs.size > 0) {
    await killRuns(targets(), { graceMs })
    await pause(secondLookMs)
    await killRuns(targets(), { graceMs: 0 })
  }
  process.exit(0)
}

/** Removes the mark of the run that the host may be part of, because the guard has to outlive that run. */
function shedMark(): void {
  const self = hostTable.stat(process.pid)
  if (self === undefined || (hostTable.mark(self) ?? 0) < firstMark) return
  spawnSync(limitProgram, ['--pid', String(process.pid), `--locks=${firstMark - 1}:`], { stdio: 'ignore' })
}

shedMark()

// Only the host's death ends the guard. A signal to everything around the host must not end the guard too.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
process.stdout.on('error', () => undefined)

const splitter = new LineSplitter((line) => {
  const command = parseCommand(line.text)
  if (command !== undefined && line.complete) obey(command)
})
process.stdin.on('data', (chunk: Buffer) => splitter.push(chunk))
process.stdin.on('error', () => undefined)
process.stdin.once('close', () => void hostIsDead())
