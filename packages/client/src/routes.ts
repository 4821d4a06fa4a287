import { InspanError, type Grants, type JsonObject, type StoredMessage } from '@inspan/protocol'
import type { HarnessStatus, PendingApproval } from '@inspan/protocol/wire'
import type { Transport } from './transport.ts'

export interface ThreadSummary {
  readonly id: string
  readonly title: string | null
  readonly createdAt: number
  readonly updatedAt: number
  readonly forkedFrom?: { readonly thread: string; readonly at: number }
  /** The call of the parent that started a subagent's thread. */
  readonly parentCall?: string
}

/** A thread with its status: what a list of everything shows. */
export interface ThreadOverview extends ThreadSummary {
  readonly status: HarnessStatus
  readonly agentId: string
  readonly mode: string
  readonly model?: string
  readonly pendingApprovals?: readonly PendingApproval[]
  readonly error?: string
  /** The project of a thread that is not one of this server's. */
  readonly project?: string
  /** Set if this server opens that project, so that the thread is read and answered like any other. */
  readonly canOpen?: true
}

export interface Overview {
  readonly threads: readonly ThreadOverview[]
  /** Threads of other projects, where the server names them. */
  readonly elsewhere: readonly ThreadOverview[]
}

export interface ThreadList {
  readonly threads: readonly ThreadSummary[]
  /** The cursor of the next page; `null` at the end. */
  readonly next: string | null
}

export interface StoredMessagePage {
  /** Oldest first. */
  readonly messages: readonly StoredMessage[]
  /** Pass it on to get the messages before these; `null` at the beginning of the thread. */
  readonly before: number | null
  /** If the thread's head has another one, the conversation was rewound or erased in between: read the page again. */
  readonly rewrittenAt: number
}

export interface ModeInfo {
  readonly id: string
  readonly name: string
  readonly description?: string
  readonly defaultModelId?: string
}

export interface ThreadFileChange {
  readonly path: string
  readonly status: 'created' | 'changed' | 'deleted'
  /** Absent where there is no file, and where it is binary or larger than a megabyte. */
  readonly before?: string
  readonly after?: string
  /** In git's unified format. */
  readonly diff?: string
  readonly isBinary?: true
}

export interface MemoryProgress {
  readonly generation: number
  readonly coversTo: number
  readonly threshold: number
  readonly reflectionThreshold: number
  readonly pendingTokens?: number
  readonly observationTokens?: number
  readonly observations?: string
}

export interface ThreadLimits {
  readonly limits: JsonObject
  /** Limits of providers that the thread waits for, with the time at which each ends. */
  readonly waits: readonly JsonObject[]
  /** Limits of accounts that coding agents have reported, the newest report of each. */
  readonly agents: readonly AgentLimitReport[]
  readonly usage: JsonObject
}

export interface AgentLimitReport {
  readonly agentId: string
  /** The provider's name of the limit, such as `five_hour`. */
  readonly name: string
  readonly status: 'ok' | 'near' | 'reached'
  /** When the limit starts anew, in milliseconds since 1970. */
  readonly resetsAt?: number
  /** How much of it is used, from 0 to 1. */
  readonly used?: number
}

/** What somebody has allowed beyond the rules. */
export interface ThreadGrants {
  readonly thread: Grants
  /** Allowed in all threads of the project. */
  readonly project: Grants
  /** The project: usually its folder. */
  readonly resource: string
}

/** A session that a coding agent keeps on the server's machine. */
export interface NativeSession {
  readonly id: string
  readonly agentId: string
  readonly title?: string
  readonly updatedAt: number
  readonly cwd: string
}

/** A token of the server, never with the token itself. */
export interface TokenSummary {
  readonly id: string
  readonly name: string
  readonly principal: string
  readonly role: 'view' | 'approve' | 'drive'
  readonly createdAt: number
  readonly isOwner?: true
}

/** Answers that end the attempts to connect: trying again changes nothing. */
const FINAL: ReadonlySet<number> = new Set([401, 403, 421])
/** How long to wait for one of them. */
const REFUSAL_MS = 10_000

