/**
 * Runs every `*.bench.ts`, one after the other in separate processes. Each prints one JSON line per benchmark, which
 * become a table here, or with `--json` stay lines. Exit code 1 when a ratio is above its limit.
 */
import { spawn } from 'node:child_process'
import { glob } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { BenchmarkResult } from '@inspan/testing'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean', default: false } },
})

const files: string[] = []
for await (const file of glob('packages/*/src/**/*.bench.ts', { cwd: root })) {
  // Words on the command line select the files whose names contain one of them.
  if (positionals.length === 0 || positionals.some((word) => file.includes(word))) files.push(file)
}

let failures = 0
for (const file of files.sort()) {
  console.error(`── ${file}`)
  for (const result of await run(join(root, file))) {
    const isOver = result.ratio > result.limit
    if (isOver) failures++
    console.log(values.json ? JSON.stringify(result) : describe(result, isOver))
  }
}
if (failures > 0) console.error(`${failures} above their limit`)
process.exitCode = failures > 0 ? 1 : 0

function describe(result: BenchmarkResult, isOver: boolean): string {
  const figures = `${result.ours} ${result.unit} / ${result.floor} ${result.unit}`
  return `${isOver ? '✗' : '✓'} ${String(result.ratio).padStart(6)}× (limit ${result.limit}×)  ${result.name}  [${figures}]`
}

async function run(file: string): Promise<BenchmarkResult[]> {
  const child = spawn(process.execPath, ['--expose-gc', file], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  const code = await new Promise<number>((resolve) => child.once('close', (status) => resolve(status ?? 1)))
  if (code !== 0) throw new Error(`${file} ended with exit code ${code}`)
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as BenchmarkResult)
}
