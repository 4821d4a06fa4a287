import {
  addUsage,
  NO_USAGE,
  subtractUsage,
  type AgentEvent,
  type CallOutcome,
  type CostedUsage,
  type ErrorData,
  type EventMeta,
  type FileEvent,
  type FinishEvent,
  type FinishReason,
  type JsonValue,
  type ReasoningDeltaEvent,
  type StepFinishEvent,
  type StepRequest,
  type StepStartEvent,
  type TextDeltaEvent,
  type ToolCallDeltaEvent,
  type ToolCallEvent,
  type ToolProgressEvent,
  type ToolResultEvent,
  type UsageMetadata,
  type UsageTotals,
} from '@inspan/protocol'
import type { BudgetLimit } from '@inspan/protocol/driver'
import type { BatchEvent, MessageEndedRecord, PartAddress, RecordBody, RunOutcome } from '@inspan/protocol/log'
import { extractRequest } from '../log/blobs.ts'
import { closeCalls } from './close-calls.ts'
import { PartTracker, type OpenPart, type PartKind } from './part-tracker.ts'
import { isUnpriced, pricedUsage, type PriceOf } from '../runs/priced-usage.ts'
import type { RecordOrigin } from '../log/record-body.ts'
import type { EndedStep } from '../runs/run-spending.ts'
import type { CommitExtras, ThreadLog } from '../log/thread-log.ts'
import { timeOrderedId } from '../../common/time-ordered-id.ts'

/** The key of the agent's own messages. For a foreign subagent the key is the id of the call that started it. */
const MAIN = ''

export interface RecorderOptions {
  readonly log: ThreadLog
  readonly newId?: () => string
  readonly runId: string
  readonly turnId: string
  readonly agentId: string
  readonly signal?: AbortSignal
  /** Set when an earlier process began the turn: the usage of the steps it recorded. */
  readonly usedBefore?: UsageTotals | undefined
  /** Set in the same case: how the last of those steps ended, whose calls may have no results yet. */
  readonly lastStep?: EndedStep | undefined
  readonly priceOf?: PriceOf | undefined
  /** Returns the model, for agents that do not report what they requested. */
  readonly model?: () => string | undefined
}

type SpokenEvent = TextDeltaEvent | ReasoningDeltaEvent

interface RecordedSpeaker {
  tracker: PartTracker
  step: number | undefined
  /** A message ends when its step is over and its calls are answered. */
  stepOver: boolean
  finish: Pick<MessageEndedRecord, 'finishReason' | 'usage' | 'error'> | undefined
}

/** Turns the events of one turn into records: messages, numbered parts, seals, steps. */
export class TurnRecorder {
  readonly #log: ThreadLog
  readonly #newId: () => string
  readonly #agentId: string
  readonly #turnId: string
  readonly #origin: RecordOrigin
  readonly #speakers = new Map<string, RecordedSpeaker>()
  readonly #callTracker = new Map<string, PartTracker>()
  /** The ids of calls ordered in this process, whose arguments are known as the agent gave them. */
  readonly #ordered = new Set<string>()
  readonly #signal: AbortSignal | undefined
  readonly #outcomes = new Map<string, CallOutcome>()
  readonly #priceOf: PriceOf | undefined
  readonly #modelOf: (() => string | undefined) | undefined
  readonly #usedBefore: UsageTotals
  #stepUsage: UsageTotals = NO_USAGE
  #hasUnpriced = false
  #step: number | undefined
  #stepError: ErrorData | undefined
  #finish: FinishEvent | undefined
  #outcome: RunOutcome | undefined
  #model: string | undefined
  #limit: BudgetLimit | undefined

  constructor(options: RecorderOptions) {
    this.#log = options.log
    this.#newId = options.newId ?? timeOrderedId
    this.#agentId = options.agentId
    this.#turnId = options.turnId
    this.#signal = options.signal
    this.#priceOf = options.priceOf
    this.#modelOf = options.model
    this.#origin = { run: options.runId, turn: options.turnId, by: options.agentId }
    this.#usedBefore = options.usedBefore ?? NO_USAGE
    if (options.usedBefore !== undefined) this.#resume(options.lastStep)
  }

