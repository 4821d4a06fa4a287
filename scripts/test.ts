/**
 * Runs all checks: types, lint, format, unused code, then the tests. Stops at the first kind that fails, so that its
 * output is the last thing on the screen.
 *
 * With `--suite real` it runs the tests on real programs. All of them together also show whether what docs/guide/agents.md
 * says about the programs is true; `--table` writes it instead. `--suite machines` runs the tests that need Postgres.
 */
import { spawn } from 'node:child_process'
import { glob, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { describeLeftOut, selectFor } from './platforms/test-files.ts'
import { runSuites } from './real-suites.ts'
import { runTestFiles } from './run-test-files.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    suite: { type: 'string', default: 'unit' },
    'only-tests': { type: 'boolean', default: false },
    table: { type: 'boolean', default: false },
  },
})

const SUITES: Readonly<Record<string, string>> = {
  unit: '**/*.test.ts',
  real: '**/*.real.ts',
  machines: '**/*.machines.ts',
}

const pattern = SUITES[values.suite]
if (pattern === undefined) {
  console.error(`Unknown suite "${values.suite}". Known: ${Object.keys(SUITES).join(', ')}.`)
  process.exit(2)
}

if (values.suite === 'unit' && positionals.length === 0 && !values['only-tests']) {
  await step('types', 'tsc', ['-b', '--pretty', 'false'])
  await step('lint', 'oxlint', ['--type-aware', '--deny-warnings'])
  await step('format', 'oxfmt', ['--check', '.'])
  await step('unused code', 'knip', ['--no-progress'])
}

const files = positionals.length > 0 ? positionals : await testFiles(pattern)
if (values.suite === 'real') await testRealPrograms(files)
else {
  const { files: selected, leftOut } = selectFor(process.platform, files, root)
  if (leftOut.size > 0) console.error(describeLeftOut(leftOut))
  console.error(`── tests (${selected.length} files)`)
  // Hundreds of processes load the same sources. Compiled once, they start in a fraction of the time.
  const env = { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled') }
  if (!(await runTestFiles(selected, { root, env }))) {
    console.error('tests: failed')
    process.exitCode = 1
  }
}

async function testRealPrograms(suites: readonly string[]): Promise<void> {
  const isAll = positionals.length === 0
  if (values.table && !isAll) {
    console.error('The tables say what all programs have shown: leave out the names of files.')
    process.exit(2)
  }
  const proofs = await mkdtemp(join(tmpdir(), 'inspan-proofs-'))
  try {
    console.error(`── tests on real programs (${suites.length} suites)`)
    const havePassed = await runSuites(suites, { root, env: { INSPAN_REAL_PROOFS: proofs } })
    const doc = [
      'packages/adapters/test/real/agents-doc.ts',
      values.table ? 'write' : 'check',
      proofs,
      'docs/guide/agents.md',
    ]
    if (!havePassed) process.exitCode = 1
    else if (isAll) process.exitCode = await run('what the programs have shown', process.execPath, doc)
  } finally {
    await rm(proofs, { recursive: true, force: true })
  }
}

async function testFiles(suffix: string): Promise<string[]> {
  const found: string[] = []
  for (const folder of ['packages', 'scripts']) {
    for await (const file of glob(join(folder, suffix), {
      cwd: root,
      exclude: (name) => name === 'node_modules' || name === 'dist',
    })) {
      found.push(file)
    }
  }
  return found.sort()
}

async function step(name: string, command: string, args: readonly string[]): Promise<void> {
  const code = await run(name, command, args)
  if (code !== 0) process.exit(code)
}

async function run(name: string, command: string, args: readonly string[]): Promise<number> {
  console.error(`── ${name}`)
  const code = await new Promise<number>((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' })
    child.once('error', reject)
    child.once('close', (status) => resolve(status ?? 1))
  })
  if (code !== 0) console.error(`${name}: failed`)
  return code
}
