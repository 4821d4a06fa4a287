import type { Model, ModelName } from '@inspan/protocol/chat'
import { AgentSDKError } from '../errors.ts'
import { MODELS } from './snapshot.ts'

const MB = 1024 * 1024

/** What is assumed where the catalogue knows nothing of a model or of the files it takes: what nearly all take today. */
export const DEFAULT_MODEL_LIMITS: Readonly<Pick<Model, 'contextWindow' | 'supportedFormats'>> = Object.freeze({
  contextWindow: 128_000,
  supportedFormats: {
    formats: [
      { mimeType: 'image/png', maxBytes: 5 * MB },
      { mimeType: 'image/jpeg', maxBytes: 5 * MB },
      { mimeType: 'application/pdf', maxBytes: 32 * MB },
    ],
    maxFiles: 20,
  },
})

/** Names of models in other systems, and the model they mean. */
const ALIASES: Readonly<Record<string, ModelName>> = {
  llmgateway__OpenAIGPT5: 'openai/gpt-5',
  llmgateway__OpenAIGPT5Mini: 'openai/gpt-5-mini',
  sfdc_ai__DefaultGPT5: 'openai/gpt-5',
  llmgateway__BedrockAnthropicClaude45Sonnet: 'anthropic/claude-sonnet-4-5',
  llmgateway__BedrockAnthropicClaude45Opus: 'anthropic/claude-opus-4-5',
  llmgateway__BedrockAnthropicClaude45Haiku: 'anthropic/claude-haiku-4-5',
}

const DEFAULT_MODEL: ModelName = 'anthropic/claude-sonnet-4-5'

/** The models of the catalogue. */
export const Models = {
  /** The model of an agent that names none. */
  getDefault(): Model {
    return Models.getByName(DEFAULT_MODEL)
  },

  /** Throws for a name that is not in the catalogue. */
  getByName(name: ModelName): Model {
    const id = ALIASES[name] ?? name
    const limits = Object.hasOwn(MODELS, id) ? MODELS[id] : undefined
    if (limits === undefined) {
      throw new AgentSDKError('MODEL_NOT_SUPPORTED', `The catalogue has no model "${name}".`, {
        hint: 'Pass a model made with defineModel().',
      })
    }
    return { id, ...split(id), ...DEFAULT_MODEL_LIMITS, ...limits }
  },

  /** The names of all models, without the aliases. */
  names(): ModelName[] {
    return Object.keys(MODELS)
  },
}

/** Returns the model that a config means. A `provider/model` that the catalogue does not know gets the defaults. */
export function selectModel(selected: ModelName | Model | undefined): Model {
  if (selected === undefined) return Models.getDefault()
  if (typeof selected !== 'string') return defineModel(selected)
  const id = ALIASES[selected] ?? selected
  if (Object.hasOwn(MODELS, id) || !/^[a-z0-9-]+\/./.test(id)) return Models.getByName(selected)
  return { id, ...split(id), ...DEFAULT_MODEL_LIMITS }
}

/** Returns the context window of a model that is asked by this name, for an agent that has the other one. */
export function windowOf(name: string, own: Model): number {
  if (name === own.id || name === own.nativeId) return own.contextWindow
  return MODELS[name]?.contextWindow ?? own.contextWindow
}

/** What has to be given for a model that the catalogue does not know. */
export type ModelDefinition = Pick<Model, 'id'> & Partial<Model>

/** Describes a model. What is left out is read from its id or set to `DEFAULT_MODEL_LIMITS`. */
export function defineModel(given: ModelDefinition): Model {
  if (typeof given !== 'object' || given === null || typeof given.id !== 'string' || given.id === '') {
    throw new AgentSDKError('MODEL_NOT_SUPPORTED', 'A model needs an id.', { hint: 'Write it as provider/model.' })
  }
  const model = { ...split(given.id), ...DEFAULT_MODEL_LIMITS, ...given }
  if (!Number.isInteger(model.contextWindow) || model.contextWindow < 1) {
    throw new AgentSDKError('MODEL_NOT_SUPPORTED', `The context window of ${model.id} is ${model.contextWindow}.`)
  }
  return model
}

/** Describes a model of the Claude family. What is not overridden is that of the family. */
export function createClaudeModel(id: ModelName, overrides: Partial<Omit<Model, 'id'>> = {}): Model {
  const family = Models.getByName(DEFAULT_MODEL)
  const { nativeId } = split(id)
  return defineModel({ ...family, nativeId, ...overrides, id })
}

function split(id: ModelName): { readonly provider: string; readonly nativeId: string } {
  const slash = id.indexOf('/')
  return slash < 0 ? { provider: '', nativeId: id } : { provider: id.slice(0, slash), nativeId: id.slice(slash + 1) }
}
