import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import zlib from 'node:zlib'

/** The request body could not be read. `status` is the response status. */
export class UnreadableBody extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.name = 'UnreadableBody'
    this.status = status
  }
}

/** Returns the decompressed body as text. One over the limit is read to its end, so that the client sees the answer. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= maxBytes) chunks.push(chunk)
    else chunks.length = 0
  }
  if (size > maxBytes) throw new UnreadableBody(413, `The request body has more than ${maxBytes} bytes`)
  const packed = Buffer.concat(chunks)
  const encoding = request.headers['content-encoding'] ?? 'identity'
  return (await unpack(packed, encoding, maxBytes)).toString('utf8')
}

async function unpack(packed: Buffer, encoding: string, maxOutputLength: number): Promise<Buffer> {
  if (encoding === 'identity' || packed.length === 0) return packed
  const unpacker = unpackerFor(encoding)
  if (unpacker === undefined) throw new UnreadableBody(415, `Cannot read a body with content-encoding ${encoding}`)
  try {
    return await unpacker(packed, { maxOutputLength })
  } catch (error) {
    const tooLong = error instanceof RangeError
    throw new UnreadableBody(
      tooLong ? 413 : 400,
      tooLong ? `The unpacked request body has more than ${maxOutputLength} bytes` : `The body is not ${encoding}`,
    )
  }
}

function unpackerFor(
  encoding: string,
): ((packed: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>) | undefined {
  if (encoding === 'gzip') return promisify(zlib.gunzip)
  if (encoding === 'deflate') return promisify(zlib.inflate)
  if (encoding === 'br') return promisify(zlib.brotliDecompress)
  // Node has zstd since 22.15.
  if (encoding === 'zstd' && 'zstdDecompress' in zlib) return promisify(zlib.zstdDecompress)
  return undefined
}
