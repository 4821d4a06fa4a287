import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { jsonSchema } from 'ai'
import type { LanguageModel, ToolSet } from 'ai'
import type { Provider } from '../src/index.ts'

export type FormatName = 'anthropic' | 'responses' | 'chat'

export const formats: readonly FormatName[] = ['anthropic', 'responses', 'chat']

/** The real provider package for a format, talking to our server. */
export function clientOf(format: FormatName, provider: Provider): LanguageModel {
  const settings = { baseURL: `${provider.url}/v1`, apiKey: 'test-key' }
  if (format === 'anthropic') return createAnthropic(settings)('claude-sonnet-4-5')
  const openai = createOpenAI(settings)
  return format === 'responses' ? openai.responses('gpt-5') : openai.chat('gpt-4o')
}

export const tools: ToolSet = {
  read_file: {
    description: 'Reads a file',
    inputSchema: jsonSchema({ type: 'object', properties: { path: { type: 'string' } } }),
  },
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

/** A small request of each format as a client would post it. */
export function requestBody(format: FormatName, user: string, extra: Record<string, unknown> = {}): string {
  const messages = [{ role: 'user', content: user }]
  if (format === 'anthropic') return JSON.stringify({ model: 'm', max_tokens: 100, messages, ...extra })
  if (format === 'chat') return JSON.stringify({ model: 'm', messages, ...extra })
  return JSON.stringify({ model: 'm', input: messages, ...extra })
}

export const paths: Readonly<Record<FormatName, string>> = {
  anthropic: '/v1/messages',
  responses: '/v1/responses',
  chat: '/v1/chat/completions',
}

export function post(provider: Provider, path: string, body: string, headers = {}): Promise<Response> {
  return fetch(provider.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
}
