/** A provider: our id, its id in the price list, and the environment variables of its key. */
export interface KnownProvider {
  readonly id: string
  readonly pricedAs: string
  readonly envVars: readonly string[]
}

const provider = (id: string, envVars: readonly string[], pricedAs: string = id): KnownProvider => ({
  id,
  pricedAs,
  envVars,
})

/** Their ids are those of the packages that call them. */
export const KNOWN_PROVIDERS: readonly KnownProvider[] = [
  provider('anthropic', ['ANTHROPIC_API_KEY']),
  provider('openai', ['OPENAI_API_KEY']),
  provider('google', ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY']),
  provider('xai', ['XAI_API_KEY'], 'x-ai'),
  provider('mistral', ['MISTRAL_API_KEY']),
  provider('groq', ['GROQ_API_KEY']),
  provider('deepseek', ['DEEPSEEK_API_KEY']),
  provider('cohere', ['COHERE_API_KEY']),
  provider('cerebras', ['CEREBRAS_API_KEY']),
  provider('perplexity', ['PERPLEXITY_API_KEY']),
  provider('moonshotai', ['MOONSHOT_API_KEY']),
  provider('zai', ['ZAI_API_KEY']),
  provider('fireworks', ['FIREWORKS_API_KEY']),
  provider('togetherai', ['TOGETHER_AI_API_KEY', 'TOGETHER_API_KEY'], 'together'),
  provider('openrouter', ['OPENROUTER_API_KEY']),
  provider('azure', ['AZURE_API_KEY']),
  provider('amazon-bedrock', ['AWS_BEARER_TOKEN_BEDROCK', 'AWS_ACCESS_KEY_ID'], 'aws'),
]

export function knownProvider(id: string): KnownProvider | undefined {
  return KNOWN_PROVIDERS.find((each) => each.id === id)
}

export function splitModelId(modelId: string): { readonly provider: string; readonly modelName: string } {
  const slash = modelId.indexOf('/')
  return slash < 0
    ? { provider: '', modelName: modelId }
    : { provider: modelId.slice(0, slash), modelName: modelId.slice(slash + 1) }
}

/** Returns the environment variables that may hold a key, by provider. */
export function knownKeyVariables(): readonly { readonly provider: string; readonly variables: readonly string[] }[] {
  return KNOWN_PROVIDERS.map(({ envVars, id }) => ({ provider: id, variables: envVars }))
}

/** Returns the environment variables that may hold the key for a model; none for a provider we do not know. */
export function keyVariablesOf(modelId: string): readonly string[] {
  return knownProvider(splitModelId(modelId).provider)?.envVars ?? []
}
