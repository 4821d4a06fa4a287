export type KeyEnvironment = Readonly<Record<string, string | undefined>>

/** The environment variables of a provider's key, besides `PROVIDER_API_KEY`. */
const KEYS: ReadonlyMap<string, readonly string[]> = new Map([
  ['google', ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY']],
])

export function keyOf(provider: string, env: KeyEnvironment): string | undefined {
  const names = [`${provider.toUpperCase().replaceAll('-', '_')}_API_KEY`, ...(KEYS.get(provider) ?? [])]
  return names.map((name) => env[name]).find((key) => key !== undefined && key !== '')
}

/** Returns the headers by which a provider knows the caller. */
export function authHeaders(provider: string, key: string | undefined): Record<string, string> {
  if (key === undefined) return {}
  if (provider === 'anthropic') return { 'x-api-key': key }
  if (provider === 'google') return { 'x-goog-api-key': key }
  return { authorization: `Bearer ${key}` }
}
