/** The names that the GenAI conventions have for providers which are called otherwise by their packages. */
const WELL_KNOWN: { readonly [provider: string]: string } = {
  'amazon-bedrock': 'aws.bedrock',
  bedrock: 'aws.bedrock',
  azure: 'azure.ai.openai',
  'azure-openai': 'azure.ai.openai',
  google: 'gcp.gemini',
  'google-vertex': 'gcp.vertex_ai',
  vertex: 'gcp.vertex_ai',
  mistral: 'mistral_ai',
  moonshotai: 'moonshot_ai',
  xai: 'x_ai',
}

/** A provider as traces call it; who has no name there keeps its own. */
export function providerName(provider: string): string {
  return Object.hasOwn(WELL_KNOWN, provider) ? (WELL_KNOWN[provider] ?? provider) : provider
}
