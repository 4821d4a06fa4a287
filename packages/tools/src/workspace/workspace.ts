import { basename, isAbsolute, relative, resolve } from 'node:path'
import { InspanError, type JsonObject, type ToolCategory } from '@inspan/protocol'
import type { SourcedTool, ToolOutcome, ToolRunContext, ToolSource } from '@inspan/protocol/driver'
import type { CheckpointOptions, Checkpoints } from '../checkpoints/checkpoints.ts'
import { inspanHome } from '../inspan-home.ts'
import type { WorkspaceFiles } from './files.ts'
import type { LocalShellOptions } from './local-shell.ts'
import type { WorkspaceShell } from './shell.ts'
import type { WorkspaceToolConfig } from './tool-kit.ts'
import type { WorkspaceTools } from './workspace-tools.ts'
import type { Worktrees, WorktreesOptions } from './worktrees.ts'

export type WorkspaceToolName =
  | 'read_file'
  | 'write_file'
  | 'edit_file'
  | 'list_files'
  | 'delete'
  | 'file_stat'
  | 'mkdir'
  | 'grep'
  | 'execute_command'
  | 'get_process_output'
  | 'kill_process'

/** What policies ask for before any tool is used. The tools themselves are loaded then. */
const CATEGORIES: Readonly<Record<WorkspaceToolName, ToolCategory>> = {
  read_file: 'read',
  write_file: 'edit',
  edit_file: 'edit',
  list_files: 'read',
  delete: 'edit',
  file_stat: 'read',
  mkdir: 'edit',
  grep: 'read',
  execute_command: 'execute',
  get_process_output: 'read',
  kill_process: 'execute',
}
const NAMES = Object.keys(CATEGORIES) as readonly WorkspaceToolName[]
const SHELL_NAMES: ReadonlySet<WorkspaceToolName> = new Set(['execute_command', 'get_process_output', 'kill_process'])

/** Settings of single tools, and defaults for all of them. */
export type WorkspaceToolsConfig = Pick<WorkspaceToolConfig, 'enabled' | 'requireApproval'> & {
  readonly [Name in WorkspaceToolName]?: WorkspaceToolConfig
}

export interface WorkspaceOptions {
  /** The folder that file tools stay in and that commands start in. */
  readonly root: string
  /** The id in `workspace_ready`. Default: `workspace-` and the name of the folder. */
  readonly id?: string
  /** The name in `workspace_ready`. Default: the `id`, or else the name of the folder. */
  readonly name?: string
  /** Settings of single tools, and `enabled` and `requireApproval` for all of them. */
  readonly tools?: WorkspaceToolsConfig
  /** Where commands run: settings of the local shell, or a shell of your own. `false`: no commands. Default: a shell of this machine. */
  readonly shell?: LocalShellOptions | WorkspaceShell | false
  /** Where the files are, if they are elsewhere. Default: in the folder `root` of this machine. */
  readonly files?: WorkspaceFiles
  /** Stores what turns change, so that you can go back. `false`: off. Default: on, for files of this machine. */
  readonly checkpoints?: CheckpointOptions | false
  /** Where worktrees of threads are made. */
  readonly worktrees?: WorktreesOptions
  /** Creates the folder if it is missing. Default: false. */
  readonly create?: boolean
}

/** A tool that is offered, with its settings. */
export interface OfferedTool {
  readonly tool: WorkspaceToolName
  readonly config: WorkspaceToolConfig
}

/** The files of a folder and a shell, as tools for agents. */
export class Workspace implements ToolSource {
  readonly id: string
  readonly name: string
  readonly root: string
  readonly #options: WorkspaceOptions
  /** By the exposed name. */
  readonly #offered = new Map<string, OfferedTool>()
  #tools: Promise<WorkspaceTools> | undefined
  #checkpoints: Promise<Checkpoints> | undefined

  constructor(options: WorkspaceOptions) {
    checkOptions(options)
    this.#options = options
    this.root = resolve(options.root)
    this.id = options.id ?? `workspace-${basename(this.root) || 'root'}`
    this.name = options.name ?? options.id ?? (basename(this.root) || this.root)
    for (const tool of NAMES) this.#offer(tool)
  }

