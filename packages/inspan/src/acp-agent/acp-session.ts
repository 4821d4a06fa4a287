import {
  RequestError,
  type AgentContext,
  type ContentBlock,
  type PermissionOption,
  type PromptResponse,
  type RequestPermissionOutcome,
  type RequestPermissionRequest,
  type SessionConfigOption,
  type SessionModeState,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'
import type {
  Harness,
  HarnessEvent,
  HarnessMessage,
  PendingToolApproval,
  PendingToolSuspension,
  Session,
  TokenUsage,
} from '@inspan/core'
import { oneLine } from '../one-line.ts'
import { configOptions, setConfigOption } from './config-options.ts'
import { promptInput } from './prompt-input.ts'
import { messageUpdates, planOf, toolKind, toolTitle, UpdateMapper } from './updates.ts'
import { APPROVAL_OPTIONS, approvalDecision, questionOf } from './waits.ts'

type EndReason = Extract<HarnessEvent, { type: 'agent_end' }>['reason']

/** `usage` is not yet part of the stable protocol; clients that do not know it ignore it. */
type PromptResult = PromptResponse & { readonly usage?: object }

/** One thread as a session of the client: its events become updates, its waits become permission requests. */
export class InspanAcpSession {
  readonly id: string
  readonly #harness: Harness
  readonly #session: Session
  readonly #client: AgentContext
  readonly #warn: (message: string) => void
  readonly #updates = new UpdateMapper()
  readonly #asked = new Set<string>()
  readonly #unsubscribe: () => void
  /** Aborted when the client cancels, so that nobody waits for its answers any longer. */
  #cancelling = new AbortController()
  #sent: Promise<void> = Promise.resolve()
  #lastEnd: EndReason
  #lastError: Error | undefined

  constructor(harness: Harness, session: Session, client: AgentContext, warn: (message: string) => void) {
    this.id = session.thread.requireId()
    this.#harness = harness
    this.#session = session
    this.#client = client
    this.#warn = warn
    this.#unsubscribe = session.subscribe((event) => this.#hear(event))
  }

  get modes(): SessionModeState {
    const availableModes = this.#harness.listModes().map(({ description, id, name }) => ({
      id,
      name: name ?? id,
      ...(description === undefined ? {} : { description }),
    }))
    return { currentModeId: this.#session.mode.get(), availableModes }
  }

  /** Returns what the client can choose here. */
  async choices(): Promise<{ modes: SessionModeState; configOptions: SessionConfigOption[] }> {
    return { modes: this.modes, configOptions: await configOptions(this.#harness, this.#session) }
  }

  async setConfigOption(id: string, value: unknown): Promise<void> {
    await setConfigOption(this.#harness, this.#session, id, value)
  }

  async setMode(modeId: string): Promise<void> {
    if (!this.#harness.listModes().some(({ id }) => id === modeId)) {
      throw RequestError.invalidParams({ modeId }, `There is no mode "${modeId}".`)
    }
    await this.#session.mode.switch({ modeId })
  }

  /** Sends the whole history, oldest first. The protocol knows no pages. */
  async replay(): Promise<void> {
    const pages: (readonly HarnessMessage[])[] = []
    let cursor: string | null = null
    do {
      const page = await this.#session.thread.listActiveMessages(cursor === null ? {} : { cursor })
      pages.push(page)
      cursor = page.next
    } while (cursor !== null)
    for (const message of pages.toReversed().flat()) for (const update of messageUpdates(message)) this.#send(update)
    const { tasks } = this.#session.displayState.get()
    if (tasks.length > 0) this.#send(planOf(tasks))
    await this.#sent
  }

  /** Asks again what was open when the thread was last left. */
  askOpen(): void {
    for (const approval of this.#session.displayState.get().pendingApprovals) this.#askApproval(approval)
    void this.#askQuestions().catch((error: unknown) => this.#fail(error))
  }

  async prompt(prompt: readonly ContentBlock[]): Promise<PromptResult> {
    const input = promptInput(prompt)
    const before = this.#session.getTokenUsage()
    this.#cancelling = new AbortController()
    this.#lastEnd = undefined
    this.#lastError = undefined
    await this.#title(input.content)
    const open = this.#session.suspensions.list().find((each) => questionOf(each).options.length === 0)
    if (open === undefined) await this.#session.sendMessage(input)
    else {
      const { toolCallId } = open
      await this.#session.respondToToolSuspension({ toolCallId, resumeData: input.content })
    }
    await this.#askQuestions()
    await this.#sent
    return this.#result(before)
  }

  async cancel(): Promise<void> {
    this.#cancelling.abort()
    await this.#session.abort()
  }

  /** Leaves the thread as it is. Waits stay open and are asked again when it is loaded. */
  async close(): Promise<void> {
    this.#unsubscribe()
    await this.#session.close()
  }

  #hear(event: HarnessEvent): void {
    for (const update of this.#updates.of(event)) this.#send(update)
    if (event.type === 'mode_changed' || event.type === 'model_changed') void this.#sendChoices()
    if (event.type === 'tool_approval_required') this.#askApproval(event)
    else if (event.type === 'agent_end') this.#lastEnd = event.reason
    else if (event.type === 'error') this.#lastError = event.error
  }

  async #sendChoices(): Promise<void> {
    const { configOptions: options } = await this.choices()
    this.#send({ sessionUpdate: 'config_option_update', configOptions: options })
  }

  #askApproval(approval: PendingToolApproval): void {
    const { toolCallId } = approval
    if (this.#asked.has(toolCallId)) return
    this.#asked.add(toolCallId)
    const { signal } = this.#cancelling
    void this.#ask(approval, approval.description, APPROVAL_OPTIONS)
      .then(async (outcome) => {
        if (signal.aborted) return
        const decision = approvalDecision(outcome)
        await this.#session.respondToToolApproval({ toolCallId, decision })
      })
      .catch((error: unknown) => this.#fail(error))
      .finally(() => this.#asked.delete(toolCallId))
  }

  /** Puts the questions of tools to the client, one after the other, until the run is over or needs words. */
  async #askQuestions(): Promise<void> {
    for (let next = this.#nextQuestion(); next !== undefined; next = this.#nextQuestion()) {
      const { toolCallId } = next
      const question = questionOf(next)
      const outcome = await this.#ask(next, question.title, question.options, question.text)
      if (this.#cancelling.signal.aborted) return
      await this.#session.respondToToolSuspension({ toolCallId, resumeData: question.answer(outcome) })
    }
    for (const open of this.#session.suspensions.list()) {
      const text = `\n\n${questionOf(open).text}`
      this.#send({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
    }
  }

  #nextQuestion(): PendingToolSuspension | undefined {
    if (this.#cancelling.signal.aborted) return undefined
    return this.#session.suspensions.list().find((each) => questionOf(each).options.length > 0)
  }

  async #ask(
    { args, toolCallId, toolName }: Pick<PendingToolApproval, 'args' | 'toolCallId' | 'toolName'>,
    title: string,
    options: readonly PermissionOption[],
    text = title,
  ): Promise<RequestPermissionOutcome> {
    const { signal } = this.#cancelling
    const request: RequestPermissionRequest = {
      sessionId: this.id,
      toolCall: {
        toolCallId,
        title: text === title && options === APPROVAL_OPTIONS ? toolTitle(toolName, args) : title,
        kind: toolKind(toolName),
        status: 'pending',
        rawInput: args,
        content: [{ type: 'content', content: { type: 'text', text } }],
      },
      options: [...options],
    }
    try {
      const { outcome } = await this.#client.request('session/request_permission', request, {
        cancellationSignal: signal,
        stopWaitingOnCancel: true,
      })
      return outcome
    } catch (error) {
      if (signal.aborted) return { outcome: 'cancelled' }
      throw error
    }
  }

  /** The first words of a conversation are its name. */
  async #title(content: string): Promise<void> {
    const title = oneLine(content)
    const thread = await this.#session.thread.getById({ threadId: this.id })
    if (title === '' || (thread?.title ?? '') !== '') return
    await this.#session.thread.rename({ title })
    this.#send({ sessionUpdate: 'session_info_update', title })
  }

  #result(before: TokenUsage): PromptResult {
    const isCancelled = this.#cancelling.signal.aborted || this.#lastEnd === 'aborted'
    if (!isCancelled && this.#lastEnd === 'error') {
      throw RequestError.internalError(undefined, this.#lastError?.message ?? 'The agent failed.')
    }
    const stopReason = isCancelled ? 'cancelled' : 'end_turn'
    const now = this.#session.getTokenUsage()
    const inputTokens = now.promptTokens - before.promptTokens
    const outputTokens = now.completionTokens - before.completionTokens
    return { stopReason, usage: { inputTokens, outputTokens, totalTokens: now.totalTokens - before.totalTokens } }
  }

  #send(update: SessionUpdate): void {
    // Notifications are written in the order of the calls. A client that has gone is noticed by its connection.
    this.#sent = this.#client.notify('session/update', { sessionId: this.id, update }).catch(() => undefined)
  }

  #fail(error: unknown): void {
    this.#warn(error instanceof Error ? error.message : String(error))
  }
}
