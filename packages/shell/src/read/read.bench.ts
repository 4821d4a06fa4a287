import { parse } from 'unbash'

import { classify, readCommand } from './index.ts'

/** Prints microseconds per command. Run: `node packages/shell/src/read/read.bench.ts`. */

const COMMANDS: readonly string[] = [
  "/bin/bash -lc 'cat hello.txt'",
  `/bin/bash -lc "sed -n '1,200p' packages/core/src/index.ts"`,
  `/bin/bash -lc "nl -ba src/app.ts | sed -n '40,80p'"`,
  "/bin/bash -lc 'rg -n TODO src'",
  "/bin/bash -lc 'cd src && ls -la'",
  'find . -name "*.ts" -not -path "./.git/*"',
  'grep -rn "export function" packages/shell/src | head -20',
  'ls -la src',
  'npm test -- --watch=false 2>&1 | tail -40',
  'git status --short && git diff --stat',
  'for i in $(seq 1 3000); do echo line $i; done',
  'timeout 30 node --test packages/shell/src/read/classify.test.ts',
]
const ROUNDS = 4_000

function microseconds(work: (command: string) => unknown): number {
  let best = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < 7; attempt += 1) {
    const start = performance.now()
    for (let round = 0; round < ROUNDS; round += 1) for (const command of COMMANDS) work(command)
    best = Math.min(best, ((performance.now() - start) * 1000) / (ROUNDS * COMMANDS.length))
  }
  return best
}

const floor = microseconds(parse)
for (const [name, work] of [
  ['readCommand', readCommand],
  ['classify', classify],
] as const) {
  const ours = microseconds((command) => work(command))
  const result = {
    name: `shell.${name}`,
    unit: 'µs',
    floor: round(floor),
    ours: round(ours),
    ratio: round(ours / floor),
  }
  process.stdout.write(`${JSON.stringify(result)}\n`)
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
