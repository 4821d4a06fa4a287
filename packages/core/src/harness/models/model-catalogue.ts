import type { LanguageModel } from '@inspan/agent'
import { KNOWN_PROVIDERS, knownProvider, splitModelId } from './known-providers.ts'
import type { HarnessConfig } from '../harness-config.ts'
import type { AvailableModel, GatewayProvider, ModelAuthStatus, ModelGateway } from './model-types.ts'
import { listedModels, priceOf } from './price-list.ts'

type FromConfig =
  | 'resolveModel'
  | 'modelAuthChecker'
  | 'modelUseCountProvider'
  | 'modelUseCountTracker'
  | 'customModelCatalogProvider'
  | 'gateways'

export interface ModelCatalogueOptions extends Pick<HarnessConfig, FromConfig> {
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Called when a source of models failed. It is left out until the catalogue is read again. */
  readonly onFailure?: (error: Error) => void
}

type CatalogueEntry = Omit<AvailableModel, 'useCount' | 'hasApiKey'> & {
  /** What the source itself says. When absent, the checker and the environment are asked. */
  readonly hasApiKey?: boolean
  readonly envVars: readonly string[]
}

const CACHE_MS = 10_000

/** Knows which models there are, whether they can be used, and what they cost. */
export class ModelCatalogue {
  readonly #options: ModelCatalogueOptions
  #cached: { readonly entries: Promise<readonly CatalogueEntry[]>; readonly at: number } | undefined

  constructor(options: ModelCatalogueOptions = {}) {
    this.#options = options
  }

