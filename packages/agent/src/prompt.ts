import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import type {
  FilePart,
  ImagePart,
  ModelOutput,
  ModelOutputPart,
  Part,
  StoredMessage,
  ToolResultPart,
} from '@evener/protocol'

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number]
type UserContent = Extract<LanguageModelV4Message, { role: 'user' }>['content'][number]

/** What the model is to see: the instructions, then the conversation as it went. */
export function toPrompt(instructions: string | undefined, messages: readonly StoredMessage[]): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = messages.flatMap((message) => {
    if (message.role === 'system') return [{ role: 'system' as const, content: plainText(message.parts) }]
    return message.role === 'user' ? userMessage(message) : agentMessages(message)
  })
  return instructions === undefined ? prompt : [{ role: 'system', content: instructions }, ...prompt]
}

function userMessage(message: StoredMessage): LanguageModelV4Message[] {
  const content = message.parts.flatMap((part): UserContent[] => {
    if (part.type === 'text' || part.type === 'signal') return [{ type: 'text', text: part.text }]
    return part.type === 'image' || part.type === 'file' ? [filePart(part)] : []
  })
  return content.length === 0 ? [] : [{ role: 'user', content }]
}

/** One message of ours holds a step's calls and their results; the model wants the results in a message of their own. */
function agentMessages(message: StoredMessage): LanguageModelV4Message[] {
  // A failed attempt stays visible to people but leaves the model's context.
  if (message.error !== undefined) return []
  const content = message.parts.flatMap(agentContent)
  const results = message.parts.filter((part) => part.type === 'tool-result' && part.state !== 'open')
  const said: LanguageModelV4Message[] = content.length === 0 ? [] : [{ role: 'assistant', content }]
  if (results.length === 0) return said
  return [...said, { role: 'tool', content: results.map((part) => toolResult(part as ToolResultPart)) }]
}

function agentContent(part: Part): AssistantContent[] {
  const options = providerOptions(part)
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ type: 'text', text: part.text, ...options }]
    case 'reasoning':
      return [{ type: 'reasoning', text: part.text, ...options }]
    case 'tool-call':
      // An order that was cut off was never one, and there is no result to go with it.
      if (part.state === 'interrupted') return []
      return [{ type: 'tool-call', toolCallId: part.toolCallId, toolName: part.toolName, input: part.args, ...options }]
    case 'image':
    case 'file':
      return [filePart(part)]
    case 'signal':
      return [{ type: 'text', text: part.text }]
    case 'tool-result':
      return []
  }
}

function toolResult(part: ToolResultPart): LanguageModelV4ToolResultPart {
  return { type: 'tool-result', toolCallId: part.toolCallId, toolName: part.toolName, output: toolOutput(part) }
}

function toolOutput(part: ToolResultPart): LanguageModelV4ToolResultPart['output'] {
  const { result } = part
  const isError = part.isError === true
  // Kept by whoever recorded the result, for exactly this.
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
    data: { type: 'data', data: part.data },
    ...(part.fileName === undefined ? {} : { filename: part.fileName }),
  }
}

/** What the provider gave with a part goes back with it unchanged: reasoning is refused without its signature. */
function providerOptions(part: Part): { providerOptions?: SharedV4ProviderOptions } {
  const provider = part.meta?.provider
  return provider === undefined ? {} : { providerOptions: provider as SharedV4ProviderOptions }
}

function plainText(parts: readonly Part[]): string {
  return parts.flatMap((part) => (part.type === 'text' || part.type === 'signal' ? [part.text] : [])).join('\n')
}
