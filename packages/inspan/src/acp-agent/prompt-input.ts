import { RequestError, type ContentBlock } from '@agentclientprotocol/sdk'
import type { MessageFile } from '@inspan/core'

export interface PromptInput {
  readonly content: string
  readonly files: readonly MessageFile[]
}

/** Turns a prompt into a message: texts and links become its text, everything else goes with it as files. */
export function promptInput(prompt: readonly ContentBlock[]): PromptInput {
  const texts: string[] = []
  const files: MessageFile[] = []
  for (const block of prompt) {
    switch (block.type) {
      case 'text':
        texts.push(block.text)
        break
      case 'image':
        files.push({ data: block.data, mediaType: block.mimeType })
        break
      case 'resource_link':
        texts.push(`[${block.name}](${block.uri})`)
        break
      case 'resource':
        files.push(fileOf(block.resource))
        break
      case 'audio':
        throw RequestError.invalidParams(undefined, 'This agent takes no audio.')
    }
  }
  const content = texts.join('\n\n')
  if (content === '' && files.length === 0) throw RequestError.invalidParams(undefined, 'The prompt is empty.')
  return { content, files }
}

function fileOf(resource: Extract<ContentBlock, { type: 'resource' }>['resource']): MessageFile {
  const { uri } = resource
  if ('text' in resource) return { data: resource.text, mediaType: 'text/plain', filename: uri }
  return { data: resource.blob, mediaType: resource.mimeType ?? 'application/octet-stream', filename: uri }
}
