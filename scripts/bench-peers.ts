/**
 * Compares Inspan with the harness of another library, measured by the same script in separate processes. The peer is
 * installed once, outside this project. Prints a table, or with `--json` one line per cell.
 */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bundlePackage } from './pack-bundle.ts'
import { toPublished, type Manifest } from './pack-exports.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const child = fileURLToPath(new URL('bench-peers-child.mjs', import.meta.url))
const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    /** Runs only these measures. */
    only: { type: 'string', multiple: true },
    /** Leaves the peer out. */
    own: { type: 'boolean', default: false },
  },
})
const rounds = Number(values.rounds)

const PEER = ['@mastra/core@1.71.0', '@mastra/memory@1.31.0', '@mastra/libsql@1.23.1', 'ai@7.0.169', 'zod@4.6.7']
const CELLS: readonly { readonly measure: string; readonly count: number; readonly subjects: readonly string[] }[] = [
  ...[100, 1_000, 10_000].map((count) => ({
    measure: 'stream',
    count,
    subjects: ['streamText', 'inspan', 'inspan-sqlite', 'mastra', 'mastra-libsql'],
  })),
  { measure: 'cold', count: 1, subjects: ['node', 'streamText', 'inspan', 'inspan-sqlite', 'mastra', 'mastra-libsql'] },
  { measure: 'idle', count: 100, subjects: ['inspan', 'mastra'] },
  { measure: 'concurrent', count: 100, subjects: ['streamText', 'inspan', 'inspan-sqlite', 'mastra', 'mastra-libsql'] },
]

type Figures = Readonly<Record<string, number>>

const peer = values.own ? undefined : installPeer()
const published = await publishLocally()
try {
  for (const { count, measure, subjects } of CELLS) {
    if (values.only !== undefined && !values.only.includes(measure)) continue
    for (const subject of subjects) {
      if (peer === undefined && subject.startsWith('mastra')) continue
      const figures = median(Array.from({ length: rounds }, () => run(subject, measure, count)))
      const line = { measure, count, subject, ...figures }
      console.log(values.json ? JSON.stringify(line) : describe(line))
    }
  }
} finally {
  rmSync(published, { recursive: true, force: true })
}

function run(subject: string, measure: string, count: number): Figures {
  const folder = subject.startsWith('inspan') ? published : subject.startsWith('mastra') ? peer : root
  const args = ['--expose-gc', child, subject, measure, String(count), folder ?? root]
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

/** Installs into a separate folder, moved when complete, so that a partial installation is never used. */
function installPeer(): string {
  const { XDG_CACHE_HOME } = process.env
  const cache = XDG_CACHE_HOME === undefined || XDG_CACHE_HOME === '' ? join(homedir(), '.cache') : XDG_CACHE_HOME
  const folder = join(cache, 'inspan', 'peers', 'mastra-1.71.0')
  if (existsSync(folder)) return folder
  const partial = `${folder}.partial`
  rmSync(partial, { recursive: true, force: true })
  mkdirSync(partial, { recursive: true })
  writeFileSync(join(partial, 'package.json'), '{"private":true}')
  console.error('Installing the peer …')
  const args = ['install', '--prefix', partial, '--no-audit', '--no-fund', '--loglevel=error', ...PEER]
  const { status } = spawnSync('npm', args, { cwd: partial, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error('npm could not install the peer: see its output above.')
  renameSync(partial, folder)
  return folder
}

/** Builds our packages as they are published, without the types that Node would have to strip. */
async function publishLocally(): Promise<string> {
  console.error('Building …')
  if (spawnSync('tsc', ['-b', 'packages/core'], { cwd: root, stdio: ['ignore', 2, 2] }).status !== 0)
    throw new Error('tsc -b failed.')
  const folder = mkdtempSync(join(tmpdir(), 'inspan-published-'))
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '@inspan'), { recursive: true })
  const wanted = ['core']
  const linked = new Set<string>()
  for (const name of wanted) {
    const source = join(root, 'packages', name)
    const target = join(modules, '@inspan', name)
    const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Manifest
    mkdirSync(target)
    cpSync(join(source, 'dist'), join(target, 'dist'), { recursive: true })
    writeFileSync(join(target, 'package.json'), JSON.stringify(toPublished(manifest)))
    await bundlePackage(target)
    for (const dependency of Object.keys({ ...(manifest['dependencies'] as object | undefined) })) {
      const own = /^@inspan\/(.+)$/.exec(dependency)?.[1]
      if (own === undefined) linked.add(dependency)
      else if (!wanted.includes(own)) wanted.push(own)
    }
  }
  for (const name of linked) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  return folder
}
