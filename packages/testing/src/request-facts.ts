import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { isRecord } from './checks.ts'

type Api = 'anthropic' | 'responses' | 'chat' | 'model'

/** What a script needs to know about a request, whatever its format. */
export interface RequestFacts {
  readonly api: Api
  readonly model: string
  /** System prompt, instructions, developer messages. */
  readonly system: string
  /** The user messages before the model's first answer. */
  readonly opening: string
  readonly lastUser: string
  readonly hasTools: boolean
  readonly maxTokens: number | undefined
  readonly messages: readonly unknown[]
}

interface RequestMessage {
  readonly role: 'system' | 'user' | 'other'
  readonly text: string
}

export function factsOfAnthropic(body: Record<string, unknown>): RequestFacts {
  const messages = list(body['messages'])
  return facts('anthropic', body, messages, messages.map(readMessage), {
    system: textOf(body['system']),
    hasTools: list(body['tools']).length > 0,
    maxTokens: body['max_tokens'],
  })
}

export function factsOfChat(body: Record<string, unknown>): RequestFacts {
  const messages = list(body['messages'])
  return facts('chat', body, messages, messages.map(readMessage), {
    system: '',
    hasTools: list(body['tools']).length > 0,
    maxTokens: body['max_completion_tokens'] ?? body['max_tokens'],
  })
}

export function factsOfResponses(body: Record<string, unknown>): RequestFacts {
  const input = typeof body['input'] === 'string' ? [{ role: 'user', content: body['input'] }] : list(body['input'])
  // Codex in code mode sends its tools as an input item instead of the tools array.
  const toolItems = input.filter((item) => isRecord(item) && item['type'] === 'additional_tools')
  return facts('responses', body, input, input.filter((item) => !toolItems.includes(item)).map(readMessage), {
    system: textOf(body['instructions']),
    hasTools: list(body['tools']).length > 0 || toolItems.length > 0,
    maxTokens: body['max_output_tokens'],
  })
}

export function factsOfModelCall(options: LanguageModelV4CallOptions, modelId: string): RequestFacts {
  return facts('model', { model: modelId }, options.prompt, options.prompt.map(readMessage), {
    system: '',
    hasTools: (options.tools?.length ?? 0) > 0,
    maxTokens: options.maxOutputTokens,
  })
}

function facts(
  api: Api,
  body: Record<string, unknown>,
  raw: readonly unknown[],
  messages: readonly RequestMessage[],
  rest: { system: string; hasTools: boolean; maxTokens: unknown },
): RequestFacts {
  const firstAnswer = messages.findIndex((message) => message.role === 'other')
  const beforeAnswer = firstAnswer === -1 ? messages : messages.slice(0, firstAnswer)
  const system = messages.filter((message) => message.role === 'system').map((message) => message.text)
  const opening = beforeAnswer.filter((message) => message.role === 'user').map((message) => message.text)
  return {
    api,
    model: typeof body['model'] === 'string' ? body['model'] : '',
    system: [rest.system, ...system].filter((text) => text !== '').join('\n'),
    opening: opening.join('\n'),
    lastUser: messages.findLast((message) => message.role === 'user' && message.text !== '')?.text ?? '',
    hasTools: rest.hasTools,
    maxTokens: typeof rest.maxTokens === 'number' ? rest.maxTokens : undefined,
    messages: raw,
  }
}

function readMessage(message: unknown): RequestMessage {
  if (!isRecord(message)) return { role: 'other', text: '' }
  const text = textOf(message['content'])
  if (message['role'] === 'system' || message['role'] === 'developer') return { role: 'system', text }
  return { role: message['role'] === 'user' ? 'user' : 'other', text }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return list(content)
    .map((part) => (isRecord(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .filter((text) => text !== '')
    .join('\n')
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
