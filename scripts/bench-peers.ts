/**
 * Compares Inspan with the harnesses of other libraries, measured by the same script in separate processes. The peers are
 * installed once, outside this project. Prints a table, or with `--json` one line per cell.
 */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { installPeer, PEERS } from './peers/install-peer.ts'
import { publishLocally } from './peers/publish-locally.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const child = fileURLToPath(new URL('bench-peers-child.mjs', import.meta.url))
const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    /** Runs only these measures. */
    only: { type: 'string', multiple: true },
    /** Leaves the peers out. */
    own: { type: 'boolean', default: false },
  },
})
const rounds = Number(values.rounds)

const CELLS: readonly { readonly measure: string; readonly count: number; readonly subjects: readonly string[] }[] = [
  ...[100, 1_000, 10_000].map((count) => ({
    measure: 'stream',
    count,
    subjects: ['streamText', 'inspan', 'inspan-sqlite', 'mastra', 'mastra-libsql', 'inspan-sdk', 'ai-harness'],
  })),
  { measure: 'cold', count: 1, subjects: ['node', 'streamText', 'inspan', 'inspan-sqlite', 'mastra', 'mastra-libsql'] },
  { measure: 'idle', count: 100, subjects: ['inspan', 'mastra'] },
  { measure: 'concurrent', count: 100, subjects: ['streamText', 'inspan', 'inspan-sqlite', 'mastra', 'mastra-libsql'] },
]

type Figures = Readonly<Record<string, number>>

const peers: Readonly<Record<string, string>> = values.own
  ? {}
  : { mastra: installPeer(PEERS.mastra), 'ai-harness': installPeer(PEERS.aiSdkHarness) }
const published = await publishLocally(root, ['core', 'sdk'])
try {
  for (const { count, measure, subjects } of CELLS) {
    if (values.only !== undefined && !values.only.includes(measure)) continue
    for (const subject of subjects) {
      if (values.own && /^(mastra|ai-harness)/.test(subject)) continue
      const figures = median(Array.from({ length: rounds }, () => run(subject, measure, count)))
      const line = { measure, count, subject, ...figures }
      console.log(values.json ? JSON.stringify(line) : describe(line))
    }
  }
} finally {
  rmSync(published, { recursive: true, force: true })
}

function run(subject: string, measure: string, count: number): Figures {
  const peer = Object.keys(peers).find((name) => subject.startsWith(name))
  const folder = subject.startsWith('inspan') ? published : (peers[peer ?? ''] ?? root)
  const args = ['--expose-gc', child, subject, measure, String(count), folder]
  const { status, stderr, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 300_000 })
  const line = stdout.split('\n').findLast((each) => each.startsWith('{'))
  if (status !== 0 || line === undefined) throw new Error(`${subject} ${measure} ${count} failed:\n${stderr}`)
  return JSON.parse(line) as Figures
}

function median(all: readonly Figures[]): Figures {
  const keys = Object.keys(all[0] ?? {})
  return Object.fromEntries(
    keys.map((key) => {
      const sorted = all.map((each) => each[key] ?? Number.NaN).sort((a, b) => a - b)
      return [key, Number((sorted[Math.floor(sorted.length / 2)] ?? Number.NaN).toPrecision(3))]
    }),
  )
}

function describe({ count, measure, subject, ...figures }: Readonly<Record<string, string | number>>): string {
  const shown = Object.entries(figures).map(([name, value]) => `${name} ${value}`)
  return `${String(measure).padEnd(10)} ${String(count).padStart(6)}  ${String(subject).padEnd(14)} ${shown.join('  ')}`
}
