import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { InspanError } from '@inspan/protocol'

const run = promisify(execFile)
/** Whoever has not told git their name can compare, too. */
const NOBODY = ['-c', 'user.name=inspan', '-c', 'user.email=inspan@localhost']
const MOST_BYTES = 256 * 1024 * 1024

/** Copies of a repository, one for each agent of a comparison. They begin with the changes that are not committed yet. */
export class CompareWorktrees {
  readonly #root: string
  readonly #inside: string
  readonly #base: string
  readonly #folder: string
  #adding: Promise<void> = Promise.resolve()
  readonly #trees = new Map<string, string>()

  private constructor(root: string, inside: string, base: string, folder: string) {
    this.#root = root
    this.#inside = inside
    this.#base = base
    this.#folder = folder
  }

  /** Returns undefined where there is no repository with a commit. */
  static async open(cwd: string): Promise<CompareWorktrees | undefined> {
    let root: string
    try {
      root = (await git(cwd, 'rev-parse', '--show-toplevel')).trim()
      await git(root, 'rev-parse', '--verify', 'HEAD')
    } catch {
      return undefined
    }
    // A commit of what is changed, which no branch points to; nothing when nothing is changed.
    const changed = (await git(root, ...NOBODY, 'stash', 'create')).trim()
    const base = changed === '' ? (await git(root, 'rev-parse', 'HEAD')).trim() : changed
    return new CompareWorktrees(root, relative(root, cwd), base, await mkdtemp(join(tmpdir(), 'inspan-compare-')))
  }

  /** Files that git does not know are not in the copies. */
  async untracked(): Promise<number> {
    const names = await git(this.#root, 'ls-files', '--others', '--exclude-standard', '-z')
    return names.split('\0').filter((name) => name !== '').length
  }

  /** Makes a copy and returns the folder in it that corresponds to the current folder. */
  async add(name: string): Promise<string> {
    const tree = join(this.#folder, name.replaceAll(/[^\w.-]/g, '_'))
    // One after the other: git fails when it comes across a copy that is just being made.
    const adding = this.#adding.then(() => git(this.#root, 'worktree', 'add', '--detach', '--quiet', tree, this.#base))
    this.#adding = adding.then(noop, noop)
    await adding
    this.#trees.set(name, tree)
    return join(tree, this.#inside)
  }

  /** Returns what was changed in a copy, also in new files. */
  async diff(name: string): Promise<string> {
    const tree = this.#treeOf(name)
    await git(tree, 'add', '--all')
    return git(tree, 'diff', '--cached', '--binary', this.#base)
  }

  async changedFiles(name: string): Promise<readonly string[]> {
    const tree = this.#treeOf(name)
    await git(tree, 'add', '--all')
    const names = await git(tree, 'diff', '--cached', '--name-only', '-z', this.#base)
    return names.split('\0').filter((each) => each !== '')
  }

  /** Returns how one copy differs from another. */
  async between(name: string, other: string): Promise<string> {
    const [one, two] = await Promise.all([this.#written(name), this.#written(other)])
    return git(this.#root, 'diff', one, two)
  }

  /** Makes the changes of a copy in the repository itself. Nothing is changed if they do not fit. */
  async keep(diff: string): Promise<void> {
    if (diff === '') return
    const file = join(this.#folder, 'kept.patch')
    await writeFile(file, diff)
    try {
      await git(this.#root, 'apply', '--whitespace=nowarn', file)
    } catch (error) {
      throw new InspanError('conflict', 'The changes do not fit the files here: something else has changed them.', {
        hint: 'Apply the patch by hand: git apply --3way <patch>',
        cause: error,
      })
    }
  }

  async remove(): Promise<void> {
    for (const tree of this.#trees.values()) {
      await git(this.#root, 'worktree', 'remove', '--force', tree).catch(() => undefined)
    }
    await rm(this.#folder, { recursive: true, force: true })
    await git(this.#root, 'worktree', 'prune')
  }

  async #written(name: string): Promise<string> {
    const tree = this.#treeOf(name)
    await git(tree, 'add', '--all')
    return (await git(tree, 'write-tree')).trim()
  }

  #treeOf(name: string): string {
    const tree = this.#trees.get(name)
    if (tree === undefined) throw new InspanError('not-found', `There is no worktree for "${name}".`)
    return tree
  }
}

async function git(cwd: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run('git', ['-C', cwd, ...args], {
    maxBuffer: MOST_BYTES,
    // Variables of a hook that called us would point git to another repository.
    env: { ...process.env, GIT_DIR: undefined, GIT_INDEX_FILE: undefined, GIT_WORK_TREE: undefined },
  })
  return stdout
}

function noop(): void {}
