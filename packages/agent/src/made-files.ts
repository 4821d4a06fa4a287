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

/** An address may hold the file itself. */
function addressed(url: string): Pick<FileEvent, 'data' | 'url'> {
  const [, data] = /^data:[^,]*;base64,(.*)$/is.exec(url) ?? []
  return data === undefined ? { data: '', url } : { data }
}
