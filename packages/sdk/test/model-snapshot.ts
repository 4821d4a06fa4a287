/** Writes `src/models/snapshot.ts` from the price list: `node packages/sdk/test/model-snapshot.ts`. */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findProvider } from '@pydantic/genai-prices'

/** Our names of providers, and those of the list. */
const PROVIDERS = { anthropic: 'anthropic', openai: 'openai', google: 'google', xai: 'x-ai', mistral: 'mistral' }

/** Models that do not chat. */
const NO_CHAT = /embed|tts|whisper|transcribe|realtime|audio|image|moderation|live|omni|computer-use|instruct|:|^ft/

/** The text of the snapshot. */
export function modelSnapshot(): string {
  const lines = Object.entries(PROVIDERS).flatMap(([provider, pricedAs]) => {
    const models = findProvider({ providerId: pricedAs })?.models ?? []
    const chatting = models.filter(({ id, context_window: window }) => window !== undefined && !NO_CHAT.test(id))
    const own = chatting.filter(({ id }) => provider !== 'google' || !id.startsWith('claude'))
    return own.map(({ id, context_window: window }) => `  '${provider}/${id}': ${numeral(window ?? 0)},`)
  })
  return [
    '/** Written by `test/model-snapshot.ts`: context windows in tokens, by model. */',
    'export const CONTEXT_WINDOWS: Readonly<Record<string, number>> = {',
    ...lines,
    '}',
    '',
  ].join('\n')
}

function numeral(value: number): string {
  return value < 10_000 ? String(value) : value.toLocaleString('en-US').replaceAll(',', '_')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(fileURLToPath(new URL('../src/models/snapshot.ts', import.meta.url)), modelSnapshot())
}
