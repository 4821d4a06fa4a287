import { statSync } from 'node:fs'
import { basename, isAbsolute, relative, resolve } from 'node:path'
import { InspanError, type JsonObject, type ToolCategory } from '@inspan/protocol'
import type { SourcedTool, ToolOutcome, ToolRunContext, ToolSource } from '@inspan/protocol/driver'
import type { CheckpointOptions, Checkpoints } from '../checkpoints/checkpoints.ts'
import { inspanHome } from '../inspan-home.ts'
import { FILE_TOOLS } from './file-tools.ts'
import type { WorkspaceFiles } from './files.ts'
import { LocalFiles } from './local-files.ts'
import type { LocalShellOptions } from './local-shell.ts'
import { Processes } from './processes.ts'
import { SeenFiles } from './seen-files.ts'
import type { Worktrees, WorktreesOptions } from './worktrees.ts'
import type { CommandOptions, RunningCommand, WorkspaceShell } from './shell.ts'
import { SHELL_TOOLS } from './shell-tools.ts'
import { activity, type ToolCall, type WorkspaceTool, type WorkspaceToolConfig } from './tool-kit.ts'

const MAX_SHOWN_BYTES = 1024 * 1024
const TOOLS: readonly WorkspaceTool[] = [...FILE_TOOLS, ...SHELL_TOOLS]

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

interface OfferedTool {
  readonly tool: WorkspaceTool
  readonly config: WorkspaceToolConfig
  readonly sourced: SourcedTool
}

/** The files of a folder and a shell, as tools for agents. */
export class Workspace implements ToolSource {
  readonly id: string
  readonly name: string
  readonly root: string
  readonly #options: WorkspaceOptions
  readonly #offered = new Map<string, OfferedTool>()
  readonly #listed: readonly SourcedTool[]
  readonly #processes = new Processes()
  readonly #seen = new SeenFiles()
  #files: WorkspaceFiles | undefined
  #shell: WorkspaceShell | undefined
  #checkpoints: Promise<Checkpoints> | undefined

  constructor(options: WorkspaceOptions) {
    checkOptions(options)
    this.#options = options
    this.root = resolve(options.root)
    this.id = options.id ?? `workspace-${basename(this.root) || 'root'}`
    this.name = options.name ?? options.id ?? (basename(this.root) || this.root)
    this.#files = options.files
    for (const tool of TOOLS) this.#offer(tool)
    this.#listed = [...this.#offered.values()].map(({ sourced }) => sourced)
  }

