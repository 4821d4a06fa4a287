import type { LanguageModel } from '@inspan/agent'

/** US dollars for a million tokens. */
export interface ModelPrice {
  readonly input?: number
  readonly output?: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
}

export interface AvailableModel {
  /** `provider/model`. */
  readonly id: string
  readonly provider: string
  readonly modelName: string
  /** The provider's display name, where a gateway gives one. */
  readonly providerName?: string
  /** The name of the gateway through which the model is reached, if any. */
  readonly gateway?: string
  readonly hasApiKey: boolean
  readonly apiKeyEnvVar?: string
  readonly useCount: number
  /** In tokens. */
  readonly contextWindow?: number
  readonly price?: ModelPrice
}

/** `true` or `false` says whether there is a key; `undefined` leaves it to the environment. */
export type ModelAuthChecker = (provider: string) => boolean | undefined | Promise<boolean | undefined>

/** How often each model was used, by id. */
export type ModelUseCountProvider = () => Readonly<Record<string, number>> | Promise<Readonly<Record<string, number>>>

export type ModelUseCountTracker = (modelId: string) => void | Promise<void>

export type CustomModel = Pick<AvailableModel, 'id'> & Partial<Omit<AvailableModel, 'id' | 'useCount'>>

export type CustomModelCatalogProvider = () => readonly CustomModel[] | Promise<readonly CustomModel[]>

export interface GatewayProvider {
  /** Display name, shown with its models. */
  readonly name: string
  readonly models: readonly string[]
  readonly apiKeyEnvVar: string | readonly string[]
  /** Given by other libraries' gateways; not used, since a gateway makes its models itself. */
  readonly url?: string
  readonly gateway?: string
}

/** A service through which models of other providers are reached. */
export interface ModelGateway {
  /** Prefix of the ids of its models, unless the provider's id begins with it already. */
  readonly id: string
  /** Display name, shown with its models and in its errors. Default: its id. */
  readonly name?: string
  shouldEnable?(): boolean
  /** Returns true for ids that it handles although they do not begin with its own. */
  handlesModel?(modelId: string): boolean
  fetchProviders?(): Promise<Readonly<Record<string, GatewayProvider>>>
  getApiKey?(modelId: string): Promise<string>
  resolveLanguageModel?(args: {
    readonly modelId: string
    readonly providerId: string
    readonly apiKey: string
  }): LanguageModel | Promise<LanguageModel>
}

export interface ModelAuthStatus {
  readonly hasAuth: boolean
  readonly apiKeyEnvVar?: string
}
