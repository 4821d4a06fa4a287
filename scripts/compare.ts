/**
 * Makes the tables of docs/guide/compare.md: the same program for three libraries, killed while its question waits, with
 * its length and the size of its installation, then the benchmarks. The peers are installed once, outside this project.
 * Prints the tables; `--write` also puts them into the page. `--only programs` or `--only benchmarks` makes one of them.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { killDuringApproval } from './compare/kill-during-approval.ts'
import { benchTable, countLines, folderSize, programTable, type Cell, type Row } from './compare/tables.ts'
import { runTimePackages, type LockFile } from './hygiene/lock-file.ts'
import { installPeer, PEERS } from './peers/install-peer.ts'
import { publishLocally } from './peers/publish-locally.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const page = join(root, 'docs/guide/compare.md')
const { values } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    rounds: { type: 'string', default: '3' },
  },
})

interface Installed {
  readonly modules: string
  readonly packages: number
  readonly megabytes: number
}

if (isWanted('programs')) show('programs', programTable(await comparePrograms()))
if (isWanted('benchmarks')) show('benchmarks', benchTable(bench()))

function isWanted(name: string): boolean {
  return values.only?.includes(name) ?? true
}

async function comparePrograms(): Promise<Row[]> {
  const mastra = installed(installPeer(PEERS.mastra))
  const harness = installed(installPeer(PEERS.aiSdkHarness))
  const published = await publishLocally(root, ['core'])
  try {
    return [
      await row('Inspan', 'inspan.mjs', ours(published)),
      await row('Mastra', 'mastra.mjs', mastra),
      await row('AI SDK harness', 'ai-sdk.mjs', harness),
      await row('AI SDK harness, program saves the state', 'ai-sdk-saved.mjs', harness),
    ]
  } finally {
    rmSync(published, { recursive: true, force: true })
  }
}

async function row(name: string, program: string, { megabytes, modules, packages }: Installed): Promise<Row> {
  const lines = countLines(fileURLToPath(new URL(`compare/${program}`, import.meta.url)))
  return { name, lines, packages, megabytes, ...(await killDuringApproval(program, modules)) }
}

function installed(folder: string): Installed {
  const modules = join(folder, 'node_modules')
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as LockFile
  return { modules, packages: Object.keys(lock.packages).length - 1, megabytes: folderSize(modules) / 1e6 }
}

/** Our packages as they are published, and the third-party packages they and the program need, which are linked. */
function ours(folder: string): Installed {
  const modules = join(folder, 'node_modules')
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as LockFile
  const needed = [...new Set([...runTimePackages(lock, 'core'), 'zod'])]
  const zod = join(modules, 'zod')
  if (!existsSync(zod)) symlinkSync(join(root, 'node_modules/zod'), zod, 'junction')
  const own = Object.keys(lock.packages['packages/core']?.dependencies ?? {}).filter((name) =>
    name.startsWith('@inspan/'),
  )
  const sizes = needed.map((name) => folderSize(join(root, 'node_modules', name)))
  const megabytes = [folderSize(join(modules, '@inspan')), ...sizes].reduce((sum, size) => sum + size) / 1e6
  return { modules, packages: needed.length + own.length + 1, megabytes }
}

function bench(): Cell[] {
  const args = [join(root, 'scripts/bench-peers.ts'), '--json', '--rounds', values.rounds]
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 2] })
  if (status !== 0) throw new Error('The benchmarks failed: see their output above.')
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Cell)
}

function show(name: string, table: string): void {
  console.log(`${table}\n`)
  if (!values.write) return
  const between = new RegExp(`(<!-- compare: ${name} -->\n\n)[^]*?(\n\n<!-- end of compare -->)`)
  const text = readFileSync(page, 'utf8')
  if (!between.test(text)) throw new Error(`docs/guide/compare.md has no place for the table of ${name}.`)
  writeFileSync(
    page,
    text.replace(between, (_, before: string, after: string) => `${before}${table}${after}`),
  )
}