  /** What each tool is called, by its own name. Tools that are not offered are not there. */
  get toolNames(): ReadonlyMap<WorkspaceToolName, string> {
    return new Map([...this.#offered].map(([name, { tool }]) => [tool.name as WorkspaceToolName, name]))
  }

  /** Returns the category of an offered tool by its exposed name. */
  categoryOf(name: string): ToolCategory | undefined {
    return this.#offered.get(name)?.tool.category
  }

  /** Checks that the folder and the shell can be used. */
  async init(): Promise<void> {
    if (this.#options.create === true && this.#options.files === undefined) {
      const { mkdir } = await import('node:fs/promises')
      await mkdir(this.root, { recursive: true })
    }
    this.#localFiles()
    if (this.#options.shell !== false) await (await this.#localShell()).init?.()
  }

  list(): readonly SourcedTool[] {
    return this.#listed
  }

  async call(name: string, input: JsonObject, run: ToolRunContext): Promise<ToolOutcome> {
    const offered = this.#offered.get(name)
    if (offered === undefined) throw new InspanError('not-found', `The workspace offers no tool "${name}".`)
    const { config, tool } = offered
    try {
      const shell = tool.category === 'execute' ? await this.#localShell() : NO_SHELL
      const call: ToolCall = {
        root: this.root,
        files: this.#localFiles(),
        shell,
        processes: this.#processes,
        seen: this.#seen,
        config,
        run,
      }
      return await tool.execute(input, call)
    } catch (error) {
      if (!InspanError.is(error)) throw error
      return { result: error.message, isError: true, activity: failed(tool, input) }
    }
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
    try {
      const files = this.#localFiles()
      if ((await files.stat(path)) === null) return null
      const { bytes } = await files.read(path, MAX_SHOWN_BYTES)
      return bytes.includes(0) ? undefined : bytes.toString('utf8')
    } catch {
      return undefined
    }
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
    await this.#processes.endAll()
  }

  destroy(): Promise<void> {
    return this.close()
  }

  #localFiles(): WorkspaceFiles {
    if (this.#files === undefined) {
      assertFolder(this.root)
      this.#files = new LocalFiles(this.root)
    }
    return this.#files
  }

  async #localShell(): Promise<WorkspaceShell> {
    const { shell = {} } = this.#options
    if (shell === false) return NO_SHELL
    if ('run' in shell) return shell
    if (this.#shell !== undefined) return this.#shell
    const files = this.#localFiles()
    if (!(files instanceof LocalFiles)) {
      throw new InspanError(
        'unsupported',
        'The files of this workspace are elsewhere, and no shell was given for them.',
        {
          hint: 'Give `shell` as well, or `shell: false`.',
        },
      )
    }
    // Loaded on first use: most programs run no commands.
    const { LocalShell } = await import('./local-shell.ts')
    this.#shell = new LocalShell(files, shell)
    return this.#shell
  }

  #offer(tool: WorkspaceTool): void {
    const { enabled = true, requireApproval, ...named } = this.#options.tools ?? {}
    const own = named[tool.name as WorkspaceToolName] ?? {}
    const config = { enabled, ...(requireApproval === undefined ? {} : { requireApproval }), ...own }
    const isShell = SHELL_TOOLS.includes(tool)
    if (!config.enabled || (isShell && this.#options.shell === false)) return
    const name = config.name ?? tool.name
    if (this.#offered.has(name)) {
      throw new InspanError('invalid-input', `Two tools of the workspace are called "${name}".`)
    }
    this.#offered.set(name, { tool, config, sourced: this.#sourced(tool, name, config) })
  }

  #sourced(tool: WorkspaceTool, name: string, config: WorkspaceToolConfig): SourcedTool {
    const { category, changes, description, inputSchema, isReadOnly } = tool
    return {
      name,
      description,
      inputSchema,
      category,
      annotations: { readOnlyHint: isReadOnly, ...(tool.name === 'delete' ? { destructiveHint: true } : {}) },
      ...(config.requireApproval === undefined ? {} : { requiresApproval: config.requireApproval }),
      checkInput: async (input) => problemOf(() => tool.check(input)),
      ...(FILE_TOOLS.includes(tool) ? { keepsFiles: true } : {}),
      ...(changes === undefined ? {} : { preconditions: (input) => this.#stateOf(input[changes]) }),
    }
  }

  /** An approved change is about the file as it was then. */
  async #stateOf(path: unknown): Promise<JsonObject | undefined> {
    if (typeof path !== 'string') return undefined
    try {
      const info = await this.#localFiles().stat(path)
      return { [path]: info?.version ?? null }
    } catch {
      return undefined
    }
  }
}

const NO_SHELL: WorkspaceShell = {
  isContained: true,
  run: (_options: CommandOptions): Promise<RunningCommand> => {
    throw new InspanError('unsupported', 'This workspace has no shell.')
  },
}

function failed(tool: WorkspaceTool, input: JsonObject): ReturnType<typeof activity> {
  const path = textOf(input['path']) ?? '.'
  switch (tool.name) {
    case 'execute_command':
    case 'get_process_output':
    case 'kill_process':
      return activity({ type: 'command', command: textOf(input['command']) ?? tool.name, isSuccess: false })
    case 'grep':
      return activity({ type: 'search', query: textOf(input['pattern']) ?? '', path, isSuccess: false })
    case 'list_files':
      return activity({ type: 'list', path, isSuccess: false })
  }
  return activity({ type: tool.isReadOnly ? 'read' : 'write', path, isSuccess: false })
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function problemOf(check: () => void): string | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function assertFolder(root: string): void {
  const stats = statSync(root, { throwIfNoEntry: false })
  if (stats?.isDirectory() === true) return
  throw new InspanError('not-found', `The folder of the workspace is not there: ${root}`, {
    hint: 'Create it, or set `create: true`.',
  })
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
  assertKnown('`tools` of a workspace', tools, ['enabled', 'requireApproval', ...TOOLS.map(({ name }) => name)])
  for (const { name } of TOOLS) {
    const config = tools[name as WorkspaceToolName]
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
