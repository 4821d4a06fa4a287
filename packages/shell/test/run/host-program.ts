/**
 * A host process for tests that must kill one. Its only argument is a JSON list of shell commands, each started as a
 * run; when all have printed a line it prints what it knows as JSON and obeys single lines on stdin.
 */
import { createInterface } from 'node:readline'
import { hostGuard } from '../../src/run/guard.ts'
import { killTree } from '../../src/run/kill-tree.ts'
import { spawnRun } from '../../src/run/spawn-run.ts'
import type { RunProcess } from '../../src/run/index.ts'
import { LineReader } from './processes.ts'

export interface HostReport {
  readonly pid: number
  readonly guardPid: number
  readonly runs: readonly { readonly runId: string; readonly pid: number; readonly printed: string }[]
}

const commands = JSON.parse(process.argv[2] ?? '[]') as string[]
const runs: { run: RunProcess; printed: string }[] = []
for (const command of commands) {
  const run = await spawnRun({ command: '/bin/sh', args: ['-c', command] })
  run.stderr.discard()
  runs.push({ run, printed: await new LineReader(run.stdout).next() })
}

function report(): void {
  const known = runs.map(({ run, printed }) => ({ runId: run.runId, pid: run.pid, printed }))
  const text: HostReport = { pid: process.pid, guardPid: hostGuard.pid ?? 0, runs: known }
  console.log(JSON.stringify(text))
}

report()
const orders = createInterface({ input: process.stdin })
for await (const order of orders) {
  if (order === 'exit') process.exit(0)
  if (order === 'report') report()
  if (order === 'kill runs') await Promise.all(runs.map(({ run }) => run.kill({ graceMs: 0 })))
  if (order === 'kill my own run') {
    const receipt = await killTree({ runId: process.env['INSPAN_RUN'] ?? '', graceMs: 0 })
    console.log(JSON.stringify(receipt.killed.map((process) => process.pid)))
  }
}
