import { randomBytes, randomUUID } from 'node:crypto'
import { InspanError, type JsonValue } from '@inspan/protocol'
import { spawnRun, type RunProcess } from '@inspan/shell/run'
import { asArray, asObject, asText } from '../kit/fields.ts'
import type { SessionChoice } from '../launch/native-session.ts'
import type { PlaceRequest } from '../launch/print-driver.ts'
import type { Flavour } from './flavour.ts'

/** The server starts within seconds, or half a minute on a busy machine. */
const DEADLINE_MS = 120_000

/**
 * Returns the session as it was at the anchor. The command line can only resume or fork at the end of a session; the
 * server can fork anywhere. A session that ends at the anchor is resumed as it is.
 */
export async function placeAtAnchor(request: PlaceRequest, flavour: Flavour): Promise<SessionChoice> {
  const { signal } = request
  const late = AbortSignal.timeout(DEADLINE_MS)
  try {
    const server = await Server.start(request, flavour, AbortSignal.any([signal, late]))
    try {
      return await place(request, server)
    } finally {
      await server.stop()
    }
  } catch (error) {
    if (!late.aborted || signal.aborted) throw error
    throw new InspanError('io', `The server of ${flavour.profile.title} did not answer within ${DEADLINE_MS} ms.`)
  }
}

async function place({ session }: PlaceRequest, server: Server): Promise<SessionChoice> {
  const { nativeId, anchor } = session
  const messages = await server.messages(nativeId)
  if (messages === undefined) return anew('its session is gone')
  const at = anchor === undefined ? messages.length - 1 : messages.indexOf(anchor)
  if (at === -1) return anew('its session no longer holds what was said last')
  const next = messages[at + 1]
  if (session.kind === 'resume' && next === undefined) return session
  const fork = await server.fork(nativeId, next)
  const last = (await server.messages(fork))?.at(-1)
  return { kind: 'resume', nativeId: fork, ...(last === undefined ? {} : { anchor: last }) }
}

function anew(because: string): SessionChoice {
  return { kind: 'new', id: randomUUID(), because }
}

class Server {
  readonly #run: RunProcess
  readonly #url: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #signal: AbortSignal

  private constructor(run: RunProcess, url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) {
    this.#run = run
    this.#url = url
    this.#headers = headers
    this.#signal = signal
  }

  static async start({ cli, env, cwd }: PlaceRequest, flavour: Flavour, signal: AbortSignal): Promise<Server> {
    const { prefix, profile, serverUser } = flavour
    // Otherwise any user of this machine could talk to the server.
    const password = randomBytes(24).toString('base64url')
    signal.throwIfAborted()
    const run = await spawnRun({
      command: cli.path,
      args: ['serve', '--port', '0', '--hostname', '127.0.0.1'],
      cwd,
      env: {
        ...env,
        ...flavour.env,
        PWD: cwd,
        [`${prefix}_DISABLE_AUTOUPDATE`]: '1',
        [`${prefix}_SERVER_PASSWORD`]: password,
      },
    })
    const stop = (): void => void run.kill({ graceMs: 0 })
    signal.addEventListener('abort', stop)
    const url = Promise.withResolvers<string | undefined>()
    const complaints: string[] = []
    const read = async (lines: typeof run.stdout): Promise<void> => {
      for await (const { text } of lines) {
        const found = /listening on (http:\/\/\S+)/.exec(text)?.[1]
        if (found !== undefined) url.resolve(found)
        else if (complaints.length < 20) complaints.push(text)
      }
    }
    const ended = Promise.all([read(run.stdout), read(run.stderr)]).then(() => url.resolve(undefined))
    const address = await url.promise
    signal.removeEventListener('abort', stop)
    if (address === undefined) {
      await ended
      await run.kill({ graceMs: 0 })
      signal.throwIfAborted()
      throw new InspanError('io', `The server of ${profile.title} did not start. ${complaints.join('\n')}`.trim(), {
        hint: `Run "${cli.path} serve" to see for yourself.`,
      })
    }
    const authorization = `Basic ${Buffer.from(`${serverUser}:${password}`).toString('base64')}`
    return new Server(run, address, { authorization, 'content-type': 'application/json' }, signal)
  }

  /** Returns the ids of a session's messages, oldest first. */
  async messages(sessionId: string): Promise<readonly string[] | undefined> {
    const answer = await this.#ask('GET', `/session/${encodeURIComponent(sessionId)}/message`)
    return asArray(answer)?.map((message) => asText(asObject(asObject(message)?.['info'])?.['id']) ?? '')
  }

  /** Makes a copy that ends before the message, or holds everything, and returns its id. */
  async fork(sessionId: string, before: string | undefined): Promise<string> {
    const body = before === undefined ? {} : { messageID: before }
    const answer = await this.#ask('POST', `/session/${encodeURIComponent(sessionId)}/fork`, JSON.stringify(body))
    const id = asText(asObject(answer)?.['id'])
    if (id === undefined) throw new InspanError('io', 'The session could not be forked.', { details: { answer } })
    return id
  }

  async stop(): Promise<void> {
    await this.#run.kill()
  }

  /** Returns `undefined` if the server answers 404. */
  async #ask(method: string, path: string, body?: string): Promise<JsonValue | undefined> {
    const response = await fetch(this.#url + path, {
      method,
      headers: this.#headers,
      signal: this.#signal,
      ...(body === undefined ? {} : { body }),
    })
    if (response.status === 404) return undefined
    if (response.ok) return (await response.json()) as JsonValue
    throw new InspanError('io', `${method} ${path} was answered with ${response.status}.`, {
      details: { answer: (await response.text()).slice(0, 2_000) },
    })
  }
}
