import type { ModelConnectivityInfo } from '@inspan/protocol/chat'
import type { LanguageModel } from '@inspan/core'
import { AgentSDKError } from '../errors.ts'

type MakeProvider = (settings: object) => (modelId: string) => LanguageModel

/** Makes a model with the package of its provider, which the user installs and which is loaded at the first use. */
export async function loadModel(
  connectivity: ModelConnectivityInfo,
  request: typeof fetch = fetch,
): Promise<LanguageModel> {
  const { baseUrl, model } = connectivity
  const { id, nativeId, provider } = model
  if (!/^[a-z0-9-]+$/.test(provider)) {
    throw new AgentSDKError('MODEL_NOT_SUPPORTED', `The model "${id}" names no provider.`, {
      hint: 'Write it as provider/model.',
    })
  }
  const name = `@ai-sdk/${provider}`
  let loaded: Readonly<Record<string, unknown>>
  try {
    loaded = (await import(name)) as typeof loaded
  } catch (error) {
    throw new AgentSDKError('MODEL_NOT_SUPPORTED', `The package ${name} for the model "${id}" cannot be loaded.`, {
      hint: `Install it (npm install ${name}), or give the factory a model.`,
      cause: error,
    })
  }
  const wanted = `create${provider.replaceAll('-', '')}`.toLowerCase()
  const make = Object.entries(loaded).find(([key]) => key.toLowerCase() === wanted)?.[1]
  if (typeof make !== 'function') {
    throw new AgentSDKError('MODEL_NOT_SUPPORTED', `The package ${name} makes no models.`)
  }
  const provide = (make as MakeProvider)({
    ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
    // Replaced by the headers, which are asked for at every request, so that a token can be renewed.
    apiKey: 'set-by-headers',
    fetch: async (address: string | URL | Request, init: RequestInit = {}) => {
      const merged = new Headers(init.headers)
      for (const [header, value] of Object.entries(await connectivity.headers())) merged.set(header, value)
      return request(address, { ...init, headers: merged })
    },
  })
  return provide(nativeId)
}