  /** Returns the models, most used first. Keys and counts are read anew each time, models every ten seconds at most. */
  async list(): Promise<readonly AvailableModel[]> {
    const [entries, counts] = await Promise.all([this.#entries(), this.#useCounts()])
    const known = new Map<string, Promise<boolean>>()
    const hasKey = (entry: CatalogueEntry): Promise<boolean> => {
      const who = JSON.stringify([this.#gatewayOf(entry.id)?.id, entry.provider])
      const asked = known.get(who) ?? this.#hasKey(entry)
      known.set(who, asked)
      return asked
    }
    const models = await Promise.all(
      entries.map(async (entry): Promise<AvailableModel> => {
        const { envVars: _envVars, hasApiKey, ...shown } = entry
        return { ...shown, hasApiKey: hasApiKey ?? (await hasKey(entry)), useCount: counts[entry.id] ?? 0 }
      }),
    )
    return models.sort((a, b) => b.useCount - a.useCount || (a.id < b.id ? -1 : 1))
  }

  invalidate(): void {
    this.#cached = undefined
  }

  /** Returns whether there is a key for the model's provider. Without a model nothing is missing. */
  async authStatus(modelId: string): Promise<ModelAuthStatus> {
    if (modelId === '') return { hasAuth: true }
    const entry = (await this.#entries()).find(({ id }) => id === modelId)
    const { provider } = entry ?? splitModelId(modelId)
    const envVars = entry?.envVars ?? knownProvider(provider)?.envVars ?? []
    const hasAuth = entry?.hasApiKey ?? (await this.#hasKey({ id: modelId, provider, envVars }))
    const apiKeyEnvVar = entry?.apiKeyEnvVar ?? envVars[0]
    return { hasAuth, ...(apiKeyEnvVar === undefined ? {} : { apiKeyEnvVar }) }
  }

  async contextWindowOf(modelId: string): Promise<number | undefined> {
    return (await this.#entries()).find(({ id }) => id === modelId)?.contextWindow
  }

  priceOf(...args: Parameters<typeof priceOf>): Promise<number | undefined> {
    return priceOf(...args)
  }

  async noteUse(modelId: string): Promise<void> {
    await this.#options.modelUseCountTracker?.(modelId)
  }

  /**
   * Returns the model from `resolveModel` or a gateway; `undefined` leaves the id to the agent, which knows the usual
   * providers.
   */
  async resolve(modelId: string): Promise<LanguageModel | undefined> {
    const own = await this.#options.resolveModel?.(modelId)
    if (own !== undefined) return own
    const gateway = this.#gatewayOf(modelId)
    if (gateway?.resolveLanguageModel === undefined) return undefined
    const bare = modelId.startsWith(`${gateway.id}/`) ? modelId.slice(gateway.id.length + 1) : modelId
    const { provider, modelName } = splitModelId(bare)
    const apiKey = (await gateway.getApiKey?.(modelId)) ?? ''
    return gateway.resolveLanguageModel({ modelId: modelName, providerId: provider, apiKey })
  }

  #entries(): Promise<readonly CatalogueEntry[]> {
    if (this.#cached === undefined || Date.now() - this.#cached.at > CACHE_MS) {
      this.#cached = { entries: this.#read(), at: Date.now() }
    }
    return this.#cached.entries
  }

  /** Later sources override earlier ones: the user's own come last. */
  async #read(): Promise<readonly CatalogueEntry[]> {
    const sources = await Promise.all([
      this.#attempt(() => listedEntries()),
      ...this.#enabledGateways().map((gateway) => this.#attempt(() => gatewayEntries(gateway))),
      this.#attempt(() => this.#customEntries()),
    ])
    return [...new Map(sources.flat().map((entry) => [entry.id, entry])).values()]
  }

  async #customEntries(): Promise<readonly CatalogueEntry[]> {
    const models = (await this.#options.customModelCatalogProvider?.()) ?? []
    return models.map((model) => {
      const { provider, modelName } = splitModelId(model.id)
      return {
        provider,
        modelName,
        ...model,
        envVars: model.apiKeyEnvVar === undefined ? (knownProvider(provider)?.envVars ?? []) : [model.apiKeyEnvVar],
      }
    })
  }

  #enabledGateways(): readonly ModelGateway[] {
    return (this.#options.gateways ?? []).filter((gateway) => gateway.shouldEnable?.() !== false)
  }

  #gatewayOf(modelId: string): ModelGateway | undefined {
    return this.#enabledGateways().find(
      (each) => modelId.startsWith(`${each.id}/`) || each.handlesModel?.(modelId) === true,
    )
  }

  /** Asks the checker, else looks for a key in the environment, else for one of the gateway. */
  async #hasKey({ envVars, id, provider }: Pick<CatalogueEntry, 'envVars' | 'id' | 'provider'>): Promise<boolean> {
    const { env = process.env, modelAuthChecker, resolveModel } = this.#options
    const said = await modelAuthChecker?.(provider)
    if (said !== undefined) return said
    if (envVars.some((name) => (env[name] ?? '') !== '')) return true
    try {
      const gateway = this.#gatewayOf(id)
      // A model that `resolveModel` makes has no key that we could look for.
      if (gateway === undefined && envVars.length === 0) return resolveModel !== undefined
      return ((await gateway?.getApiKey?.(id)) ?? '') !== ''
    } catch {
      // Gateways throw when they have no key.
      return false
    }
  }

  async #useCounts(): Promise<Readonly<Record<string, number>>> {
    return (await this.#options.modelUseCountProvider?.()) ?? {}
  }

  async #attempt(read: () => Promise<readonly CatalogueEntry[]>): Promise<readonly CatalogueEntry[]> {
    try {
      return await read()
    } catch (error) {
      this.#options.onFailure?.(error instanceof Error ? error : new Error(String(error)))
      return []
    }
  }
}

async function listedEntries(): Promise<readonly CatalogueEntry[]> {
  const lists = await Promise.all(
    KNOWN_PROVIDERS.map(async (provider) =>
      (await listedModels(provider))
        .filter(({ isDeprecated }) => !isDeprecated)
        .map(({ isDeprecated: _isDeprecated, ...facts }): CatalogueEntry => {
          const [apiKeyEnvVar] = provider.envVars
          return {
            id: `${provider.id}/${facts.modelName}`,
            provider: provider.id,
            ...facts,
            envVars: provider.envVars,
            ...(apiKeyEnvVar === undefined ? {} : { apiKeyEnvVar }),
          }
        }),
    ),
  )
  return lists.flat()
}

async function gatewayEntries(gateway: ModelGateway): Promise<readonly CatalogueEntry[]> {
  const { id, name = id } = gateway
  const providers = await offers(gateway, name)
  return Object.entries(providers).flatMap(([providerId, { apiKeyEnvVar, models, name: providerName }]) => {
    const provider = providerId === id || providerId.startsWith(`${id}/`) ? providerId : `${id}/${providerId}`
    const envVars = typeof apiKeyEnvVar === 'string' ? [apiKeyEnvVar] : apiKeyEnvVar
    const [first] = envVars
    return models.map((modelName): CatalogueEntry => ({
      id: `${provider}/${modelName}`,
      provider,
      providerName,
      modelName,
      gateway: name,
      envVars,
      ...(first === undefined ? {} : { apiKeyEnvVar: first }),
    }))
  })
}

async function offers(gateway: ModelGateway, name: string): Promise<Readonly<Record<string, GatewayProvider>>> {
  try {
    return (await gateway.fetchProviders?.()) ?? {}
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${name} cannot say which models it offers: ${why}`, { cause })
  }
}
