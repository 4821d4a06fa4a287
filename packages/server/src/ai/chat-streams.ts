import type { ServerResponse } from 'node:http'
import { InspanError } from '@inspan/protocol'
import type { ReceiptMessage } from '@inspan/protocol/wire'
import { derivedUuid } from '../commands/uuid.ts'
import type { ServerContext } from '../context.ts'
import type { Packet } from '../feed/thread-feed.ts'
import type { Caller } from '../http/guard.ts'
import type { UsedThread } from '../hub.ts'
import type { UiChatRequest } from './chat-request.ts'
import type { UiChunk } from './ui-chunk.ts'
import { UiProjection } from './ui-projection.ts'

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
  'x-vercel-ai-ui-message-stream': 'v1',
}

const DAY_MS = 24 * 60 * 60 * 1000

interface StreamedRun {
  readonly id: string
  readonly projection: UiProjection
}

/** Runs of threads as UI message streams of the AI SDK. A client that goes away changes nothing. */
export class ChatStreams {
  readonly #context: ServerContext
  readonly #open = new Map<ServerResponse, Caller>()

  constructor(context: ServerContext) {
    this.#context = context
    context.guard.tokens.onRevoked((id) => {
      for (const [response, { tokenId }] of this.#open) if (tokenId === id) response.destroy()
    })
  }

  close(): void {
    for (const response of this.#open.keys()) response.end()
  }

  /** Carries out what the chat asks for and sends the run until it is over or waits for a person. */
  async send(request: UiChatRequest, caller: Caller, response: ServerResponse): Promise<void> {
    const { id } = request
    await this.#ensure(id, caller)
    const used = await this.#context.hub.use(id, caller)
    try {
      const run = 'message' in request ? await this.#submit(request, caller) : await this.#answer(request, caller, used)
      this.#follow(run, used, caller, response)
    } catch (error) {
      used.release()
      throw error
    }
  }

  /** Sends the run in progress from its beginning. Returns false when there is none. */
  async resume(id: string, caller: Caller, response: ServerResponse): Promise<boolean> {
    const used = await this.#context.hub.use(id, caller)
    used.feed.flush()
    const { run } = used.feed.view.head
    if (run === null) {
      used.release()
      return false
    }
    this.#follow({ id: run.runId, projection: new UiProjection(id, run.runId) }, used, caller, response)
    return true
  }

  /** The id of a chat is made by the client, so the first message makes the thread. */
  async #ensure(id: string, caller: Caller): Promise<void> {
    const { door } = this.#context.hub
    const resourceId = this.#context.hub.tenantOf(caller)
    await door.ready()
    if ((await door.store.getThread(id)) === null) await door.create(resourceId, { id })
  }

  async #submit(
    { id, message, messageId }: Extract<UiChatRequest, { message: unknown }>,
    caller: Caller,
  ): Promise<StreamedRun> {
    const text = JSON.stringify([id, messageId, message])
    const once = messageId === undefined ? {} : { id: await this.#commandId(text, caller) }
    const receipt = await this.#context.executor.carryOut({ ...message, ...once, thread: id }, caller)
    const { runId } = accepted(receipt)
    if (runId === undefined) throw new InspanError('misuse', 'The message started no run.')
    return { id: runId, projection: new UiProjection(id, runId) }
  }

  /**
   * A request that is sent again, e.g. because its answer was lost, has the same message: it must not be said twice. The
   * id of its command follows from the message and the day, since old ids are refused.
   */
  async #commandId(text: string, caller: Caller): Promise<string> {
    const today = Math.floor(Date.now() / DAY_MS) * DAY_MS
    const yesterdays = derivedUuid(today - DAY_MS, text)
    return (await this.#context.executor.isKnown(yesterdays, caller)) ? yesterdays : derivedUuid(today, text)
  }

  async #answer(
    { answers, id }: Extract<UiChatRequest, { answers: unknown }>,
    caller: Caller,
    { feed }: UsedThread,
  ): Promise<StreamedRun> {
    feed.flush()
    const { run, waits } = feed.view.head
    const waiting = new Set([...waits].map((wait) => wait.subject.toolCallId ?? wait.id))
    const due = answers.filter(({ toolCallId }) => waiting.has(toolCallId))
    if (run === null || due.length === 0) {
      throw new InspanError('conflict', 'Nothing that was answered is waiting any longer.')
    }
    const projection = new UiProjection(id, run.runId)
    projection.skip(feed.view)
    for (const answer of due) accepted(await this.#context.executor.carryOut({ ...answer, thread: id }, caller))
    return { id: run.runId, projection }
  }

  #follow({ projection }: StreamedRun, used: UsedThread, caller: Caller, response: ServerResponse): void {
    const { feed } = used
    // Everything that may have changed since: later on only what packets name.
    let due = new Set([...feed.view.messages].map((message) => message.id))
    response.writeHead(200, HEADERS)
    this.#open.set(response, caller)
    const pump = (): void => {
      if (response.writableNeedDrain || response.writableEnded) return
      const { view } = feed
      const touched = due
      due = new Set()
      for (const chunk of projection.next(view, touched)) send(response, chunk)
      const last = projection.end(view)
      if (last === undefined) return
      for (const chunk of last) send(response, chunk)
      response.end('data: [DONE]\n\n')
    }
    const unsubscribe = feed.subscribe((packet) => {
      for (const id of touchedBy(packet, feed.view.messages)) due.add(id)
      pump()
    })
    response.on('drain', pump)
    response.on('error', () => response.destroy())
    response.on('close', () => {
      unsubscribe()
      this.#open.delete(response)
      used.release()
    })
    feed.flush()
    pump()
  }
}

/** A wait is in the head and not in the message of its call, so a change there may concern any open message. */
function touchedBy({ operations }: Packet, messages: Iterable<{ id: string; state: string }>): Set<string> {
  const ids = new Set<string>()
  for (const { path } of operations) if (path[0] === 'messages' && path[1] !== undefined) ids.add(path[1])
  if (operations.some(({ path }) => path[0] === 'head' && path[1] === 'waits')) {
    for (const { id, state } of messages) if (state === 'open') ids.add(id)
  }
  return ids
}

function send(response: ServerResponse, chunk: UiChunk): void {
  response.write(`data: ${JSON.stringify(chunk)}\n\n`)
}

function accepted(receipt: ReceiptMessage): ReceiptMessage {
  if (receipt.status === 'done') return receipt
  const message = receipt.message ?? `The command was not carried out (${receipt.reason ?? receipt.status}).`
  throw new InspanError(receipt.reason === 'invalid' ? 'invalid-input' : 'conflict', message)
}
