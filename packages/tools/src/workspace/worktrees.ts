import type { ExecFileOptions } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, realpath, rm, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { InspanError } from '@inspan/protocol'
import { findProgram } from '../find-program.ts'
import { inspanHome } from '../inspan-home.ts'

/** Processes are loaded when there is one to start. */
async function run(
  program: string,
  args: readonly string[],
  options: ExecFileOptions & { readonly encoding?: 'utf8' } = {},
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const { execFile } = await import('node:child_process')
  return promisify(execFile)(program, args, { ...options, encoding: 'utf8' })
}

/** A copy of a repository, with a branch of its own, that one thread works in. */
export interface Worktree {
  /** The folder in it that stands for the folder of the workspace. */
  readonly path: string
  /** The top folder of the copy. */
  readonly top: string
  readonly branch: string
}

export interface WorktreeStatus extends Worktree {
  /** Files that are changed or new and not committed. */
  readonly uncommitted: readonly string[]
  /** The number of commits that the repository's own branch does not have yet. */
  readonly unmerged: number
}

export interface WorktreesOptions {
  /** Where the copies are made. Default: `worktrees` in `INSPAN_HOME`, or in `.inspan` of the user's folder. */
  readonly folder?: string
}

/** Makes worktrees of the repository that a folder is in. Work that is not committed is removed only on request. */
export class Worktrees {
  readonly #root: string
  readonly #folder: string

  constructor(root: string, { folder = inspanHome('worktrees') }: WorktreesOptions = {}) {
    this.#root = root
    this.#folder = folder
  }

  /** Makes a worktree on a new branch that begins at the current commit. */
  async create(name: string): Promise<Worktree> {
    const root = await realpath(this.#root)
    const top = await git(root, ['rev-parse', '--show-toplevel']).catch((cause: unknown) => {
      throw new InspanError('unsupported', `${root} is not in a git repository, so it has no worktrees.`, { cause })
    })
    await git(top, ['rev-parse', '--verify', 'HEAD']).catch((cause: unknown) => {
      throw new InspanError('unsupported', `The repository ${top} has no commit yet.`, { cause })
    })
    const safe = name.replaceAll(/[^\w-]/g, '-')
    const branch = `inspan/${safe}`
    const key = createHash('sha256').update(top).digest('hex').slice(0, 16)
    const copy = join(this.#folder, key, safe)
    await mkdir(join(this.#folder, key), { recursive: true, mode: 0o700 })
    await git(top, ['worktree', 'add', '--quiet', '-b', branch, copy, 'HEAD'])
    return { path: join(copy, relative(top, root)), top: copy, branch }
  }

  async status(tree: Worktree): Promise<WorktreeStatus> {
    const lines = (await git(tree.top, ['status', '--porcelain', '-z', '--untracked-files=all'])).split('\0')
    const uncommitted = lines.filter((line) => line !== '').map((line) => line.slice(3))
    const unmerged = Number(await git(this.#root, ['rev-list', '--count', `HEAD..${tree.branch}`]))
    return { ...tree, uncommitted, unmerged }
  }

  /** Merges the branch into the current branch of the repository. If they do not fit, nothing changes. */
  async merge(tree: Worktree): Promise<void> {
    await this.#assertCommitted(tree)
    try {
      await git(this.#root, ['merge', '--quiet', '--no-edit', tree.branch])
    } catch (error) {
      const files = (await git(this.#root, ['diff', '--name-only', '--diff-filter=U'])).split('\n').filter(Boolean)
      if (files.length > 0) await git(this.#root, ['merge', '--abort'])
      const why = files.length > 0 ? `both changed ${files.join(', ')}` : messageOf(error)
      throw new InspanError('conflict', `${tree.branch} cannot be merged: ${why}`, {
        hint: 'Nothing was changed. Merge it by hand, or solve this in the worktree first.',
        cause: error,
      })
    }
  }

  /** Makes its changes in the folder of the workspace, committed or not, without a commit. If they do not fit, nothing changes. */
  async apply(tree: Worktree): Promise<void> {
    const base = await git(this.#root, ['merge-base', 'HEAD', tree.branch])
    await git(tree.top, ['add', '--all'])
    const patch = join(this.#folder, `${tree.branch.replaceAll('/', '-')}.patch`)
    try {
      await git(tree.top, ['diff', '--cached', '--binary', '--no-ext-diff', `--output=${patch}`, base])
      if ((await stat(patch)).size === 0) return
      const top = await git(this.#root, ['rev-parse', '--show-toplevel'])
      await git(top, ['apply', '--whitespace=nowarn', patch])
    } catch (error) {
      throw new InspanError('conflict', `The changes do not fit the files of the workspace: ${messageOf(error)}`, {
        hint: `Nothing was changed. The changes are still in ${tree.top}.`,
        cause: error,
      })
    } finally {
      await rm(patch, { force: true })
    }
  }

  /** Removes the worktree. Its branch stays if it has commits that are nowhere else. `discard`: also what is not committed. */
  async remove(tree: Worktree, { discard = false }: { readonly discard?: boolean } = {}): Promise<void> {
    if (!discard) {
      await this.#assertCommitted(tree)
      await this.#assertOnBranch(tree)
    }
    // Without --force, git itself refuses to remove work that appeared in between.
    await git(this.#root, ['worktree', 'remove', ...(discard ? ['--force'] : []), tree.top])
    await git(this.#root, ['branch', '--quiet', '-d', tree.branch]).catch(() => undefined)
  }

  async #assertCommitted(tree: Worktree): Promise<void> {
    const { uncommitted } = await this.status(tree)
    if (uncommitted.length === 0) return
    throw new InspanError('conflict', `The worktree ${tree.top} has work that is not committed.`, {
      hint: `Commit or discard it first: ${uncommitted.slice(0, 10).join(', ')}.`,
      details: { uncommitted },
    })
  }

  /** Commits that only the HEAD of the worktree leads to would be lost with it. */
  async #assertOnBranch({ top }: Worktree): Promise<void> {
    const args = ['rev-list', '--max-count=10', '--abbrev-commit', 'HEAD', '--not', '--branches', '--tags', '--remotes']
    const lost = await git(top, args)
    if (lost === '') return
    const commits = lost.split('\n')
    throw new InspanError('conflict', `The worktree ${top} has commits that are on no branch: ${commits.join(', ')}.`, {
      hint: 'Make a branch of them, or discard them, first.',
      details: { commits },
    })
  }
}

async function git(cwd: string, args: readonly string[]): Promise<string> {
  // A variable of the user must not lead to another repository.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')))
  const program = findProgram('git', cwd)
  if (program === undefined) {
    throw new InspanError('unsupported', 'Worktrees need git, which is not installed.', { hint: 'Install git.' })
  }
  const { stdout } = await run(program, [...args], { cwd, env: { ...env, LC_ALL: 'C' }, maxBuffer: 64 * 1024 * 1024 })
  return args[0] === 'status' ? stdout : stdout.trim()
}

function messageOf(error: unknown): string {
  const { stderr } = error as { stderr?: unknown }
  return typeof stderr === 'string' && stderr.trim() !== '' ? stderr.trim() : String(error)
}
