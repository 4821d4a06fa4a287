/**
 * Everything that has to hold, in one go: types, lint, format, unused code, then the tests. Stops at the first kind
 * that fails, so that its output is the last thing on the screen.
 */
import { spawn } from 'node:child_process'
import { glob } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { suite: { type: 'string', default: 'unit' }, 'only-tests': { type: 'boolean', default: false } },
})

const SUITES: Readonly<Record<string, string>> = {
  unit: '**/*.test.ts',
  real: '**/*.real.ts',
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
await step(`tests (${files.length} files)`, process.execPath, ['--test', '--test-timeout=300000', ...files])

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
  console.error(`── ${name}`)
  const code = await new Promise<number>((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit' })
    child.once('error', reject)
    child.once('close', (status) => resolve(status ?? 1))
  })
  if (code !== 0) {
    console.error(`${name}: failed`)
    process.exit(code)
  }
}
