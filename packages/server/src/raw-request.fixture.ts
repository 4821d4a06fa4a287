import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { WebSocket } from 'ws'

export interface RawAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Sends a request with any headers, as a program that is no browser may do. */
export function raw(
  url: string,
  path: string,
  headers: Record<string, string>,
  method = 'GET',
  body = '',
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    // The path is sent as it is: a URL object would resolve its dots first.
    const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const request = httpRequest({ hostname, port, path, method, headers: { ...length, ...headers } }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        // A stream of events does not end by itself.
        if (response.headers['content-type']?.startsWith('text/event-stream') === true) request.destroy()
      })
      response.on('close', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }))
    })
    request.on('error', reject)
    request.end(body)
  })
}

/** Resolves to 101 if the server accepts the WebSocket, else to the status of its answer. */
export function upgrade(
  url: string,
  headers: Record<string, string>,
  path = '/v1/ws',
  protocols: string[] = [],
): Promise<number> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, protocols, { headers })
    socket.on('open', () => {
      socket.close()
      resolve(101)
    })
    socket.on('unexpected-response', (_request, response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    socket.on('error', () => undefined)
  })
}

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })
export const JSON_TYPE: Readonly<Record<string, string>> = { 'content-type': 'application/json' }
export const WRONG_TOKEN: string = 'w'.repeat(43)
