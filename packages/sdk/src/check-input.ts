import { InspanError } from '@inspan/protocol'
import { fromChatContent, type ChatMessage, type ChatMessagePart, type Model } from '@inspan/protocol/chat'
import { AgentSDKError } from './errors.ts'

/** Throws if a message cannot be sent to the model: parts that are no input, and files that it does not take. */
export function checkInput(content: ChatMessage['content'], model: Model): void {
  try {
    fromChatContent(content)
  } catch (error) {
    if (InspanError.is(error, 'invalid-input')) throw invalidContent(error)
    throw error
  }
  if (typeof content !== 'string') checkFiles(content, model)
}

function invalidContent(error: InspanError): AgentSDKError {
  return new AgentSDKError('INVALID_MESSAGE_CONTENT', error.message, { cause: error })
}

function checkFiles(parts: readonly ChatMessagePart[], { id, supportedFormats }: Model): void {
  const files = parts.filter((part) => part.type === 'image' || part.type === 'file')
  if (files.length === 0) return
  if (supportedFormats === null) throw refused(`The model ${id} takes no images or files.`)
  if (files.length > supportedFormats.maxFiles) {
    throw refused(`${files.length} files were sent, and the model ${id} takes at most ${supportedFormats.maxFiles}.`)
  }
  for (const { data, fileName, mimeType } of files) {
    const limit = supportedFormats.formats.find((format) => format.mimeType === mimeType)
    const name = fileName ?? `A file of type ${mimeType}`
    if (limit === undefined) throw refused(`${name} cannot be sent: the model ${id} does not take ${mimeType}.`)
    const bytes = decodedBytes(data)
    if (bytes > limit.maxBytes) {
      throw refused(`${name} has ${bytes} bytes, and the model ${id} takes at most ${limit.maxBytes} of ${mimeType}.`)
    }
  }
}

/** The size of padded base64 after decoding. */
function decodedBytes(data: string): number {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  return (data.length / 4) * 3 - padding
}

function refused(message: string): AgentSDKError {
  return new AgentSDKError('MULTIMODAL_NOT_SUPPORTED', message, {
    hint: '`supportedFormats` of the model lists what it takes.',
  })
}
