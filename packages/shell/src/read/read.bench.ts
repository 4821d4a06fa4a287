import { compare, report } from '@inspan/testing'
import { parse } from 'unbash'

import { classify, readCommand } from './index.ts'

/** What it costs to find out what a command would do, compared with only parsing it. */

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
const ROUNDS = 500

function each(work: (command: string) => unknown): () => number {
  return () => {
    for (let round = 0; round < ROUNDS; round += 1) for (const command of COMMANDS) work(command)
    return ROUNDS * COMMANDS.length
  }
}

report(
  await compare({
    name: 'shell: reading a command relative to parsing it',
    limit: 10,
    floor: each(parse),
    ours: each((command) => readCommand(command)),
  }),
)
report(
  await compare({
    name: 'shell: classifying a command relative to parsing it',
    limit: 16,
    floor: each(parse),
    ours: each((command) => classify(command)),
  }),
)
