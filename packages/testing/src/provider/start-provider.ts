import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { JsonObject } from '@inspan/protocol'
import { isRecord } from '../checks.ts'
import { newId } from '../ids.ts'
import { Playbook } from '../playbook.ts'
import type { Script } from '../script.ts'
import { ScriptEnded } from '../script-errors.ts'
import { answer, sendError, sendJson } from './answer.ts'
import { endpointOf } from './endpoints.ts'
import type { Endpoint } from './endpoints.ts'
import { countTokens, modelList, modelEntry } from './fixed-answers.ts'
import type { HttpRequest, Provider, ProviderOptions, ProviderRequest, RequestOutcome } from './provider.ts'
import { readBody, UnreadableBody } from './request-body.ts'
import { RequestWatch } from './watch.ts'
import { countRequestTokens, overflowError, withCountedUsage } from '../window.ts'
import type { WireFormat } from './wire.ts'

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

const defaultDeadlineMs = 30_000
const defaultMaxBodyBytes = 100 * 1024 * 1024

/** Starts an HTTP server on 127.0.0.1 that plays a script to clients of Anthropic and OpenAI. */
export async function startProvider(script: Script<ProviderRequest>, options: ProviderOptions = {}): Promise<Provider> {
  const playbook = new Playbook(script, { sideByDefault: true })
  const requests: Writable<ProviderRequest>[] = []
  const otherRequests: HttpRequest[] = []
  const unexpected: HttpRequest[] = []
  const problems: Error[] = []
  const watch = new RequestWatch()
  const active = new Set<Promise<unknown>>()

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const at = Date.now()
    const endpoint = endpointOf(incoming.method ?? '', incoming.url ?? '')
    response.setHeader('request-id', newId('req'))
    try {
      const text = await readBody(incoming, options.maxBodyBytes ?? defaultMaxBodyBytes)
      await respond(endpoint, recordOf(incoming, text, at), response)
    } catch (error) {
      if (!(error instanceof UnreadableBody)) throw error
      unexpected.push(recordOf(incoming, '', at))
      sendJson(response, error.status, errorBody(endpoint, error.status, error.message))
    }
  }

  async function respond(endpoint: Endpoint, record: HttpRequest, response: ServerResponse): Promise<void> {
    if (endpoint.kind === 'model') return respondAsModel(endpoint.format, record, response)
    if (endpoint.kind === 'unknown') {
      unexpected.push(record)
      return sendJson(response, 404, errorBody(endpoint, 404, `There is no ${record.method} ${record.path} here`))
    }
    otherRequests.push(record)
    if (endpoint.kind === 'probe') response.end()
    else if (endpoint.kind === 'count-tokens') sendJson(response, 200, countTokens(record.text))
    else if (endpoint.id !== undefined) sendJson(response, 200, modelEntry(endpoint.id))
    else sendJson(response, 200, modelList(options.models ?? ['scripted-model']))
  }

  async function respondAsModel(format: WireFormat, record: HttpRequest, response: ServerResponse): Promise<void> {
    const body = jsonObject(record.text)
    if (body === undefined) {
      unexpected.push(record)
      sendError({ status: 400, message: 'The request body is not a JSON object' }, { response, format })
      return
    }
    const request: Writable<ProviderRequest> = {
      ...record,
      api: format.api,
      body,
      route: 'main',
      turn: undefined,
      outcome: 'open',
    }
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const { contextWindow } = options
    const tokens = countRequestTokens(record.text)
    if (contextWindow !== undefined && tokens > contextWindow) {
      requests.push(request)
      sendError(overflowError(format.api, tokens, contextWindow), { response, format })
      request.outcome = 'refused'
      watch.changed()
      return
    }
    try {
      const chosen = takeTurn(request, format)
      const made = await chosen.make()
      const turn = contextWindow === undefined ? made : withCountedUsage(made, tokens)
      request.outcome = await answer(turn, { response, format, body, gone: gone.signal })
    } catch (error) {
      if (gone.signal.aborted) request.outcome = request.outcome === 'cut' ? 'cut' : 'client-gone'
      else {
        const problem = error instanceof Error ? error : new Error(String(error))
        problems.push(problem)
        const refusal = { status: 400, message: problem.message, code: problem.name, retryable: false }
        request.outcome = sendError(refusal, { response, format })
      }
    }
    watch.changed()
  }

  function takeTurn(request: Writable<ProviderRequest>, format: WireFormat): ReturnType<typeof playbook.take> {
    requests.push(request)
    watch.changed()
    const userAgent = request.headers['user-agent'] ?? ''
    try {
      const chosen = playbook.take({ request, facts: format.facts(request.body), text: request.text, userAgent })
      request.route = chosen.route
      request.turn = chosen.turn
      return chosen
    } catch (error) {
      if (error instanceof ScriptEnded) request.route = error.route
      throw error
    }
  }

  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 }, (incoming, response) => {
    const handling = handle(incoming, response)
      .catch(() => response.destroy())
      .finally(() => active.delete(handling))
    active.add(handling)
  })
  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex) => {
    otherRequests.push(recordOf(incoming, '', Date.now()))
    refuseUpgrade(socket)
  })
  const port = await listen(server, options.port ?? 0)

  function cut(): void {
    for (const request of requests) if (request.outcome === 'open') request.outcome = 'cut'
    server.closeAllConnections()
  }

  async function shutDown(): Promise<void> {
    const stopped = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeAllConnections()
    await stopped
    await Promise.all(active)
    watch.close()
  }

  let closed: Promise<void> | undefined
  const close = (): Promise<void> => (closed ??= shutDown())

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    otherRequests,
    unexpected,
    problems,
    get turnsLeft() {
      return playbook.turnsLeft
    },
    waitForRequests: (count, timeoutMs = defaultDeadlineMs) =>
      watch.until(() => (requests.length >= count ? requests : undefined), `${count} requests`, timeoutMs),
    waitForOutcome: (index, timeoutMs = defaultDeadlineMs) =>
      watch.until(() => outcomeOf(requests[index]), `the outcome of request ${index}`, timeoutMs),
    cut,
    close,
    [Symbol.asyncDispose]: close,
  }
}

function listen(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : port)
    })
  })
}

function recordOf(incoming: IncomingMessage, text: string, at: number): HttpRequest {
  return { method: incoming.method ?? '', path: incoming.url ?? '', headers: incoming.headers, text, at }
}

function outcomeOf(request: ProviderRequest | undefined): RequestOutcome | undefined {
  return request === undefined || request.outcome === 'open' ? undefined : request.outcome
}

function jsonObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}

function errorBody(endpoint: Endpoint, status: number, message: string): ReturnType<WireFormat['errorBody']> {
  return endpoint.kind === 'model'
    ? endpoint.format.errorBody({ message }, status)
    : { type: 'error', error: { type: 'not_found_error', message } }
}

// Codex tries a WebSocket first and falls back to HTTP on this answer.
function refuseUpgrade(socket: Duplex): void {
  const body = JSON.stringify({ error: { type: 'invalid_request_error', message: 'No WebSocket here: use HTTP' } })
  socket.end(
    'HTTP/1.1 426 Upgrade Required\r\nconnection: close\r\ncontent-type: application/json\r\n' +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}
