import { stat } from 'node:fs/promises'
import { resolve as absolutePath } from 'node:path'
import {
  SUPPORTED_PROTOCOL_VERSIONS,
  type AgentConfig,
  type AgentConnectivityResolver,
  type AgentHarness,
  type AgentLogCallback,
  type ConfigOf,
  type HarnessFactory,
  type HarnessOf,
  type TelemetryEventCallback,
  type Unsubscribe,
  type WireCommunicationEvent,
  type WireCommunicationEventCallback,
} from '@inspan/protocol/chat'
import { ManagedAgent, type AgentPorts } from './agent.ts'
import { EnvConnectivityResolver } from './connectivity/env-resolver.ts'
import { EngineHarness } from './engine/engine-harness.ts'
import { AgentSDKError, disposed, throwIfAborted } from './errors.ts'
import { LogBus, ScopedBus, TelemetryBus } from './event-bus.ts'
import { checkAgentId, IdentityFiles, type AgentIdentity, type Identities } from './identity-files.ts'
import { mergeConfig } from './merge-config.ts'
import type {
  AgentHandle,
  AgentManager,
  AgentManagerOptions,
  ResolvedConnectivity,
  RestoreFailure,
} from './public-types.ts'
import { RootLock } from './root-lock.ts'

/**
 * Makes a manager over an existing folder, in which everything is kept, and restores the agents that an earlier manager
 * left there. Agents that cannot be restored do not fail it: `getRestoreFailures()` lists them.
 */
export async function createAgentManager<F extends HarnessFactory>(
  storageRootFolder: string,
  harnessFactory: F,
  options: AgentManagerOptions = {},
): Promise<AgentManager<HarnessOf<F>>> {
  checkOptions(options)
  await requireFolder(storageRootFolder, 'The storage folder')
  requireVersion(harnessFactory.protocolVersion)
  const root = absolutePath(storageRootFolder)
  const lock = await RootLock.take(root)
  let harness: AgentHarness | undefined
  try {
    harness = await harnessFactory.create(root)
    if (harness.protocolVersion !== harnessFactory.protocolVersion) {
      throw new AgentSDKError(
        'INCOMPATIBLE_HARNESS',
        `The factory announces version ${harnessFactory.protocolVersion} of the protocol, its harness ${harness.protocolVersion}.`,
      )
    }
    const manager = new HarnessAgentManager(root, harness, options, lock)
    await manager.restore()
    return manager
  } catch (error) {
    await harness?.shutdown().catch(() => undefined)
    lock.release()
    throw error
  }
}

const harnesses = new WeakMap<object, AgentHarness>()

/** Returns the harness that a manager of ours was made with. */
export function harnessOf(manager: object): AgentHarness | undefined {
  return harnesses.get(manager)
}

class HarnessAgentManager implements AgentManager {
  readonly #harness: AgentHarness
  readonly #resolver: AgentConnectivityResolver
  readonly #options: AgentManagerOptions
  readonly #identities: Identities
  readonly #lock: RootLock
  readonly #logs: LogBus
  readonly #telemetry: TelemetryBus
  readonly #wire: ScopedBus<WireCommunicationEvent>
  readonly #now: () => number
  readonly #agents = new Map<string, ManagedAgent>()
  /** Ids of agents that are being created. */
  readonly #busy = new Set<string>()
  readonly #destroying = new Map<string, Promise<void>>()
  /** Agents that are being written. */
  readonly #writes = new Set<Promise<void>>()
  readonly #failures = new Map<string, RestoreFailure>()
  readonly #ports: AgentPorts
  #stopWire: Unsubscribe | undefined
  #closing: Promise<void> | undefined

