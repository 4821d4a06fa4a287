import { randomUUID } from 'node:crypto'
import { lstat, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentConfig } from '@inspan/protocol/chat'
import { AgentSDKError } from './errors.ts'

/** What is known of an agent between two starts of a program. */
export interface AgentIdentity {
  readonly agentId: string
  readonly projectRoot: string
  readonly config: AgentConfig
}

interface IdentityRecord extends AgentIdentity {
  readonly version: 1
  readonly harnessId: string
}

/** Agents by id, and what was left alone, in words for the log. */
export interface FoundIdentities {
  readonly agents: readonly AgentIdentity[]
  readonly skipped: readonly { readonly name: string; readonly reason: string }[]
}

/** Keeps agents between two starts, and decides whether one exists. */
export interface Identities {
  /** Called before a new agent is made. Fails with `AGENT_ALREADY_EXISTS` if its id is taken, by whomever. */
  reserve(identity: AgentIdentity): Promise<void>
  /** Fails with `AGENT_NOT_FOUND` if another manager has destroyed the agent. */
  write(identity: AgentIdentity): Promise<void>
  remove(agentId: string): Promise<void>
  /** Returns the agents of this harness. */
  read(): Promise<FoundIdentities>
}

const VERSION = 1
/** Names that Windows reserves for devices, whatever follows the dot. */
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

/** Throws for an id that is no plain file name on every system. */
export function checkAgentId(agentId: unknown): asserts agentId is string {
  const isSafe =
    typeof agentId === 'string' &&
    /^[A-Za-z0-9_][A-Za-z0-9._@-]{0,127}$/.test(agentId) &&
    !agentId.endsWith('.') &&
    !RESERVED.test(agentId)
  if (isSafe) return
  throw new AgentSDKError('INVALID_OPTIONS', `${JSON.stringify(agentId)} cannot be the id of an agent.`, {
    hint: 'Use 1 to 128 letters, digits, dots, dashes or underscores, starting with a letter or digit.',
  })
}

/**
 * One file per agent, `agents/<id>.json`, readable only by its owner because a config may hold credentials. The file
 * decides whether an agent exists.
 */
export class IdentityFiles implements Identities {
  readonly #folder: string
  readonly #harnessId: string

  constructor(storageRootFolder: string, harnessId: string) {
    this.#folder = join(storageRootFolder, 'agents')
    this.#harnessId = harnessId
  }

  /** The file may be that of another harness, or of an id that is the same for a file system that ignores case. */
  async reserve({ agentId }: AgentIdentity): Promise<void> {
    try {
      await lstat(this.#pathOf(agentId))
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return
      throw error
    }
    throw new AgentSDKError('AGENT_ALREADY_EXISTS', `There is a file agents/${agentId}.json already.`, {
      hint: 'It is no agent of this manager. Use another id, or remove the file.',
    })
  }

  /** Replaces the file as a whole: after a crash there is the old or the new one. */
  async write(identity: AgentIdentity): Promise<void> {
    const { agentId } = identity
    checkAgentId(agentId)
    const record = identityRecord(identity, this.#harnessId)
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const unfinished = join(this.#folder, `.${agentId}.${randomUUID()}.tmp`)
    try {
      const file = await open(unfinished, 'wx', 0o600)
      try {
        await file.writeFile(`${JSON.stringify(record, undefined, 2)}\n`)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(unfinished, this.#pathOf(agentId))
    } catch (error) {
      await rm(unfinished, { force: true })
      throw error
    }
  }

  async remove(agentId: string): Promise<void> {
    await rm(this.#pathOf(agentId), { force: true })
  }

  async read(): Promise<FoundIdentities> {
    const agents: AgentIdentity[] = []
    const skipped: FoundIdentities['skipped'][number][] = []
    for (const file of await this.#files()) {
      const name = `The file agents/${file}`
      try {
        const given: unknown = JSON.parse(await readFile(join(this.#folder, file), 'utf8'))
        const record = readIdentity(given, file.slice(0, -'.json'.length))
        if (record.harnessId === this.#harnessId) agents.push(record)
        else skipped.push({ name, reason: `it belongs to the harness "${record.harnessId}"` })
      } catch (error) {
        skipped.push({ name, reason: error instanceof Error ? error.message : String(error) })
      }
    }
    return { agents, skipped }
  }

  async #files(): Promise<string[]> {
    try {
      const entries = await readdir(this.#folder, { withFileTypes: true })
      const files = entries.filter((entry) => entry.isFile() && /^[^.].*\.json$/.test(entry.name))
      return files.map(({ name }) => name).sort()
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
      throw error
    }
  }

  #pathOf(agentId: string): string {
    return join(this.#folder, `${agentId}.json`)
  }
}

export function identityRecord({ agentId, config, projectRoot }: AgentIdentity, harnessId: string): IdentityRecord {
  return { version: VERSION, harnessId, agentId, projectRoot, config }
}

/** Checks what was kept under the id of an agent. */
export function readIdentity(given: unknown, keptAs: string): IdentityRecord {
  if (typeof given !== 'object' || given === null) throw new Error('it holds no object')
  const { version, harnessId, agentId, projectRoot, config } = given as Partial<Record<keyof IdentityRecord, unknown>>
  if (version !== VERSION) throw new Error(`its version is ${JSON.stringify(version)}`)
  if (typeof harnessId !== 'string' || typeof projectRoot !== 'string') throw new Error('fields are missing')
  if (typeof config !== 'object' || config === null) throw new Error('it has no config')
  checkAgentId(agentId)
  if (agentId !== keptAs) throw new Error(`it names another agent, "${agentId}"`)
  return { version, harnessId, agentId, projectRoot, config }
}