  /** How the turn ended; `undefined` while it goes on. */
  get outcome(): RunOutcome | undefined {
    return this.#outcome
  }

  /** What the steps of the turn have used so far in this process. */
  get used(): UsageTotals {
    return this.#stepUsage
  }

  /** Whether the cost of some steps is unknown. */
  get hasUnpriced(): boolean {
    return this.#hasUnpriced
  }

  /** Whether the agent has sent its `finish`. */
  get isFinished(): boolean {
    return this.#finish !== undefined
  }

  /** The structured output, if the agent gave one. */
  get output(): JsonValue | undefined {
    return this.#finish?.meta?.['output']
  }

  /** Notes that the turn ends because of a budget limit. It then ends as complete, not as aborted. */
  noteLimit(limit: BudgetLimit): void {
    this.#limit ??= limit
  }

  /** Notes how a call ended, or will end if no result comes, when that is more than its result says. */
  noteOutcome(toolCallId: string, outcome: CallOutcome): void {
    this.#outcomes.set(toolCallId, outcome)
  }

  /** Removes the note: the result of the call says how it ended. */
  forgetOutcome(toolCallId: string): void {
    this.#outcomes.delete(toolCallId)
  }

  /** Returns the address of a call of this turn, for records about it. */
  callAddress(toolCallId: string): PartAddress | undefined {
    return this.#callTracker.get(toolCallId)?.call(toolCallId)
  }

  /** Whether this process has the arguments as the agent gave them; on record they may be redacted. */
  hasArguments(toolCallId: string): boolean {
    return this.#ordered.has(toolCallId)
  }

  /** Records an event. Returns a promise only for events that must be on disk before the turn goes on. */
  record(event: AgentEvent): Promise<void> | undefined {
    switch (event.type) {
      case 'text-delta':
      case 'reasoning-delta':
        this.#text(event)
        return undefined
      case 'file':
        this.#file(event)
        return undefined
      case 'tool-call-delta':
        this.#toolInput(event)
        return undefined
      case 'tool-call':
        this.#toolCall(event)
        return undefined
      case 'tool-progress':
        this.#progress(event)
        return undefined
      case 'tool-result':
        return this.#toolResult(event)
      case 'step-start':
        this.#stepStart(event)
        return undefined
      case 'step-finish':
        return this.#priceOf === undefined ? this.#stepFinish(event) : this.#pricedStep(event)
      case 'error':
        this.#sealTexts(event.parentToolCallId ?? MAIN)
        this.#stepError = event.error
        this.#log.add(event, this.#origin)
        return undefined
      case 'finish':
        // Written together with the end of the run, so that no open run has a finished turn.
        this.#finish ??= event
        return undefined
      case 'start':
      case 'tool-approval-request':
        // Recorded as `turn.started` and `wait.opened`, before the agent goes on.
        return undefined
    }
  }

