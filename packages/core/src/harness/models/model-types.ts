import type { LanguageModel } from '@evener/agent'

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
  /** For people, where the gateway says it: `provider` in its own spelling. */
  readonly providerName?: string
  /** Through whom it is reached, by name, when that is a gateway. */
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
  /** For people: beside its models. */
  readonly name: string
  readonly models: readonly string[]
  readonly apiKeyEnvVar: string | readonly string[]
  /** Gateways of others say these as well; how a model is reached is the gateway's own affair. */
  readonly url?: string
  readonly gateway?: string
}

/** Somebody through whom models of others are reached. */
export interface ModelGateway {
  /** Stands before the ids of what it offers, unless the provider's id begins with it already. */
  readonly id: string
  /** For people: beside its models, and in what is told of its failures. Its id when absent. */
  readonly name?: string
  shouldEnable?(): boolean
  /** Takes ids that do not begin with its own. */
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
