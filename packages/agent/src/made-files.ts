import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { FileEvent, JsonObject } from '@inspan/protocol'

type MadeFile = Extract<LanguageModelV4StreamPart, { type: 'file' | 'reasoning-file' }>

/** Returns the event of a file made by the model: its bytes, or the address given instead. */
export function fileEvent(part: MadeFile): FileEvent | undefined {
  const source = sourceOf(part)
  if (source === undefined) return undefined
  const meta = {
    ...(part.type === 'reasoning-file' ? { reasoning: true } : {}),
    ...(part.providerMetadata === undefined ? {} : { provider: part.providerMetadata as JsonObject }),
  }
  return { type: 'file', mimeType: part.mediaType, ...source, ...(Object.keys(meta).length === 0 ? {} : { meta }) }
}

/** Models of earlier specifications have the data itself here. */
function sourceOf({
  data,
}: {
  readonly data: MadeFile['data'] | string | Uint8Array | null | undefined
}): Pick<FileEvent, 'data' | 'url'> | undefined {
  if (typeof data === 'string') return { data }
  if (data instanceof Uint8Array) return { data: Buffer.from(data).toString('base64') }
  // Other kinds of data cannot be kept.
  if (data?.type === 'url') return addressed(data.originalUrl ?? String(data.url))
  return data?.type === 'data' ? sourceOf(data) : undefined
}

/** A data URL holds the file itself, which is kept like any other. */
function addressed(url: string): Pick<FileEvent, 'data' | 'url'> {
  const [, kind = '', held] = /^data:([^,]*),(.*)$/is.exec(url) ?? []
  if (held === undefined) return { data: '', url }
  const bytes = unescaped(held)
  return { data: /;\s*base64\s*$/i.test(kind) ? bytes.toString() : bytes.toString('base64') }
}

/** Unescapes bytes, because they need not be text. */
function unescaped(text: string): Buffer {
  const bytes = Buffer.from(text).toString('latin1')
  return Buffer.from(
    bytes.replace(/%([\da-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
}
