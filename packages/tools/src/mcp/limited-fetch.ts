import { InspanError } from '@inspan/protocol'

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

const NEWLINE = 0x0a
const RETURN = 0x0d

/**
 * Returns a `fetch` whose answers end with an error when they get too large. Of a stream of events, each event has the
 * limit: such a stream may stay open for ever.
 */
export function limitedFetch(limit: number, inner: Fetch = fetch): Fetch {
  return async (url, init) => {
    const response = await inner(url, init)
    if (response.body === null) return response
    const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    const body = response.body.pipeThrough(limiter(limit, isEvents))
    const limited = new Response(body, response)
    // A response that is built has no address, and the library compares addresses to find redirects.
    for (const name of ['url', 'redirected'] as const) Object.defineProperty(limited, name, { value: response[name] })
    return limited
  }
}

function limiter(limit: number, isEvents: boolean): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let size = 0
  let wasNewline = false
  return new TransformStream({
    transform(chunk, controller) {
      if (!isEvents) size += chunk.byteLength
      else {
        for (const byte of chunk) {
          if (byte === RETURN) continue
          // An event ends with an empty line.
          size = byte === NEWLINE && wasNewline ? 0 : size + 1
          wasNewline = byte === NEWLINE
        }
      }
      if (size > limit) controller.error(new InspanError('io', `The server sent a message above ${limit} bytes.`))
      else controller.enqueue(chunk)
    },
  })
}
