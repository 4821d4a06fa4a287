import type { LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { FileEvent, JsonObject } from '@evener/protocol'

type MadeFile = Extract<LanguageModelV4StreamPart, { type: 'file' | 'reasoning-file' }>

/** A file that the model has made, or `undefined` when there is only an address of it, which need not stay what it is. */
export function fileEvent(part: MadeFile): FileEvent | undefined {
  const data = dataOf(part)
  if (data === undefined) return undefined
  const meta = {
    ...(part.type === 'reasoning-file' ? { reasoning: true } : {}),
    ...(part.providerMetadata === undefined ? {} : { provider: part.providerMetadata as JsonObject }),
  }
  return { type: 'file', mimeType: part.mediaType, data, ...(Object.keys(meta).length === 0 ? {} : { meta }) }
}

/** Models of earlier specifications give the data itself. */
function dataOf({ data }: { readonly data: MadeFile['data'] | string | Uint8Array }): string | undefined {
  const given = typeof data === 'object' && 'type' in data ? (data.type === 'data' ? data.data : undefined) : data
  return given instanceof Uint8Array ? Buffer.from(given).toString('base64') : given
}
