import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type { FilePart, ImagePart, JsonObject, Part, StoredMessage, ToolResultPart } from '@inspan/protocol'
import type { ModelOutput, ModelOutputPart } from '@inspan/protocol/driver'
import { wellFormed } from './well-formed.ts'

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number]
type UserContent = Extract<LanguageModelV4Message, { role: 'user' }>['content'][number]

/**
 * Returns the prompt: the instructions, then the conversation. It depends on the log alone, and the prompt of a
 * conversation is a prefix of the prompt of its continuation. `agentId` says which messages are the agent's own.
 */
export function toPrompt(
  instructions: string | undefined,
  messages: readonly StoredMessage[],
  agentId?: string,
): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = messages.flatMap((message) => promptMessages(message, agentId))
  return instructions === undefined ? prompt : [{ role: 'system', content: wellFormed(instructions) }, ...prompt]
}

/** Returns what a message is for the model. Depends on the message alone, so that it can be kept. */
export function promptMessages(message: StoredMessage, agentId?: string): LanguageModelV4Message[] {
  return wellFormed(asWritten(message, agentId))
}

function asWritten(message: StoredMessage, agentId?: string): LanguageModelV4Message[] {
  if (message.role === 'system') return [{ role: 'system' as const, content: plainText(message.parts) }]
  if (message.role === 'user') return userMessage(message)
  const isOwn = agentId === undefined || message.by === undefined || message.by === agentId
  return isOwn ? agentMessages(message) : othersMessage(message)
}

function userMessage(message: StoredMessage): LanguageModelV4Message[] {
  const content = message.parts.flatMap((part): UserContent[] => {
    const options = providerOptions(part)
    // E.g. beside an image: many models refuse a request with an empty text.
    if (part.type === 'text' && part.text === '') return []
    if (part.type === 'text' || part.type === 'signal') return [{ type: 'text', text: part.text, ...options }]
    return part.type === 'image' || part.type === 'file' ? [{ ...filePart(part), ...options }] : []
  })
  const options = message.meta?.['providerOptions'] as SharedV4ProviderOptions | undefined
  return content.length === 0
    ? []
    : [{ role: 'user', content, ...(options === undefined ? {} : { providerOptions: options }) }]
}

/** Returns the messages of a step: ours holds calls and results, but models want the results in a separate message. */
function agentMessages(message: StoredMessage): LanguageModelV4Message[] {
  // A failed attempt stays visible to people but leaves the model's context.
  if (message.error !== undefined) return interruptedAtProvider(message.parts)
  const cut = cutOrders(message)
  const isCut = (part: Part): boolean => 'toolCallId' in part && cut.has(part.toolCallId)
  const parts = partsToSend(message).filter((part) => !isCut(part))
  const content = parts.flatMap(agentContent)
  const results = parts.filter((part) => part.type === 'tool-result' && part.state !== 'open' && !isAtProvider(part))
  const answered = results.map((part) => toolResult(part as ToolResultPart))
  return [
    ...(content.length === 0 ? [] : [{ role: 'assistant' as const, content }]),
    ...(answered.length === 0 ? [] : [{ role: 'tool' as const, content: answered }]),
    ...interruptedAtProvider(message.parts.filter(isCut)),
  ]
}

/**
 * Returns the calls that must not be sent, neither call nor result. Either their input was cut off, even if closing the
 * run gave them a result. Or the provider was to carry them out itself and accepts no result but its own.
 */
function cutOrders({ parts }: StoredMessage): ReadonlySet<string> {
  const cut = new Set<string>()
  const atProvider = new Set<string>()
  for (const part of parts) if (part.type === 'tool-call' && part.state === 'interrupted') cut.add(part.toolCallId)
  for (const part of parts) {
    if (part.type !== 'tool-call' || part.state === 'interrupted') continue
    cut.delete(part.toolCallId)
    if (isAtProvider(part)) atProvider.add(part.toolCallId)
  }
  for (const part of parts) {
    const isSent = part.type === 'tool-result' && part.state !== 'open' && !isAtProvider(part)
    if (isSent && atProvider.has(part.toolCallId)) cut.add(part.toolCallId)
  }
  return cut
}

/**
 * Returns the parts to send. Some providers expect references to what they said. They have kept nothing of an answer
 * that was cut off, and something else for one that was redacted: then references are removed and the content of the
 * log is sent.
 */
function partsToSend({ parts, state }: StoredMessage): readonly Part[] {
  const isAsSaid = state !== 'interrupted' && !parts.some((part) => part.meta?.redacted === true)
  return isAsSaid ? parts : parts.flatMap(withoutReference)
}

function withoutReference(part: Part): Part[] {
  const provider = Object.entries(part.meta?.provider ?? {})
  if (!provider.some(([, given]) => isReference(given))) return [part]
  // Reasoning cannot be sent as text, only as a reference.
  if (part.type === 'reasoning') return []
  const rest = provider.map(([name, given]) => [name, isReference(given) ? withoutItem(given) : given])
  return [{ ...part, meta: { ...part.meta, provider: Object.fromEntries(rest) as JsonObject } }]
}

/** Checked loosely, because anybody may have written this metadata. */
function isReference(given: unknown): given is JsonObject {
  return typeof given === 'object' && given !== null && 'itemId' in given
}

function withoutItem({ itemId: _itemId, ...given }: JsonObject): JsonObject {
  return given
}

