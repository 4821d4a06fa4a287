import { InspanError, type JsonObject, type JsonValue, type Part } from '@inspan/protocol'
import { asInteger, asObject, asText, NO_FIELDS } from '../../kit/fields.ts'
import { codexProfile } from '../profile.ts'
import { promptOf } from '../../launch/prompt.ts'
import { SessionLost, type LiveLink, type LivePeer, type LiveTask, type TurnPort } from '../../live/live-cli-spec.ts'
import { Replies } from '../../live/replies.ts'
import { OpenItems, serverAsk } from './approvals.ts'
import { handoverItems, instructionsItem } from './handover-items.ts'
import { openThread, type OpenedThread } from './open-thread.ts'

const CLIENT: JsonObject = { name: 'inspan', title: 'Inspan', version: '0.1.0' }
const NOT_FOUND = -32601

/** Speaks with Codex over its app server: requests, answers and notifications as lines of JSON, in both directions. */
export class AppServerPeer implements LivePeer {
  readonly #link: LiveLink
  readonly #replies = new Replies(codexProfile.title)
  readonly #items = new OpenItems()
  /** Ids of messages that steered this turn, until Codex reports that it heard them. */
  readonly #steered = new Set<string>()
  #port: TurnPort | undefined
  #cwd: string | undefined
  #threadId: string | undefined
  #turnId: string | undefined
  #ids = 0

  constructor(link: LiveLink) {
    this.#link = link
  }

  get isWaiting(): boolean {
    return this.#replies.areOpen
  }