  constructor(root: string, harness: AgentHarness, options: AgentManagerOptions, lock: RootLock) {
    this.#harness = harness
    harnesses.set(this, harness)
    this.#options = options
    this.#lock = lock
    this.#resolver = options.connectivityResolver ?? new EnvConnectivityResolver()
    this.#now = options.now ?? Date.now
    const rows = harness instanceof EngineHarness ? harness.identities : undefined
    this.#identities = rows ?? new IdentityFiles(root, harness.id)
    this.#logs = new LogBus(this.#now)
    const onThrow = (error: unknown): void => this.#logs.log('error', 'A listener threw an error.', { error })
    this.#telemetry = new TelemetryBus(this.#now, onThrow)
    this.#wire = new ScopedBus(onThrow)
    harness.onLog((record) => this.#logs.emit(record))
    harness.onTelemetry((event) => this.#telemetry.emit(event))
    this.#ports = {
      harness,
      logs: this.#logs,
      telemetry: this.#telemetry,
      now: this.#now,
      resolve: (identity, abortSignal) => this.#resolve(identity, abortSignal),
      install: (identity, connectivity, how) => this.#install(identity, connectivity, how),
      persist: (identity) => this.#persist(identity),
      destroy: (agentId) => this.destroyAgent(agentId),
    }
  }

  get extensions(): unknown {
    return this.#harness.extensions
  }

  async createAgent(
    projectRoot: string,
    config: ConfigOf<AgentHarness> & { agentId?: string } = {},
    { abortSignal }: { abortSignal?: AbortSignal } = {},
  ): Promise<AgentHandle> {
    this.#assertUsable()
    throwIfAborted(abortSignal)
    const { agentId = this.#options.newId?.() ?? crypto.randomUUID(), ...given } = config
    checkAgentId(agentId)
    await requireFolder(projectRoot, 'The project folder')
    if (this.#agents.has(agentId) || this.#busy.has(agentId) || this.#destroying.has(agentId)) {
      throw new AgentSDKError('AGENT_ALREADY_EXISTS', `There is an agent "${agentId}" already.`)
    }
    const identity = { agentId, projectRoot: absolutePath(projectRoot), config: mergeConfig({}, given) }
    this.#busy.add(agentId)
    try {
      const agent = await this.#create(identity, abortSignal)
      this.#telemetry.report('agent-created', { agentId }, {})
      return agent
    } finally {
      this.#busy.delete(agentId)
    }
  }

  getAgent(agentId: string): AgentHandle {
    this.#assertUsable()
    const agent = this.#agents.get(agentId)
    if (agent === undefined) throw noAgent(agentId, this.#failures.has(agentId))
    return agent
  }

  getAgentIds(): string[] {
    this.#assertUsable()
    return [...this.#agents.keys()]
  }

  /** Two calls at once are one. */
  async destroyAgent(agentId: string): Promise<void> {
    this.#assertUsable()
    const known = this.#destroying.get(agentId)
    const destroyed = known ?? this.#destroy(agentId).finally(() => this.#destroying.delete(agentId))
    this.#destroying.set(agentId, destroyed)
    await destroyed
  }

  shutdown(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  onTelemetry(callback: TelemetryEventCallback): Unsubscribe {
    this.#assertUsable()
    return this.#telemetry.subscribe(callback)
  }

  onLog(callback: AgentLogCallback): Unsubscribe {
    this.#assertUsable()
    return this.#logs.subscribe(callback)
  }

  /** The harness captures nothing until somebody listens, and stops with the last listener. */
  onWireCommunication(callback: WireCommunicationEventCallback): Unsubscribe {
    this.#assertUsable()
    const unsubscribe = this.#wire.subscribe(callback)
    this.#stopWire ??= this.#harness.onWireCommunication?.((event) => this.#wire.emit(event))
    return () => {
      unsubscribe()
      if (this.#wire.isHeard) return
      this.#stopWire?.()
      this.#stopWire = undefined
    }
  }

  getRestoreFailures(): RestoreFailure[] {
    this.#assertUsable()
    return [...this.#failures.values()].map((failure) => ({ ...failure }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown()
  }

  /** Brings back the agents of earlier managers. Called once, before anybody has the manager. */
  async restore(): Promise<void> {
    const { agents, skipped } = await this.#identities.read()
    for (const { name, reason } of skipped) this.#logs.log('warn', `${name} was left alone: ${reason}.`, { reason })
    for (const identity of agents) {
      const { agentId, config, projectRoot } = identity
      try {
        await requireFolder(projectRoot, 'The project folder')
        await this.#start(identity, undefined)
        this.#telemetry.reportEarly('agent-restored', { agentId }, {})
      } catch (error) {
        this.#failures.set(agentId, { agentId, projectRoot, config, error })
        this.#logs.log('error', `The agent "${agentId}" could not be restored.`, { agentId, error }, { agentId })
        this.#telemetry.reportEarly('agent-restore-failed', { agentId }, failureOf(error))
      }
    }
  }

  async #destroy(agentId: string): Promise<void> {
    const agent = this.#agents.get(agentId)
    if (agent === undefined && !this.#failures.has(agentId)) throw noAgent(agentId, false)
    await Promise.allSettled(this.#writes)
    // Without its file or row there is no agent, whatever a crash leaves of it.
    await this.#identities.remove(agentId)
    if (agent !== undefined) {
      const identity = agent.identity
      try {
        await this.#harness.destroyAgent(agentId)
      } catch (error) {
        await this.#identities.reserve(identity)
        await this.#identities.write(identity)
        throw error
      }
      this.#agents.delete(agentId)
      agent.dispose()
    }
    this.#failures.delete(agentId)
    this.#telemetry.report('agent-destroyed', { agentId }, {})
  }

  /** The file is written last: until then there is no agent. A row is reserved first, since others may want the id. */
  async #create(identity: AgentIdentity, abortSignal: AbortSignal | undefined): Promise<AgentHandle> {
    if (this.#failures.has(identity.agentId)) return this.#createReserved(identity, abortSignal)
    await this.#identities.reserve(identity)
    try {
      return await this.#createReserved(identity, abortSignal)
    } catch (error) {
      await this.#identities.remove(identity.agentId)
      throw error
    }
  }

  async #createReserved(identity: AgentIdentity, abortSignal: AbortSignal | undefined): Promise<AgentHandle> {
    const { agentId } = identity
    const agent = await this.#start(identity, abortSignal)
    try {
      throwIfAborted(abortSignal)
      await this.#persist(identity)
    } catch (error) {
      this.#agents.delete(agentId)
      agent.dispose()
      await this.#harness.destroyAgent(agentId).catch(() => undefined)
      throw error
    }
    this.#failures.delete(agentId)
    return agent
  }

  /** An agent that is being destroyed is not written again: it would be back at the next start. */
  async #persist(identity: AgentIdentity): Promise<void> {
    this.#assertUsable()
    if (this.#destroying.has(identity.agentId)) throw disposed(`The agent "${identity.agentId}"`)
    const written = this.#identities.write(identity)
    this.#writes.add(written)
    try {
      await written
    } finally {
      this.#writes.delete(written)
    }
  }

  async #start(identity: AgentIdentity, abortSignal: AbortSignal | undefined): Promise<ManagedAgent> {
    const { agentId } = identity
    const connectivity = await this.#resolve(identity, abortSignal)
    await this.#install(identity, connectivity, { isUpdate: false, abortSignal })
    try {
      const agent = new ManagedAgent(this.#ports, identity, connectivity, await this.#harness.getThreadIds(agentId))
      this.#agents.set(agentId, agent)
      return agent
    } catch (error) {
      // The threads stay: whoever comes next may be able to read them.
      this.#logs.log('error', `The sessions of "${agentId}" could not be read.`, { error }, { agentId })
      throw error
    }
  }

  async #resolve(identity: AgentIdentity, abortSignal: AbortSignal | undefined): Promise<ResolvedConnectivity> {
    try {
      return await this.#resolver.resolve({ ...identity, ...(abortSignal === undefined ? {} : { abortSignal }) })
    } catch (error) {
      if (error instanceof AgentSDKError) throw error
      throw new AgentSDKError(
        'CONNECTIVITY_FAILED',
        `It could not be decided how "${identity.agentId}" reaches its model.`,
        { cause: error },
      )
    }
  }

  async #install(
    identity: AgentIdentity,
    connectivity: ResolvedConnectivity,
    { abortSignal, isUpdate }: { readonly isUpdate: boolean; readonly abortSignal: AbortSignal | undefined },
  ): Promise<void> {
    const { agentId, projectRoot } = identity
    const hooks = this.#options.hooksForAgent?.(identity)
    const options = {
      ...(abortSignal === undefined ? {} : { abortSignal }),
      ...(hooks === undefined ? {} : { hooks }),
    }
    const config = harnessConfig(identity.config)
    if (isUpdate) await this.#harness.updateAgent(agentId, connectivity.model, config, options)
    else await this.#harness.createAgent(agentId, projectRoot, connectivity.model, config, options)
  }

  async #close(): Promise<void> {
    for (const agent of this.#agents.values()) agent.dispose()
    this.#agents.clear()
    try {
      await Promise.allSettled(this.#writes)
      await this.#harness.shutdown()
    } finally {
      this.#stopWire?.()
      this.#logs.clear()
      this.#telemetry.clear()
      this.#wire.clear()
      this.#lock.release()
    }
  }

  #assertUsable(): void {
    if (this.#closing !== undefined) throw disposed('The manager')
  }
}

/** The harness gets how to reach the model, not where to look it up. */
function harnessConfig(config: AgentConfig): Omit<AgentConfig, 'profile' | 'orgAlias' | 'modelId'> {
  const { modelId: _modelId, orgAlias: _orgAlias, profile: _profile, ...rest } = config
  return rest
}

async function requireFolder(path: string, what: string): Promise<void> {
  const found = typeof path === 'string' && path !== '' ? await stat(path).catch(() => undefined) : undefined
  if (found?.isDirectory() === true) return
  const state = found === undefined ? 'does not exist' : 'is not a folder'
  throw new AgentSDKError('INVALID_OPTIONS', `${what} ${JSON.stringify(path)} ${state}.`)
}

function requireVersion(version: number): void {
  const supported: readonly number[] = SUPPORTED_PROTOCOL_VERSIONS
  if (supported.includes(version)) return
  throw new AgentSDKError('INCOMPATIBLE_HARNESS', `Version ${String(version)} of the protocol is not supported.`, {
    hint: `Supported: ${supported.join(', ')}.`,
  })
}

function checkOptions(options: AgentManagerOptions): void {
  if (typeof options !== 'object' || options === null || 'resolve' in options) {
    throw new AgentSDKError('INVALID_OPTIONS', 'The third argument has to be an object of options.', {
      hint: 'Pass a resolver as { connectivityResolver }.',
    })
  }
}

function noAgent(agentId: string, isFailed: boolean): AgentSDKError {
  const hint = { hint: 'It could not be restored: see getRestoreFailures().' }
  return new AgentSDKError('AGENT_NOT_FOUND', `There is no agent "${agentId}".`, isFailed ? hint : {})
}

function failureOf(error: unknown): { readonly errorName: string; readonly errorCode?: string } {
  if (!(error instanceof Error)) return { errorName: 'Error' }
  return { errorName: error.name, ...(error instanceof AgentSDKError ? { errorCode: error.type } : {}) }
}