/** Returns a message about calls of the provider in a failed attempt: they are in doubt, and the model has to know. */
function interruptedAtProvider(parts: readonly Part[]): LanguageModelV4Message[] {
  const names = parts.flatMap((part) => (part.type === 'tool-call' && isAtProvider(part) ? [part.toolName] : []))
  if (names.length === 0) return []
  const tools = [...new Set(names)].join(', ')
  const text = `An earlier attempt was interrupted while it used ${tools}. Its outcome is unknown: check what happened before doing it again.`
  return [{ role: 'user', content: [{ type: 'text', text }] }]
}

function isAtProvider(part: Part): boolean {
  return part.meta?.['providerExecuted'] === true
}

/** Returns what another agent did as text: its tools are not ours, and its reasoning is signed for somebody else. */
function othersMessage(message: StoredMessage): LanguageModelV4Message[] {
  if (message.error !== undefined) return []
  const lines = message.parts.flatMap((part): string[] => {
    switch (part.type) {
      case 'text':
        return part.text === '' ? [] : [part.text]
      case 'tool-call':
        return part.state === 'interrupted' ? [] : [`[used ${part.toolName}: ${JSON.stringify(part.args)}]`]
      case 'tool-result':
        return part.state === 'open' ? [] : [`[${part.toolName} gave: ${resultText(part)}]`]
      case 'image':
      case 'file':
        return [`[made a file: ${part.fileName ?? part.mimeType}]`]
      default:
        return []
    }
  })
  return lines.length === 0 ? [] : [{ role: 'assistant', content: [{ type: 'text', text: lines.join('\n') }] }]
}

function resultText({ result }: ToolResultPart): string {
  return typeof result === 'string' ? result : JSON.stringify(result)
}

function agentContent(part: Part): AssistantContent[] {
  const options = providerOptions(part)
  switch (part.type) {
    case 'text':
      // Empty texts are kept if the provider may want its metadata back.
      return part.text === '' && options.providerOptions === undefined
        ? []
        : [{ type: 'text', text: part.text, ...options }]
    case 'reasoning':
      // Incomplete reasoning has no signature and is refused without one. Redacted reasoning has none either.
      return part.state === 'interrupted' || part.meta?.redacted === true
        ? []
        : [{ type: 'reasoning', text: part.text, ...options }]
    case 'tool-call':
      // A call that was cut off was never made, and has no result.
      if (part.state === 'interrupted') return []
      return [
        {
          type: 'tool-call',
          toolCallId: part.toolCallId,
          toolName: part.toolName,
          input: part.args,
          ...(isAtProvider(part) ? { providerExecuted: true } : {}),
          ...options,
        },
      ]
    case 'image':
    case 'file':
      return isNothing(part)
        ? []
        : part.meta?.['reasoning'] === true
          ? [{ type: 'reasoning-file', mediaType: part.mimeType, data: fileData(part), ...options }]
          : [{ ...filePart(part), ...options }]
    case 'signal':
      return [{ type: 'text', text: part.text }]
    case 'tool-result':
      // Results of the provider's own tools belong to its message.
      return isAtProvider(part) && part.state !== 'open' ? [{ ...toolResult(part), ...options }] : []
  }
}

function toolResult(part: ToolResultPart): LanguageModelV4ToolResultPart {
  return { type: 'tool-result', toolCallId: part.toolCallId, toolName: part.toolName, output: toolOutput(part) }
}

function toolOutput(part: ToolResultPart): LanguageModelV4ToolResultPart['output'] {
  const { result } = part
  const isError = part.isError === true
  // Kept with the recorded result for this purpose.
  const shown = part.meta?.['modelOutput'] as ModelOutput | undefined
  if (shown?.type === 'content') return { type: 'content', value: shown.value.map(shownPart) }
  const value = shown === undefined ? result : shown.value
  return typeof value === 'string'
    ? { type: isError ? 'error-text' : 'text', value }
    : { type: isError ? 'error-json' : 'json', value }
}

function shownPart(
  part: ModelOutputPart,
): Extract<LanguageModelV4ToolResultOutput, { type: 'content' }>['value'][number] {
  if (part.type === 'text') return part
  const { data, fileName, mediaType } = part
  return {
    type: 'file',
    mediaType,
    data: { type: 'data', data },
    ...(fileName === undefined ? {} : { filename: fileName }),
  }
}

function filePart(part: ImagePart | FilePart): LanguageModelV4FilePart {
  return {
    type: 'file',
    mediaType: part.mimeType,
    data: fileData(part),
    ...(part.fileName === undefined ? {} : { filename: part.fileName }),
  }
}

type FileSource = Extract<LanguageModelV4FilePart['data'], { type: 'data' | 'url' }>

function fileData({ data, url }: ImagePart | FilePart): FileSource {
  if (url === undefined || !URL.canParse(url)) return { type: 'data', data }
  const parsed = new URL(url)
  return { type: 'url', url: parsed, ...(parsed.href === url ? {} : { originalUrl: url }) }
}

/** Whether a file has no content: erased, lost, or with a redacted address. */
function isNothing({ data, meta, url }: ImagePart | FilePart): boolean {
  return data === '' && (url === undefined || !URL.canParse(url) || meta?.redacted === true)
}

/** Returns the provider's metadata of a part, to be sent back unchanged: reasoning needs its signature. */
function providerOptions(part: Part): { providerOptions?: SharedV4ProviderOptions } {
  const provider = part.meta?.provider
  return provider === undefined ? {} : { providerOptions: provider as SharedV4ProviderOptions }
}

function plainText(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === 'text' || part.type === 'signal' ? [part.text] : [])).join('\n')
}
