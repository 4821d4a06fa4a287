import { InspanError } from '@inspan/protocol'
import type { LanguageModel } from './language-model.ts'

/** A model, or its name as `provider/model`. */
export type ModelInput = LanguageModel | string

export type ResolveModel = (modelId: string) => LanguageModel | Promise<LanguageModel>

export async function resolveModel(model: ModelInput, resolve?: ResolveModel): Promise<LanguageModel> {
  if (typeof model !== 'string') return model
  return resolve === undefined ? fromProviderPackage(model) : resolve(model)
}

/** Makes a model with its provider's package, which the user installs and which is loaded at the first use. */
async function fromProviderPackage(modelId: string): Promise<LanguageModel> {
  const slash = modelId.indexOf('/')
  const provider = modelId.slice(0, slash)
  if (slash < 1 || !/^[a-z0-9-]+$/.test(provider)) {
    throw new InspanError('invalid-input', `"${modelId}" is not a model name.`, {
      hint: 'Write it as provider/model, or give `resolveModel`.',
    })
  }
  const name = `@ai-sdk/${provider}`
  let loaded: { readonly [name: string]: unknown }
  try {
    loaded = (await import(name)) as typeof loaded
  } catch (error) {
    throw new InspanError('not-found', `The package ${name} for the model "${modelId}" cannot be loaded.`, {
      hint: `Install it (npm install ${name}), or give \`resolveModel\`.`,
      cause: error,
    })
  }
  const make = loaded[camelCase(provider)]
  if (typeof make === 'function') return (make as (id: string) => LanguageModel)(modelId.slice(slash + 1))
  throw new InspanError(
    'unsupported',
    `The package ${name} does not export a provider named "${camelCase(provider)}".`,
    {
      hint: 'Give the model itself, or `resolveModel`.',
    },
  )
}

function camelCase(name: string): string {
  return name.replace(/-([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())
}
