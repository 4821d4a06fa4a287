import { statSync } from 'node:fs'
import { InspanError, type JsonObject } from '@inspan/protocol'
import type { SourcedTool, ToolOutcome, ToolRunContext } from '@inspan/protocol/driver'
import { FILE_TOOLS } from './file-tools.ts'
import type { WorkspaceFiles } from './files.ts'
import { LocalFiles } from './local-files.ts'
import { Processes } from './processes.ts'
import { SeenFiles } from './seen-files.ts'
import type { CommandOptions, RunningCommand, WorkspaceShell } from './shell.ts'
import { SHELL_TOOLS } from './shell-tools.ts'
import { activity, type ToolCall, type WorkspaceTool } from './tool-kit.ts'
import type { OfferedTool, WorkspaceOptions } from './workspace.ts'

const MAX_SHOWN_BYTES = 1024 * 1024
const TOOLS: readonly WorkspaceTool[] = [...FILE_TOOLS, ...SHELL_TOOLS]

/** What a workspace needs once it is used: its tools, files and processes. */
export class WorkspaceTools {
  readonly #root: string
  readonly #options: WorkspaceOptions
  readonly #offered: ReadonlyMap<string, OfferedTool>
  readonly #listed: readonly SourcedTool[]
  readonly #processes = new Processes()
  readonly #seen = new SeenFiles()
  #files: WorkspaceFiles | undefined
  #shell: WorkspaceShell | undefined

  constructor(root: string, options: WorkspaceOptions, offered: ReadonlyMap<string, OfferedTool>) {
    this.#root = root
    this.#options = options
    this.#offered = offered
    this.#files = options.files
    this.#listed = [...offered].map(([name, each]) => this.#sourced(name, each))
  }

  async init(): Promise<void> {
    this.#localFiles()
    if (this.#options.shell !== false) await (await this.#localShell()).init?.()
  }

  list(): readonly SourcedTool[] {
    return this.#listed
  }

  async call(name: string, input: JsonObject, run: ToolRunContext): Promise<ToolOutcome> {
    const offered = this.#offered.get(name)
    if (offered === undefined) throw new InspanError('not-found', `The workspace offers no tool "${name}".`)
    const tool = toolOf(offered)
    try {
      const shell = tool.category === 'execute' ? await this.#localShell() : NO_SHELL
      const call: ToolCall = {
        root: this.#root,
        files: this.#localFiles(),
        shell,
        processes: this.#processes,
        seen: this.#seen,
        config: offered.config,
        run,
      }
      return await tool.execute(input, call)
    } catch (error) {
      if (!InspanError.is(error)) throw error
      return { result: error.message, isError: true, activity: failed(tool, input) }
    }
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

  /** Ends background processes. */
  async close(): Promise<void> {
    await this.#processes.endAll()
  }

  #localFiles(): WorkspaceFiles {
    if (this.#files === undefined) {
      assertFolder(this.#root)
      this.#files = new LocalFiles(this.#root)
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

  #sourced(name: string, offered: OfferedTool): SourcedTool {
    const tool = toolOf(offered)
    const { category, changes, description, inputSchema, isReadOnly } = tool
    const { requireApproval } = offered.config
    return {
      name,
      description,
      inputSchema,
      category,
      annotations: { readOnlyHint: isReadOnly, ...(tool.name === 'delete' ? { destructiveHint: true } : {}) },
      ...(requireApproval === undefined ? {} : { requiresApproval: requireApproval }),
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

function toolOf({ tool }: OfferedTool): WorkspaceTool {
  const found = TOOLS.find(({ name }) => name === tool)
  if (found === undefined) throw new TypeError(`There is no tool ${tool}.`)
  return found
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