  /** What each tool is called, by its own name. Tools that are not offered are not there. */
  get toolNames(): ReadonlyMap<WorkspaceToolName, string> {
    return new Map([...this.#offered].map(([name, { tool }]) => [tool, name]))
  }

  /** Returns the category of an offered tool by its exposed name. */
  categoryOf(name: string): ToolCategory | undefined {
    const offered = this.#offered.get(name)
    return offered === undefined ? undefined : CATEGORIES[offered.tool]
  }

  /** Checks that the folder and the shell can be used. */
  async init(): Promise<void> {
    if (this.#options.create === true && this.#options.files === undefined) {
      const { mkdir } = await import('node:fs/promises')
      await mkdir(this.root, { recursive: true })
    }
    await (await this.#loaded()).init()
  }

  async list(): Promise<readonly SourcedTool[]> {
    return (await this.#loaded()).list()
  }

  async call(name: string, input: JsonObject, run: ToolRunContext): Promise<ToolOutcome> {
    return (await this.#loaded()).call(name, input, run)
  }

  /** Returns what keeps the changes of turns; `undefined` where they are not kept. */
  async checkpoints(): Promise<Checkpoints | undefined> {
    const { checkpoints = {}, files } = this.#options
    if (checkpoints === false || files !== undefined) return undefined
    this.#checkpoints ??= import('../checkpoints/checkpoints.ts').then((loaded) => {
      return new loaded.Checkpoints(this.root, checkpoints)
    })
    this.#checkpoints.catch(() => (this.#checkpoints = undefined))
    return this.#checkpoints
  }

  /** Returns a file of text as it is now; `null` if there is none, undefined if it is binary, large, or not in the folder. */
  async textOf(path: string): Promise<string | null | undefined> {
    return (await this.#loaded()).textOf(path)
  }

  /** Returns what makes worktrees of the repository that the folder is in. */
  async worktrees(): Promise<Worktrees> {
    if (this.#options.files !== undefined) {
      throw new InspanError('unsupported', 'The files of this workspace are elsewhere, and have no worktrees here.')
    }
    const { Worktrees: Made } = await import('./worktrees.ts')
    return new Made(this.root, this.#options.worktrees)
  }

  /** Whether a folder is below the one that worktrees are made in. */
  isWorktree(path: string): boolean {
    const { folder = inspanHome('worktrees') } = this.#options.worktrees ?? {}
    const within = relative(resolve(folder), path)
    return within !== '' && !within.startsWith('..') && !isAbsolute(within)
  }

  /** Returns the same workspace in another folder. */
  at(root: string): Workspace {
    return new Workspace({ ...this.#options, root, id: this.id, name: this.name })
  }

  /** Ends background processes. The workspace can be used again. */
  async close(): Promise<void> {
    await (await this.#tools)?.close()
  }

  destroy(): Promise<void> {
    return this.close()
  }

  /** Loaded on first use, because a program that imports us may never work in a folder. */
  #loaded(): Promise<WorkspaceTools> {
    this.#tools ??= import('./workspace-tools.ts').then((loaded) => {
      return new loaded.WorkspaceTools(this.root, this.#options, this.#offered)
    })
    return this.#tools
  }

  #offer(tool: WorkspaceToolName): void {
    const { enabled = true, requireApproval, ...named } = this.#options.tools ?? {}
    const config = { enabled, ...(requireApproval === undefined ? {} : { requireApproval }), ...named[tool] }
    if (!config.enabled || (SHELL_NAMES.has(tool) && this.#options.shell === false)) return
    const { name = tool } = config
    if (this.#offered.has(name)) {
      throw new InspanError('invalid-input', `Two tools of the workspace are called "${name}".`)
    }
    this.#offered.set(name, { tool, config })
  }
}

const OPTIONS: readonly (keyof WorkspaceOptions)[] = [
  'root',
  'id',
  'name',
  'tools',
  'shell',
  'files',
  'create',
  'checkpoints',
  'worktrees',
]
const SETTINGS: readonly (keyof WorkspaceToolConfig)[] = [
  'enabled',
  'name',
  'requireApproval',
  'requireReadBeforeWrite',
  'maxOutputTokens',
]

function checkOptions(options: WorkspaceOptions): void {
  const given: unknown = options
  if (typeof given !== 'object' || given === null) throw wrong('A workspace is made from `{ root }`.')
  assertKnown('A workspace', options, OPTIONS)
  if (typeof options.root !== 'string' || options.root === '') throw wrong('`root` of a workspace has to be a folder.')
  if (!isAbsolute(options.root) && options.root.startsWith('~')) throw wrong('`root` cannot begin with ~.')
  const { tools = {} } = options
  if (typeof tools !== 'object' || tools === null) throw wrong('`tools` of a workspace has to be an object.')
  assertKnown('`tools` of a workspace', tools, ['enabled', 'requireApproval', ...NAMES])
  for (const name of NAMES) {
    const config = tools[name]
    if (config === undefined) continue
    if (typeof config !== 'object' || config === null) throw wrong(`\`tools.${name}\` has to be an object.`)
    assertKnown(`\`tools.${name}\``, config, SETTINGS)
    if (config.name !== undefined && !/^[\w-]{1,64}$/.test(config.name)) {
      throw wrong(`\`tools.${name}.name\` has to be made of letters, digits, _ and -.`)
    }
    const { maxOutputTokens: most } = config
    if (most !== undefined && !(Number.isInteger(most) && most > 0)) {
      throw wrong(`\`tools.${name}.maxOutputTokens\` has to be a whole number from 1 on.`)
    }
  }
}

function assertKnown(what: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find((key) => !known.includes(key))
  if (unknown !== undefined) throw wrong(`${what} has no setting "${unknown}".`, `There are: ${known.join(', ')}.`)
}

function wrong(message: string, hint?: string): InspanError {
  return new InspanError('invalid-input', message, hint === undefined ? {} : { hint })
}
