import type { RequestContext } from '@inspan/agent'
import { InspanError, type ToolCategory } from '@inspan/protocol'
import type { ToolSource } from '@inspan/protocol/driver'
import type { HarnessEvent } from '@inspan/protocol/harness'
import { asError } from '@inspan/protocol/internal'
import { Workspace, type Checkpoints, type WorkspaceOptions, type Worktrees } from '@inspan/tools'
import type { HarnessRuntime } from '../harness-runtime.ts'

/** The part of a workspace that the harness itself uses. */
export interface HarnessWorkspace {
  readonly id?: string
  readonly name?: string
  init?(): void | Promise<void>
  destroy?(): void | Promise<void>
}

export type WorkspaceFactory = (context: {
  readonly requestContext: RequestContext
  /** The harness's `getRuntime()`, under the name that programs written for another library use. */
  readonly mastra: HarnessRuntime | undefined
}) => HarnessWorkspace | Promise<HarnessWorkspace>

/** Settings that the harness builds a `Workspace` from. */
export type WorkspaceConfig = WorkspaceOptions

export type WorkspaceInput = HarnessWorkspace | WorkspaceConfig | WorkspaceFactory

/** Refuses settings that no workspace can be built from, before anything starts. */
export function checkWorkspace(input: WorkspaceInput): void {
  if (typeof input === 'object') workspaceOf(input)
}

/** Returns the workspace itself; a plain object without methods holds the settings of one. */
function workspaceOf(input: HarnessWorkspace | WorkspaceConfig): HarnessWorkspace {
  return isWorkspace(input) ? input : new Workspace(input)
}

function isWorkspace(input: object): input is HarnessWorkspace {
  const prototype: unknown = Object.getPrototypeOf(input)
  if (prototype !== Object.prototype && prototype !== null) return true
  return ['init', 'destroy'].some((name) => typeof Reflect.get(input, name) === 'function')
}

/** True for a workspace that has tools: ours, and any other that is a tool source. */
function isSource(workspace: object): workspace is HarnessWorkspace & ToolSource {
  return ['list', 'call', 'close'].every((name) => typeof Reflect.get(workspace, name) === 'function')
}

/** The workspace that an agent brings itself, in one run. */
interface OwnWorkspace {
  readonly workspace: HarnessWorkspace
  readonly prepared: Promise<void>
  hasFailed: boolean
}

/**
 * The workspace of a harness: initialised once, reported by events and destroyed with the harness. One that a function
 * makes on demand is not ours to destroy.
 */
export class WorkspaceSlot {
  readonly #input: WorkspaceInput | undefined
  readonly #emit: (event: HarnessEvent) => void
  readonly #runtime: () => HarnessRuntime | undefined
  /** The workspaces made by a function, by the request context of their run. */
  readonly #made = new WeakMap<RequestContext, HarnessWorkspace | undefined>()
  /** The workspaces that agents bring themselves, by the request context of the run they work in. */
  readonly #ofAgents = new WeakMap<RequestContext, OwnWorkspace>()
  readonly #initialised = new WeakMap<HarnessWorkspace, Promise<void>>()
  readonly #inWorktrees = new Map<string, Workspace>()
  #current: HarnessWorkspace | undefined
  /** Made by a function for `resolveWorkspace()`, not for a request. */
  #resolved: HarnessWorkspace | undefined
  #state: 'new' | 'ready' | 'failed' | 'destroyed' = 'new'

  constructor(
    input: WorkspaceInput | undefined,
    emit: (event: HarnessEvent) => void,
    runtime: () => HarnessRuntime | undefined,
  ) {
    this.#input = input
    this.#emit = emit
    this.#runtime = runtime
    if (typeof input === 'object') this.#current = workspaceOf(input)
  }

  get isConfigured(): boolean {
    return this.#input !== undefined
  }

  get isReady(): boolean {
    return typeof this.#input === 'function' || this.#state === 'ready'
  }

  /** Returns the workspace that was given, also before `init`, or the one that a function made last. */
  get(): HarnessWorkspace | undefined {
    return this.#state === 'failed' || this.#state === 'destroyed' ? undefined : this.#current
  }

  /** Initialises the workspace. A failure is reported by events; the harness works without it. */
  async init(): Promise<void> {
    const workspace = this.#current
    if (typeof this.#input !== 'object' || workspace === undefined || this.#state === 'ready') return
    this.#emit({ type: 'workspace_status_changed', status: 'initializing' })
    try {
      await workspace.init?.()
    } catch (thrown) {
      const error = asError(thrown)
      this.#emit({ type: 'workspace_status_changed', status: 'error', error })
      this.#emit({ type: 'workspace_error', error })
      this.#state = 'failed'
      return
    }
    this.#state = 'ready'
    this.#emit({ type: 'workspace_status_changed', status: 'ready' })
    const { id = 'workspace', name = id } = workspace
    this.#emit({ type: 'workspace_ready', workspaceId: id, workspaceName: name })
  }

  /** Returns the workspace of the harness. One that a function makes for no request in particular is made once. */
  async resolveShared(requestContext: RequestContext): Promise<HarnessWorkspace | undefined> {
    this.#resolved ??= await this.resolve(requestContext)
    if (typeof this.#input === 'function') this.#current = this.#resolved
    return this.#resolved
  }

  async resolve(requestContext: RequestContext): Promise<HarnessWorkspace | undefined> {
    if (typeof this.#input !== 'function') {
      await this.init()
      return this.get()
    }
    this.#current = await this.#input({ requestContext, mastra: this.#runtime() })
    return this.#current
  }

  /**
   * Called before the tools of a run: lets a function make their workspace, once. If that fails, they work without one.
   */
  async prepare(requestContext: RequestContext, ofAgent?: object): Promise<void> {
    if (ofAgent !== undefined) return this.#prepareOwn(requestContext, ofAgent)
    this.#ofAgents.delete(requestContext)
    if (typeof this.#input !== 'function' || this.#made.has(requestContext)) return
    try {
      this.#made.set(requestContext, await this.resolve(requestContext))
    } catch (thrown) {
      this.#made.set(requestContext, undefined)
      this.#emit({ type: 'workspace_error', error: asError(thrown) })
    }
  }

  /** The workspace of an agent wins over that of the harness. The code that created it closes it. */
  #prepareOwn(requestContext: RequestContext, workspace: HarnessWorkspace): Promise<void> {
    const known = this.#ofAgents.get(requestContext)
    if (known?.workspace === workspace) return known.prepared
    const prepared = this.#initialise(workspace).catch((thrown: unknown) => {
      own.hasFailed = true
      this.#emit({ type: 'workspace_error', error: asError(thrown) })
    })
    const own: OwnWorkspace = { workspace, prepared, hasFailed: false }
    this.#ofAgents.set(requestContext, own)
    return prepared
  }

