/**
 * The names of providers in version 1.45.0 of `@opentelemetry/semantic-conventions`, where they differ from those of
 * their packages.
 */
export const WELL_KNOWN: { readonly [provider: string]: string } = {
  'amazon-bedrock': 'aws.bedrock',
  bedrock: 'aws.bedrock',
  azure: 'azure.ai.openai',
  'azure-openai': 'azure.ai.openai',
  google: 'gcp.gemini',
  'google-vertex': 'gcp.vertex_ai',
  vertex: 'gcp.vertex_ai',
  mistral: 'mistral_ai',
  xai: 'x_ai',
}

/** Returns the name of a provider in traces; its own name if the conventions have none. */
export function providerName(provider: string): string {
  return Object.hasOwn(WELL_KNOWN, provider) ? (WELL_KNOWN[provider] ?? provider) : provider
}