  get undelivered(): readonly string[] {
    return [...this.#steered]
  }

  async start(task: LiveTask, port: TurnPort): Promise<void> {
    const { request, isFirst } = task
    this.#port = port
    this.#cwd = request.cwd
    this.#turnId = undefined
    this.#items.clear()
    this.#steered.clear()
    if (isFirst) {
      await this.#call('initialize', { clientInfo: CLIENT, capabilities: null })
      this.#link.send({ method: 'initialized' })
    }
    const opened = isFirst ? await this.#open(task) : undefined
    this.#threadId = opened?.id ?? this.#threadId
    await this.#handOver(task, port, opened)
    const turn = await this.#call('turn/start', {
      threadId: this.#threadId ?? null,
      input: inputOf(request.input),
      ...(request.model === undefined ? {} : { model: request.model }),
      ...(request.effort === undefined ? {} : { effort: request.effort }),
      ...(request.output === undefined ? {} : { outputSchema: request.output.schema }),
    })
    this.#turnId ??= asText(asObject(turn['turn'])?.['id'])
  }

  async steer(parts: readonly Part[], id: string): Promise<'injected' | 'queued'> {
    this.#steered.add(id)
    try {
      await this.#say(inputOf(parts), id)
    } catch (error) {
      this.#steered.delete(id)
      throw error
    }
    return 'injected'
  }

  async interrupt(): Promise<void> {
    const { threadId, turnId } = this.#place()
    await this.#call('turn/interrupt', { threadId, turnId })
  }

  gone(): void {
    this.#replies.end('it has ended')
  }

  record(record: JsonObject): void {
    const method = asText(record['method'])
    const params = asObject(record['params']) ?? NO_FIELDS
    if (method === undefined) this.#answer(record)
    else if ('id' in record) this.#request(record['id'] ?? null, method, params)
    else this.#notification(method, params)
  }

  async #open(task: LiveTask): Promise<OpenedThread> {
    try {
      return await openThread((method, params) => this.#call(method, params), task)
    } catch (error) {
      if (task.request.session.kind === 'new' || !InspanError.is(error) || error.code === 'closed') throw error
      throw new SessionLost(error.message)
    }
  }

  async #handOver(task: LiveTask, port: TurnPort, opened: OpenedThread | undefined): Promise<void> {
    const { request, isFirst, handover } = task
    const { messages, omitted, isCut } = await handover(opened?.isKnown)
    const items = [
      ...handoverItems(messages),
      ...(isFirst && request.hasNewInstructions ? [instructionsItem(request.instructions)] : []),
    ]
    if (items.length > 0) await this.#call('thread/inject_items', { threadId: this.#threadId ?? null, items })
    if (omitted > 0 || isCut) port.warn('What others said before was too long and was handed over in part.', 'handover')
  }

  #place(): { readonly threadId: string; readonly turnId: string } {
    const threadId = this.#threadId
    const turnId = this.#turnId
    if (threadId !== undefined && turnId !== undefined) return { threadId, turnId }
    throw new InspanError('conflict', `${codexProfile.title} has not begun the turn.`)
  }

  async #say(input: readonly JsonObject[], id?: string): Promise<void> {
    const { threadId, turnId } = this.#place()
    await this.#call('turn/steer', {
      threadId,
      expectedTurnId: turnId,
      input,
      ...(id === undefined ? {} : { clientUserMessageId: id }),
    })
  }

  #call(method: string, params: JsonObject): Promise<JsonObject> {
    this.#ids += 1
    const reply = this.#replies.expect(String(this.#ids), method)
    this.#link.send({ id: this.#ids, method, params })
    return reply
  }

  #answer(record: JsonObject): void {
    const id = String(asInteger(record['id']))
    const error = asObject(record['error'])
    if (error === undefined) this.#replies.resolve(id, asObject(record['result']) ?? NO_FIELDS)
    else this.#replies.reject(id, { message: asText(error['message']) ?? 'it does not say why' })
  }

  /** Handles a request of the CLI. Its ids are independent of ours. */
  #request(id: JsonValue, method: string, params: JsonObject): void {
    const port = this.#port
    const ask = port === undefined ? undefined : serverAsk(method, params, this.#items, this.#cwd)
    if (port === undefined || ask === undefined) {
      this.#link.send({ id, error: { code: NOT_FOUND, message: `There is nobody for ${method}.` } })
      if (ask === undefined)
        port?.warn(`${codexProfile.title} asked for ${method}, which nobody can give.`, 'unsupported')
      return
    }
    const { result, call, ...rest } = ask
    void port.asks.put({
      ...rest,
      call: this.#cwd === undefined ? call : { cwd: this.#cwd, ...call },
      key: keyOf(id),
      answer: (verdict) => {
        const send = (): void => this.#link.send({ id, result: result(verdict) })
        if (verdict.isAllowed) send()
        else void this.#explain(`"${ask.description}" was declined: ${verdict.reason}`).then(send)
      },
    })
  }

  /** A refusal has no field for a reason, so the reason is steered before it. */
  async #explain(text: string): Promise<void> {
    await this.#say([textInput(text)]).catch(() => undefined)
  }

  #notification(method: string, params: JsonObject): void {
    switch (method) {
      case 'item/started':
      case 'item/completed':
        this.#item(asObject(params['item']) ?? NO_FIELDS, method === 'item/completed')
        return
      case 'turn/started':
        if (this.#isOurs(params)) this.#turnId = asText(asObject(params['turn'])?.['id'])
        return
      case 'turn/completed':
        if (this.#isOurs(params)) this.#over()
        return
      case 'serverRequest/resolved':
        this.#port?.asks.withdraw(keyOf(params['requestId'] ?? null))
    }
  }

  #isOurs(params: JsonObject): boolean {
    return asText(params['threadId']) === this.#threadId
  }

  #over(): void {
    const port = this.#port
    this.#port = undefined
    port?.over()
  }

  #item(item: JsonObject, isCompleted: boolean): void {
    this.#items.note(item, isCompleted)
    if (item['type'] === 'userMessage') this.#steered.delete(asText(item['clientId']) ?? '')
  }
}

function keyOf(id: JsonValue): string {
  return JSON.stringify(id)
}

function inputOf(parts: readonly Part[]): readonly JsonObject[] {
  const { text, images } = promptOf(parts, codexProfile.title)
  return [
    ...images.map(({ mimeType, data }) => ({ type: 'image', url: `data:${mimeType};base64,${data}` })),
    ...(text === '' ? [] : [textInput(text)]),
  ]
}

function textInput(text: string): JsonObject {
  return { type: 'text', text, text_elements: [] }
}