/** What can be read and managed over HTTP. */
export class ServerRoutes {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  threads(
    query: { readonly search?: string; readonly cursor?: string; readonly limit?: number } = {},
  ): Promise<ThreadList> {
    const given = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)])
    return this.#json(`/v1/threads?${new URLSearchParams(given)}`)
  }

  async thread(thread: string): Promise<ThreadSummary> {
    return (await this.#json<{ thread: ThreadSummary }>(threadPath(thread))).thread
  }

  /** Returns the threads in which something waits, and the newest ones. */
  overview(): Promise<Overview> {
    return this.#json('/v1/overview')
  }

  /** `worktree`: the thread works in a git worktree of its own, where the server offers that. */
  async createThread(options: { readonly title?: string; readonly worktree?: boolean } = {}): Promise<ThreadSummary> {
    return (await this.#json<{ thread: ThreadSummary }>('/v1/threads', 'POST', options)).thread
  }

  async renameThread(thread: string, title: string): Promise<ThreadSummary> {
    return (await this.#json<{ thread: ThreadSummary }>(threadPath(thread), 'PATCH', { title })).thread
  }

  /** Forks a thread; with `messageId` the fork ends with that message. */
  async forkThread(
    thread: string,
    options: { readonly messageId?: string; readonly title?: string; readonly worktree?: boolean } = {},
  ): Promise<ThreadSummary> {
    return (await this.#json<{ thread: ThreadSummary }>(`${threadPath(thread)}/forks`, 'POST', options)).thread
  }

  /** Removes the worktree of a thread. `apply`: its changes are made in the workspace first. `discard`: they are lost. */
  async endWorktree(thread: string, changes: 'apply' | 'discard'): Promise<void> {
    await this.#ok(`${threadPath(thread)}/worktree?changes=${changes}`, 'DELETE')
  }

  async deleteThread(thread: string): Promise<void> {
    await this.#json(threadPath(thread), 'DELETE')
  }

  /** Returns the threads of subagents that a thread has started. */
  async children(thread: string): Promise<readonly ThreadSummary[]> {
    return (await this.#json<ThreadList>(`${threadPath(thread)}/children`)).threads
  }

  messages(
    thread: string,
    query: { readonly before?: number; readonly limit?: number } = {},
  ): Promise<StoredMessagePage> {
    const given = Object.entries(query).map(([name, value]): [string, string] => [name, String(value)])
    return this.#json(`${threadPath(thread)}/messages?${new URLSearchParams(given)}`)
  }

  /** Returns a content that is kept apart from its message because it is large. */
  async blob(thread: string, messageId: string, hash: string): Promise<Uint8Array> {
    const path = `${threadPath(thread)}/blobs/${hash}?message=${encodeURIComponent(messageId)}`
    return new Uint8Array(await (await this.#ok(path)).arrayBuffer())
  }

  modes(): Promise<{ readonly default: string; readonly modes: readonly ModeInfo[] }> {
    return this.#json('/v1/modes')
  }

  async models(): Promise<readonly JsonObject[]> {
    return (await this.#json<{ models: readonly JsonObject[] }>('/v1/models')).models
  }

  async agents(): Promise<readonly JsonObject[]> {
    return (await this.#json<{ agents: readonly JsonObject[] }>('/v1/agents')).agents
  }

  async folders(): Promise<readonly string[]> {
    return (await this.#json<{ folders: readonly string[] }>('/v1/folders')).folders
  }

  /** Returns whether threads may work in git worktrees of their own. */
  async offersWorktrees(): Promise<boolean> {
    return (await this.#json<{ worktrees?: boolean }>('/v1/folders')).worktrees === true
  }

  /** Returns the files that a thread changed, with their contents before and after. */
  async changedFiles(thread: string): Promise<readonly ThreadFileChange[]> {
    return (await this.#json<{ files: readonly ThreadFileChange[] }>(`${threadPath(thread)}/files`)).files
  }

  /** Returns the file that a waiting call would change, as it is now; `null` if there is none, undefined if unknown. */
  async askedFile(thread: string, wait: string): Promise<string | null | undefined> {
    const path = `${threadPath(thread)}/waits/${encodeURIComponent(wait)}/file`
    return (await this.#json<{ before?: string | null }>(path)).before
  }

  /** Returns how far the memory of a thread is; `null` without a memory. */
  async memory(thread: string): Promise<MemoryProgress | null> {
    return (await this.#json<{ memory: MemoryProgress | null }>(`${threadPath(thread)}/memory`)).memory
  }

  /** Returns what is allowed beyond the rules. `revoke` takes it back, with the scope `resource` for the project. */
  grants(thread: string): Promise<ThreadGrants> {
    return this.#json(`${threadPath(thread)}/grants`)
  }

  /** Returns the limits of a thread, those it waits for, and what it has used. */
  limits(thread: string): Promise<ThreadLimits> {
    return this.#json(`${threadPath(thread)}/limits`)
  }

  /** Returns the sessions that coding agents have in the folders of the server; `resume` continues one. */
  async sessions(folder?: string): Promise<readonly NativeSession[]> {
    const query = folder === undefined ? '' : `?folder=${encodeURIComponent(folder)}`
    return (await this.#json<{ sessions: readonly NativeSession[] }>(`/v1/sessions${query}`)).sessions
  }

  /** Returns the thread that continues a session of a coding agent. Its history is imported on first use. */
  async importSession(session: string): Promise<string> {
    const path = `/v1/sessions/${encodeURIComponent(session)}/thread`
    return (await this.#json<{ thread: string }>(path, 'POST', {})).thread
  }

  /** Returns the tokens of the server: its owner's and those of paired devices. */
  async tokens(): Promise<readonly TokenSummary[]> {
    return (await this.#json<{ tokens: readonly TokenSummary[] }>('/v1/tokens')).tokens
  }

  /** Revokes a token and ends the connections that use it. */
  async revokeToken(id: string): Promise<void> {
    await this.#ok(`/v1/tokens/${encodeURIComponent(id)}`, 'DELETE')
  }

  /** Returns a one-time code that pairs another device. */
  pairingCode(role: TokenSummary['role'] = 'drive'): Promise<{ readonly code: string; readonly expiresAt: number }> {
    return this.#json('/v1/pair/codes', 'POST', { role })
  }

  /** Returns why the server refuses this client; `undefined` if it does not, or cannot be reached. */
  async refusal(): Promise<string | undefined> {
    // A server behind a broken line never answers, and the client has to go on trying.
    const late = Promise.withResolvers<undefined>()
    const timer = setTimeout(() => late.resolve(undefined), REFUSAL_MS)
    try {
      return await Promise.race([this.#askRefusal(), late.promise])
    } catch {
      return undefined
    } finally {
      clearTimeout(timer)
    }
  }

  async #askRefusal(): Promise<string | undefined> {
    const response = await this.#transport.request('/v1/limits')
    if (FINAL.has(response.status)) return messageOf(response)
    await response.body?.cancel()
    return undefined
  }

  async #json<T>(path: string, method?: string, body?: unknown): Promise<T> {
    return (await (await this.#ok(path, method, body)).json()) as T
  }

  async #ok(path: string, method?: string, body?: unknown): Promise<Response> {
    const response = await this.#transport.request(path, {
      ...(method === undefined ? {} : { method }),
      ...(body === undefined ? {} : { body }),
    })
    if (response.ok) return response
    throw new InspanError(response.status === 404 ? 'not-found' : 'misuse', await messageOf(response), {
      details: { status: response.status },
    })
  }
}

function threadPath(thread: string): string {
  return `/v1/threads/${encodeURIComponent(thread)}`
}

async function messageOf(response: Response): Promise<string> {
  try {
    const { error } = (await response.json()) as { error?: { message?: string } }
    return error?.message ?? `The server answered ${response.status}.`
  } catch {
    return `The server answered ${response.status}.`
  }
}