  /** Initialises a workspace once, and once more if that failed. */
  async #initialise(workspace: HarnessWorkspace): Promise<void> {
    const initialised = this.#initialised.get(workspace) ?? (async () => workspace.init?.())()
    this.#initialised.set(workspace, initialised)
    try {
      await initialised
    } catch (thrown) {
      this.#initialised.delete(workspace)
      throw thrown
    }
  }

  /** Returns the workspace for the tools of a run. `worktree`: the folder of the thread's worktree, if it has one. */
  of(requestContext: RequestContext, worktree?: string): HarnessWorkspace | undefined {
    return this.#at(this.#of(requestContext), worktree)
  }

  #of(requestContext: RequestContext): HarnessWorkspace | undefined {
    const own = this.#ofAgents.get(requestContext)
    if (own !== undefined) return own.hasFailed ? undefined : own.workspace
    if (typeof this.#input === 'function') return this.#made.get(requestContext)
    return this.#state === 'ready' ? this.#current : undefined
  }

  /** Returns the tool sources for a run: the workspace, if it has tools. */
  sources(requestContext: RequestContext, worktree?: string): readonly ToolSource[] {
    const workspace = this.of(requestContext, worktree)
    return workspace !== undefined && isSource(workspace) ? [workspace] : []
  }

  /** Returns the folder that the agents of a run work in. */
  folderOf(requestContext: RequestContext, worktree?: string): string | undefined {
    return rootOf(this.of(requestContext, worktree))
  }

  /** Returns a file of text as it is now; `null` if there is none. `own`: the workspace that the agent brings itself. */
  async textOf(path: string, own?: object, worktree?: string): Promise<string | null | undefined> {
    const workspace = this.#at(own ?? this.get(), worktree)
    return workspace instanceof Workspace ? workspace.textOf(path) : undefined
  }

  /** Returns what makes worktrees of the workspace's repository. */
  worktrees(): Promise<Worktrees> {
    if (this.#current instanceof Workspace) return this.#current.worktrees()
    throw new InspanError('unsupported', 'Worktrees need a workspace with files of this machine.', {
      hint: 'Give the harness `workspace: { root }`.',
    })
  }

  /** Whether a folder is one that worktrees of the workspace are made in. What a thread's settings name may be anything. */
  isWorktree(path: string): boolean {
    return this.#current instanceof Workspace && this.#current.isWorktree(path)
  }

  /** One per worktree, so that background processes and checkpoints are found again. */
  #at(workspace: HarnessWorkspace | undefined, worktree: string | undefined): HarnessWorkspace | undefined {
    if (worktree === undefined || !(workspace instanceof Workspace)) return workspace
    const known = this.#inWorktrees.get(worktree)
    if (known !== undefined) return known
    const made = workspace.at(worktree)
    this.#inWorktrees.set(worktree, made)
    return made
  }

  /** Returns the folder of a workspace that was given; one that a function makes has none before its run. */
  folder(): string | undefined {
    return typeof this.#input === 'function' ? undefined : rootOf(this.#current)
  }

  /** Returns the exposed names of its tools. Those of a workspace that a function makes are known once it was made. */
  toolNames(): Iterable<readonly [string, string]> {
    return this.#current instanceof Workspace ? this.#current.toolNames : []
  }

  categoryOf(toolName: string): ToolCategory | null {
    return this.#current instanceof Workspace ? (this.#current.categoryOf(toolName) ?? null) : null
  }

  /** Returns what keeps the changes of a run. Without a run: of the workspace that was given or made last. */
  async checkpoints(requestContext?: RequestContext, worktree?: string): Promise<Checkpoints | undefined> {
    const workspace = this.#at(requestContext === undefined ? this.#current : this.#of(requestContext), worktree)
    return workspace instanceof Workspace ? workspace.checkpoints() : undefined
  }

  async destroy(): Promise<void> {
    const workspace = this.#current
    if (typeof this.#input === 'function' || workspace === undefined || this.#state !== 'ready') return
    this.#state = 'destroyed'
    this.#emit({ type: 'workspace_status_changed', status: 'destroying' })
    try {
      for (const inWorktree of this.#inWorktrees.values()) await inWorktree.destroy()
      this.#inWorktrees.clear()
      await workspace.destroy?.()
    } catch (thrown) {
      const error = asError(thrown)
      this.#emit({ type: 'workspace_error', error })
      throw new InspanError('io', `The workspace could not be ended: ${error.message}`, { cause: thrown })
    } finally {
      this.#emit({ type: 'workspace_status_changed', status: 'destroyed' })
    }
  }
}

function rootOf(workspace: HarnessWorkspace | undefined): string | undefined {
  return workspace instanceof Workspace ? workspace.root : undefined
}
