import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { AgentConnectivity, AgentConnectivityResolver, ConnectivityRequest, Model } from '@inspan/protocol/chat'
import { AgentSDKError, throwIfAborted } from '../errors.ts'
import { selectModel } from '../models/models.ts'
import { authHeaders, keyOf, type KeyEnvironment } from './provider-keys.ts'

/** Credentials under a name, as `config.json` has them in `profiles`. */
interface Profile {
  readonly apiKey?: string
  readonly apiKeyEnv?: string
  readonly baseUrl?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface EnvResolverOptions {
  /** Default: `process.env`. */
  readonly env?: KeyEnvironment
  /** The folder that has `.inspan/config.json` for all projects. Default: the user's home. */
  readonly home?: string
}

/**
 * Takes keys and addresses from the environment (`OPENAI_API_KEY`, `OPENAI_BASE_URL`, …), or from a named profile: that
 * of the agent, `INSPAN_PROFILE`, or the `profile` of the project's or user's `.inspan/config.json`, in this order.
 */
export class EnvConnectivityResolver implements AgentConnectivityResolver {
  readonly #env: KeyEnvironment
  readonly #home: string

  constructor(options: EnvResolverOptions = {}) {
    this.#env = options.env ?? process.env
    this.#home = options.home ?? homedir()
  }

  async resolve({ abortSignal, config, projectRoot }: ConnectivityRequest): Promise<AgentConnectivity> {
    throwIfAborted(abortSignal)
    const model = selectModel(config.modelId)
    const files = [join(projectRoot, '.inspan', 'config.json'), join(this.#home, '.inspan', 'config.json')]
    const settings = await Promise.all(files.map(readSettings))
    const wanted = config.profile ?? config.orgAlias ?? this.#env['INSPAN_PROFILE']
    const name = wanted ?? settings.find(({ profile }) => profile !== undefined)?.profile
    const chosen = config.modelId === undefined ? ({ isDefault: true } as const) : {}
    if (name === undefined) return { model: { ...this.#connection(model, {}), ...chosen } }
    const profile = settings.find(({ profiles = {} }) => Object.hasOwn(profiles, name))?.profiles?.[name]
    if (profile === undefined) {
      throw new AgentSDKError('CONNECTIVITY_FAILED', `There is no profile "${name}".`, {
        hint: `Add it to "profiles" in ${files.join(' or ')}.`,
      })
    }
    return { model: { ...this.#connection(model, profile), ...chosen }, orgConnection: { profile: name } }
  }

  #connection(model: Model, { apiKey, apiKeyEnv, baseUrl, headers }: Profile): AgentConnectivity['model'] {
    const address = baseUrl ?? this.#env[`${model.provider.toUpperCase().replaceAll('-', '_')}_BASE_URL`]
    return {
      model,
      ...(address === undefined ? {} : { baseUrl: address }),
      headers: async () => {
        const key = apiKey ?? (apiKeyEnv === undefined ? keyOf(model.provider, this.#env) : this.#env[apiKeyEnv])
        return { ...authHeaders(model.provider, key), ...headers }
      },
    }
  }
}

interface Settings {
  readonly profile?: string
  readonly profiles?: Readonly<Record<string, Profile>>
}

async function readSettings(path: string): Promise<Settings> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch {
    return {}
  }
  try {
    return JSON.parse(text) as Settings
  } catch (error) {
    throw new AgentSDKError('CONNECTIVITY_FAILED', `${path} is not JSON.`, { cause: error })
  }
}
