import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { FileEvent, JsonObject } from '@evener/protocol'

type MadeFile = Extract<LanguageModelV4StreamPart, { type: 'file' | 'reasoning-file' }>

/** A file that the model has made: its bytes, or the address that was given instead. */
export function fileEvent(part: MadeFile): FileEvent | undefined {
  const source = sourceOf(part)
  if (source === undefined) return undefined
  const meta = {
    ...(part.type === 'reasoning-file' ? { reasoning: true } : {}),
    ...(part.providerMetadata === undefined ? {} : { provider: part.providerMetadata as JsonObject }),
  }
  return { type: 'file', mimeType: part.mediaType, ...source, ...(Object.keys(meta).length === 0 ? {} : { meta }) }
}

/** Models of earlier specifications give the data itself. */
function sourceOf({
  data,
}: {
  readonly data: MadeFile['data'] | string | Uint8Array | null | undefined
}): Pick<FileEvent, 'data' | 'url'> | undefined {
  if (typeof data === 'string') return { data }
  if (data instanceof Uint8Array) return { data: Buffer.from(data).toString('base64') }
  // Whatever else a provider may come up with: there is no place for it.
  if (data?.type === 'url') return addressed(data.originalUrl ?? String(data.url))
  return data?.type === 'data' ? sourceOf(data) : undefined
}

/** An address may hold the file itself, which is then kept as any other. */
function addressed(url: string): Pick<FileEvent, 'data' | 'url'> {
  const [, kind = '', held] = /^data:([^,]*),(.*)$/is.exec(url) ?? []
  if (held === undefined) return { data: '', url }
  const bytes = unescaped(held)
  return { data: /;\s*base64\s*$/i.test(kind) ? bytes.toString() : bytes.toString('base64') }
}

/** Byte by byte: what is escaped need not be text. */
function unescaped(text: string): Buffer {
  const bytes = Buffer.from(text).toString('latin1')
  return Buffer.from(
    bytes.replace(/%([\da-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
}
