/**
 * Compares the tools of a workspace with bare fs, with ripgrep and with `git status`, on a tree of 50,000 files.
 * Run: node packages/tools/src/workspace/workspace.bench.ts [files]
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@inspan/protocol'
import type { ToolRunContext } from '@inspan/protocol/driver'
import { compare, report } from '@inspan/testing'
import { Checkpoints } from '../checkpoints/checkpoints.ts'
import { LocalFiles } from './local-files.ts'
import { Workspace } from './workspace.ts'

const count = Number(process.argv[2] ?? 50_000)
const base = mkdtempSync(join(tmpdir(), 'inspan-bench-'))
const root = join(base, 'root')
const small = join(base, 'small')
const OFTEN = 300
/** Has to be installed for this comparison. */
const RIPGREP = 'rg'

function fill(folder: string, files: number): void {
  for (let n = 0; n < files; n++) {
    const inside = join(folder, `d${n % 50}`, `e${n % 500}`)
    if (n < 500) mkdirSync(inside, { recursive: true })
    writeFileSync(join(inside, `f${n}.ts`), `export const value${n} = ${n}\n// needle${n % 1000 === 0 ? '!' : ''}\n`)
  }
}

function git(...args: string[]): void {
  // Without the collection of garbage that a large commit starts in the background, beside what is measured.
  const settings = ['user.name=a', 'user.email=a@b.c', 'gc.auto=0', 'maintenance.auto=false']
  execFileSync('git', [...settings.flatMap((each) => ['-c', each]), ...args], { cwd: root, stdio: 'ignore' })
}

const run: ToolRunContext = {
  signal: new AbortController().signal,
  idempotencyKey: 'k',
  toolCallId: 'c',
  runId: 'r',
  turnId: 't',
  threadId: 'thread',
  agentId: 'a',
  progress: () => undefined,
}

try {
  fill(root, count)
  fill(small, 500)
  git('init', '-q')
  git('add', '-A')
  git('commit', '-qm', 'all')
  // Otherwise the disk is still busy with this tree while small writes are measured.
  execFileSync('sync')
  const workspace = new Workspace({ root })
  const call = async (name: string, input: JsonObject): Promise<void> => {
    const { isError, result } = await workspace.call(name, input, run)
    if (isError === true) throw new Error(JSON.stringify(result))
  }
  const path = 'd7/e7/f7.ts'
  const often = (work: (n: number) => Promise<void> | void) => async (): Promise<number> => {
    for (let n = 0; n < OFTEN; n++) await work(n)
    return OFTEN
  }
  report(
    await compare({
      name: 'workspace: read_file relative to readFileSync',
      limit: 25,
      floor: often(() => void readFileSync(join(root, path), 'utf8')),
      ours: often(() => call('read_file', { path })),
    }),
  )
  report(
    await compare({
      name: 'workspace: write_file relative to writeFileSync',
      limit: 12,
      floor: often((n) => writeFileSync(join(root, path), `x${n}\n`)),
      ours: often((n) => call('write_file', { path, content: `y${n}\n` })),
    }),
  )
  const edited = join(root, path)
  const swap = (n: number): readonly [string, string] => (n % 2 === 0 ? ['one', 'two'] : ['two', 'one'])
  writeFileSync(edited, 'one line\n')
  report(
    await compare({
      name: 'workspace: edit_file relative to readFileSync, replace and writeFileSync',
      limit: 12,
      floor: often((n) => writeFileSync(edited, readFileSync(edited, 'utf8').replace(...swap(n)))),
      ours: often((n) => {
        const [oldText, newText] = swap(n)
        return call('edit_file', { path, old_string: oldText, new_string: newText })
      }),
    }),
  )
  report(
    await compare({
      name: 'workspace: grep in 50,000 files relative to ripgrep',
      limit: 3,
      floor: () => {
        execFileSync(RIPGREP, ['--no-config', '--sort', 'path', '-n', 'needle!', './'], { cwd: root, stdio: 'ignore' })
        return 1
      },
      ours: async () => {
        await call('grep', { pattern: 'needle!' })
        return 1
      },
      rounds: 5,
    }),
  )
  const local = new LocalFiles(root)
  report(
    await compare({
      name: 'workspace: grep in 50,000 files without ripgrep relative to bare fs',
      limit: 3,
      floor: () => {
        let found = 0
        for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
          if (!entry.isFile() || entry.parentPath.includes('/.git')) continue
          if (/needle!/.test(readFileSync(join(entry.parentPath, entry.name), 'utf8'))) found++
        }
        return found
      },
      ours: async () => {
        const options = { pattern: /needle!/, source: 'needle!', honourIgnore: true, useRipgrep: false }
        return (await Array.fromAsync(local.grep('.', options))).length
      },
      rounds: 5,
    }),
  )
  let turn = 0
  const checkpoint = async (folder: string): Promise<number> => {
    const checkpoints = new Checkpoints(folder, { folder: join(base, 'kept') })
    for (let n = 0; n < 20; n++) {
      const id = { thread: 't', runId: 'r', turnId: `t${turn}`, seq: turn++ }
      await checkpoints.keep(id, join(folder, path))
      writeFileSync(join(folder, path), `z${turn}\n`)
      await checkpoints.end(id)
    }
    return 20
  }
  report(
    await compare({
      name: 'checkpoint of one file among 50,000 relative to one among 500',
      limit: 1.5,
      floor: () => checkpoint(small),
      ours: () => checkpoint(root),
    }),
  )
  const scanned = new Checkpoints(root, { folder: join(base, 'kept') })
  report(
    await compare({
      name: 'checkpoint of a command: one scan relative to git status',
      limit: 2,
      floor: () => {
        git('status', '--porcelain')
        return 1
      },
      prepare: async () => writeFileSync(join(root, path), `scan${turn}\n`),
      ours: async () => {
        await scanned.baseline({ thread: 's', runId: 'r', turnId: `s${turn}`, seq: turn++ })
        return 1
      },
      rounds: 5,
    }),
  )
} finally {
  rmSync(base, { recursive: true, force: true })
}