  /**
   * Ends the turn, closes what is open and writes `more`, all in one transaction. A second call does nothing: a turn
   * has one finish. `failed` says that the agent broke off without one.
   */
  async finish(
    failed: boolean,
    more: (outcome: RunOutcome) => readonly RecordBody[] = () => [],
    extras?: () => CommitExtras,
  ): Promise<RunOutcome> {
    if (this.#outcome !== undefined) return this.#outcome
    const finishReason = this.#finishReason(failed)
    const outcome = this.#outcomeOf(finishReason)
    this.#outcome = outcome
    const isCut = outcome !== 'complete' || this.#limit !== undefined
    const bodies: RecordBody[] = []
    for (const [parent, speaker] of this.#speakers) {
      this.#sealTexts(parent, isCut ? { interrupted: true } : undefined)
      const isAborted = outcome === 'aborted' || this.#limit !== undefined
      bodies.push(...closeCalls(speaker.tracker, isAborted ? 'aborted' : 'in-doubt', this.#outcomes))
      bodies.push(this.#messageEnd(speaker, isCut && !speaker.stepOver ? 'interrupted' : 'done'))
    }
    this.#speakers.clear()
    const unreported = await this.unreportedUsage()
    bodies.push({
      type: 'turn.ended',
      turnId: this.#turnId,
      finishReason,
      outcome,
      ...(this.#finish?.usage === undefined ? {} : { usage: this.#finish.usage }),
      ...(unreported === undefined ? {} : { increment: { ...unreported, source: 'reported', scope: 'own' } }),
      ...(this.#limit === undefined ? {} : { limit: this.#limit }),
    })
    await this.#log.commit([...bodies, ...more(outcome)], this.#origin, extras?.())
    return outcome
  }

  /** Returns the usage that no step reported: some programs report only at the end of the turn. */
  async unreportedUsage(): Promise<CostedUsage | undefined> {
    const rest = subtractUsage(this.#finish?.usage ?? {}, addUsage(this.#usedBefore, this.#stepUsage))
    return rest === undefined ? undefined : this.#priced(rest)
  }

  #priced(usage: UsageMetadata): Promise<CostedUsage> {
    return pricedUsage(usage, this.#model ?? this.#modelOf?.(), this.#priceOf)
  }

  async #pricedStep(event: StepFinishEvent): Promise<void> {
    await this.#stepFinish(event, event.usage === undefined ? undefined : await this.#priced(event.usage))
  }

  #finishReason(failed: boolean): FinishReason {
    if (this.#limit !== undefined) return 'length'
    // An agent that was told to stop has not failed.
    if (this.#signal?.aborted === true) return this.#finish?.finishReason ?? 'other'
    return failed ? 'error' : (this.#finish?.finishReason ?? 'error')
  }

  /** Continues the open messages of the turn as they are in the log. */
  #resume(lastStep: EndedStep = { finishReason: 'tool-calls' }): void {
    const { head, messages } = this.#log.state
    this.#step = head.run?.step ?? undefined
    for (const message of messages) {
      if (message.state !== 'open' || message.turn !== this.#turnId) continue
      const tracker = PartTracker.of(message)
      for (const toolCallId of tracker.toolCallIds) this.#callTracker.set(toolCallId, tracker)
      const stepOver = head.run?.isStepOpen !== true
      this.#speakers.set(message.parentToolCallId ?? MAIN, {
        tracker,
        step: message.step,
        stepOver,
        // The step is over but the message is open: it waits for results of calls. Steps of subagents are not known.
        finish: stepOver && message.parentToolCallId === undefined ? lastStep : undefined,
      })
    }
  }

  /** Overrules the finish reason: an aborted agent may still say that it finished well. */
  #outcomeOf(finishReason: StepFinishEvent['finishReason']): RunOutcome {
    if (this.#limit !== undefined) return 'complete'
    if (this.#signal?.aborted === true) return 'aborted'
    return finishReason === 'error' ? 'error' : 'complete'
  }

  #text(event: SpokenEvent): void {
    const kind = event.type === 'text-delta' ? 'text' : 'reasoning'
    const parent = event.parentToolCallId ?? MAIN
    if (event.text === '' && this.#isOverAlready(event, kind, parent)) return
    const speaker = this.#speaker(parent)
    // A text without a `partId` goes on until something else is said.
    const key = event.partId ?? ''
    if (event.partId === undefined && speaker.tracker.openTexts.size > 0) this.#sealTexts(parent, undefined, kind)
    const part = speaker.tracker.open(kind, key)
    if (event.native !== undefined) part.extras = { ...part.extras, native: event.native }
    if (event.activity !== undefined) part.extras = { ...part.extras, activity: event.activity }
    if (event.text !== '') {
      part.text += event.text
      this.#log.delta(addressed(event, part), this.#origin)
    }
    if (event.meta?.['end'] === true) this.#seal(speaker.tracker, part, withoutEnd(event.meta))
  }

  /** Whether the event only ends a text that was sealed before: some agents report its end after what followed it. */
  #isOverAlready({ activity, meta, native, partId }: SpokenEvent, kind: PartKind, parent: string): boolean {
    const speaker = this.#speakers.get(parent)
    if (speaker === undefined || speaker.stepOver || partId === undefined) return false
    const saysMore = activity !== undefined || native !== undefined || withoutEnd(meta ?? {}) !== undefined
    return !saysMore && speaker.tracker.size > 0 && !speaker.tracker.isOpen(kind, partId)
  }

  #file(event: FileEvent): void {
    const parent = event.parentToolCallId ?? MAIN
    this.#sealTexts(parent)
    this.#log.add({ ...event, ...this.#speaker(parent).tracker.next() }, this.#origin)
  }

  #toolInput(event: ToolCallDeltaEvent): void {
    const parent = event.parentToolCallId ?? MAIN
    this.#sealTexts(parent)
    const part = this.#speaker(parent).tracker.open('tool-call', event.toolCallId)
    // Kept in case the input never ends: a closed call still names its tool.
    part.text ||= event.toolName ?? ''
    this.#log.delta(addressed(event, part), this.#origin)
  }

  #toolCall(event: ToolCallEvent): void {
    // A call that is announced twice is still one call with one result.
    if (this.#callTracker.get(event.toolCallId)?.call(event.toolCallId)?.isEnded === false) return
    const parent = event.parentToolCallId ?? MAIN
    this.#sealTexts(parent)
    const { tracker } = this.#speaker(parent)
    const address = tracker.take('tool-call', event.toolCallId)
    tracker.order(event.toolCallId, event.toolName, address)
    this.#callTracker.set(event.toolCallId, tracker)
    this.#ordered.add(event.toolCallId)
    // A provider starts its own calls at once: without a result nobody knows what became of one.
    if (event.meta?.['providerExecuted'] === true) this.noteOutcome(event.toolCallId, 'in-doubt')
    this.#log.add({ ...event, ...address }, this.#origin)
  }

  #progress(event: ToolProgressEvent): void {
    const tracker = this.#trackerOf(event)
    this.#log.delta(addressed(event, tracker.open('tool-result', event.toolCallId)), this.#origin)
  }

  async #toolResult(event: ToolResultEvent): Promise<void> {
    const tracker = this.#trackerOf(event)
    const call = tracker.answer(event.toolCallId)
    if (event.meta?.['providerExecuted'] === true) this.forgetOutcome(event.toolCallId)
    const outcome = this.#outcomes.get(event.toolCallId)
    const body: RecordBody = {
      ...event,
      ...tracker.take('tool-result', event.toolCallId),
      ...(call === undefined ? {} : { call: { messageId: call.messageId, partId: call.partId } }),
      ...(outcome === undefined ? {} : { outcome }),
    }
    await this.#log.commit([body, ...this.#endedMessages()], this.#origin)
  }

  #stepStart({ stepIndex, meta }: StepStartEvent): void {
    const speaker = this.#speakers.get(MAIN)
    if (speaker !== undefined) {
      this.#sealTexts(MAIN)
      this.#speakers.delete(MAIN)
      this.#log.add(this.#messageEnd(speaker, 'done'), this.#origin)
    }
    this.#step = stepIndex
    this.#stepError = undefined
    const request = meta?.['request']
    if (request === undefined) {
      this.#log.add({ type: 'step.started', stepIndex }, this.#origin)
      return
    }
    const { system, ...asked } = request as StepRequest
    const { body, blobs } = extractRequest(
      system === undefined ? asked : { ...asked, system: this.#log.redacted(system) },
    )
    this.#model = body.model
    this.#log.add({ type: 'step.started', stepIndex, request: body }, this.#origin, blobs)
  }

  #stepFinish(event: StepFinishEvent, priced: CostedUsage | undefined = event.usage): Promise<void> | undefined {
    this.#sealTexts(MAIN)
    const { meta, stepIndex, finishReason, usage } = event
    if (priced !== undefined) {
      this.#stepUsage = addUsage(this.#stepUsage, priced)
      this.#hasUnpriced ||= isUnpriced(priced)
    }
    const isFailed = meta?.['error'] !== undefined
    if (isFailed) this.#stepError ??= meta['error'] as unknown as ErrorData
    const speaker = this.#speakers.get(MAIN)
    // The calls of a failed attempt are not carried out.
    const closed = isFailed && speaker !== undefined ? closeCalls(speaker.tracker, 'aborted', this.#outcomes) : []
    if (speaker !== undefined) {
      speaker.stepOver = true
      speaker.finish = { finishReason, ...(usage === undefined ? {} : { usage }), ...this.#failure(finishReason) }
    }
    const bodies: RecordBody[] = [
      ...closed,
      {
        type: 'step.ended',
        stepIndex,
        finishReason,
        ...(priced === undefined ? {} : { usage: { ...priced, source: 'reported', scope: 'own' } }),
        ...this.#failure(finishReason),
      },
      ...this.#endedMessages(),
    ]
    if (closed.length > 0) return this.#commit(bodies)
    for (const body of bodies) this.#log.add(body, this.#origin)
    return undefined
  }

  async #commit(bodies: readonly RecordBody[]): Promise<void> {
    await this.#log.commit(bodies, this.#origin)
  }

  /** Returns the error of a failed attempt: its text stays visible but leaves the model's context. */
  #failure(finishReason: StepFinishEvent['finishReason']): { error?: ErrorData } {
    return finishReason === 'error' && this.#stepError !== undefined ? { error: this.#stepError } : {}
  }

  #speaker(parent: string): RecordedSpeaker {
    const existing = this.#speakers.get(parent)
    if (existing !== undefined && !existing.stepOver) return existing
    if (existing !== undefined) this.#log.add(this.#messageEnd(existing, 'done'), this.#origin)
    const messageId = this.#newId()
    const speaker: RecordedSpeaker = {
      tracker: new PartTracker(messageId),
      step: parent === MAIN ? this.#step : undefined,
      stepOver: false,
      finish: undefined,
    }
    this.#speakers.set(parent, speaker)
    this.#log.add(
      {
        type: 'message.started',
        messageId,
        role: 'assistant',
        by: this.#agentId,
        ...(speaker.step === undefined ? {} : { step: speaker.step }),
        ...(parent === MAIN ? {} : { parentToolCallId: parent }),
      },
      this.#origin,
    )
    return speaker
  }

  /** Returns the tracker of the message that holds the call. A result without a call starts or joins a message. */
  #trackerOf(event: ToolResultEvent | ToolProgressEvent): PartTracker {
    return this.#callTracker.get(event.toolCallId) ?? this.#speaker(event.parentToolCallId ?? MAIN).tracker
  }

  /** Seals the open texts of a speaker, except those of the kind `except`, which goes on. */
  #sealTexts(parent: string, meta?: EventMeta, except?: PartKind): void {
    const tracker = this.#speakers.get(parent)?.tracker
    if (tracker === undefined) return
    for (const part of tracker.openTexts) {
      if (part.kind !== except) this.#seal(tracker, part, meta)
    }
  }

  #seal(tracker: PartTracker, part: OpenPart, meta?: EventMeta): void {
    const address = tracker.take(part.kind, part.key)
    this.#log.add(
      {
        type: part.kind === 'reasoning' ? 'reasoning-delta' : 'text-delta',
        ...address,
        text: part.text,
        ...part.extras,
        ...(meta === undefined ? {} : { meta }),
      },
      this.#origin,
    )
  }

  /** Ends the messages whose step is over and whose calls all have results. */
  #endedMessages(): RecordBody[] {
    const bodies: RecordBody[] = []
    for (const [parent, speaker] of this.#speakers) {
      if (!speaker.stepOver || !speaker.tracker.isAnswered) continue
      this.#speakers.delete(parent)
      bodies.push(this.#messageEnd(speaker, 'done'))
    }
    return bodies
  }

  #messageEnd(speaker: RecordedSpeaker, outcome: 'done' | 'interrupted'): RecordBody {
    return { type: 'message.ended', messageId: speaker.tracker.messageId, outcome, ...speaker.finish }
  }
}

function addressed(
  event: TextDeltaEvent | ReasoningDeltaEvent | ToolCallDeltaEvent | ToolProgressEvent,
  part: PartAddress,
): BatchEvent {
  return { ...event, messageId: part.messageId, partId: part.partId }
}

function withoutEnd(meta: EventMeta): EventMeta | undefined {
  const { end: _end, ...rest } = meta
  return Object.keys(rest).length === 0 ? undefined : rest
}
