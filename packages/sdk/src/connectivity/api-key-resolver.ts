import type { AgentConnectivity, AgentConnectivityResolver, ConnectivityRequest } from '@inspan/protocol/chat'
import { AgentSDKError, throwIfAborted } from '../errors.ts'
import { selectModel } from '../models/models.ts'
import { authHeaders } from './provider-keys.ts'

export interface ApiKeyResolverOptions {
  /** The key, or a function that returns the current one whenever a request is sent. */
  readonly apiKey: string | (() => string | Promise<string>)
  readonly baseUrl?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Uses one key for the models of all agents. */
export class ApiKeyConnectivityResolver implements AgentConnectivityResolver {
  readonly #options: ApiKeyResolverOptions

  constructor(options: ApiKeyResolverOptions) {
    if (typeof options.apiKey !== 'function' && (typeof options.apiKey !== 'string' || options.apiKey === '')) {
      throw new AgentSDKError('INVALID_OPTIONS', 'The resolver needs an API key.')
    }
    this.#options = options
  }

  async resolve({ abortSignal, config }: ConnectivityRequest): Promise<AgentConnectivity> {
    throwIfAborted(abortSignal)
    const { apiKey, baseUrl, headers } = this.#options
    const model = selectModel(config.modelId)
    return {
      model: {
        model,
        ...(config.modelId === undefined ? { isDefault: true as const } : {}),
        ...(baseUrl === undefined ? {} : { baseUrl }),
        headers: async () => ({
          ...authHeaders(model.provider, typeof apiKey === 'function' ? await apiKey() : apiKey),
          ...headers,
        }),
      },
    }
  }
}
