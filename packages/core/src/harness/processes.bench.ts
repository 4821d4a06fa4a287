/**
 * Measures what needs a process of its own: a cold start, the memory of idle sessions, a hundred conversations at once.
 * Uses the script that also measures other libraries, on our packages as they are published.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { report } from '@inspan/testing'

interface Cell {
  readonly measure: string
  readonly subject: string
  readonly wallMs?: number
  readonly cpuMs?: number
  readonly rssMb?: number
  readonly heapKb?: number
}

const script = fileURLToPath(new URL('../../../../scripts/bench-peers.ts', import.meta.url))
const only = ['cold', 'idle', 'concurrent'].flatMap((measure) => ['--only', measure])
const { status, stderr, stdout } = spawnSync(process.execPath, [script, '--json', '--own', '--rounds', '5', ...only], {
  encoding: 'utf8',
})
if (status !== 0) throw new Error(stderr)
const cells = stdout
  .split('\n')
  .filter((line) => line.startsWith('{'))
  .map((line) => JSON.parse(line) as Cell)

function figure(measure: string, subject: string, name: 'wallMs' | 'cpuMs' | 'rssMb' | 'heapKb'): number {
  const value = cells.find((cell) => cell.measure === measure && cell.subject === subject)?.[name]
  if (value === undefined) throw new Error(`${subject} ${measure} was not measured`)
  return value
}

function compareFigures(name: string, limit: number, unit: string, ours: number, floor: number): void {
  report({ name, ratio: Number((ours / floor).toPrecision(3)), limit, unit, floor, ours })
}

compareFigures(
  'import, construct, init and first answer in a new process relative to a budget',
  1,
  'ms',
  figure('cold', 'inspan', 'wallMs'),
  200,
)
compareFigures(
  'the same relative to the start of Node itself',
  10,
  'ms CPU',
  figure('cold', 'inspan', 'cpuMs'),
  figure('cold', 'node', 'cpuMs'),
)
compareFigures(
  'the same relative to streamText in a new process',
  2,
  'ms CPU',
  figure('cold', 'inspan', 'cpuMs'),
  figure('cold', 'streamText', 'cpuMs'),
)
compareFigures('memory of that process relative to a budget', 1, 'MB', figure('cold', 'inspan', 'rssMb'), 90)
compareFigures('an idle session with a thread relative to a budget', 1, 'KB', figure('idle', 'inspan', 'heapKb'), 40)
compareFigures(
  '100 sessions at once, 200 deltas each, relative to 100 × streamText',
  0.5,
  'ms CPU',
  figure('concurrent', 'inspan', 'cpuMs'),
  figure('concurrent', 'streamText', 'cpuMs'),
)
