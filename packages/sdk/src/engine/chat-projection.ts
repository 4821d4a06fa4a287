import {
  addUsage,
  NO_USAGE,
  toError,
  type ToolCallPart,
  type UsageIncrement,
  type UsageMetadata,
  type Wait,
} from '@inspan/protocol'
import {
  toChatEvent,
  type ChatEvent,
  type ChatStepFinishEvent,
  type ChatToolOrigin,
  type OperationUsage,
  type ToolApprovalMode,
} from '@inspan/protocol/chat'
import type { BatchEvent, LogRecord, RunEndedRecord, StepEndedRecord, ThreadState } from '@inspan/protocol/log'
import type { ChatTurn } from '../chat-turn.ts'

export interface ProjectionPorts {
  readonly turn: ChatTurn
  /** How requests for approval are shown. Requests that come although none was asked for are shown one by one. */
  readonly approval: ToolApprovalMode | undefined
  /** Errors are shown when the run has failed, and not if it is parked and goes on. */
  readonly holdsErrors: boolean
  /** Whether the agent runs its tools itself, so that the result of an approved call may come under another id. */
  readonly isForeign: boolean
  readonly isConsumerTool: (toolName: string) => boolean
  /** What the source of a tool declares about it. The log keeps only the hints that call for caution. */
  readonly originOf: (toolName: string) => ChatToolOrigin
  /** Called when a request is due. Returns false if it needs no answer of a person any more. */
  readonly isWanted: (wait: Wait) => boolean
}

const INTERRUPTED = 'The turn was interrupted: its process ended before it did.'

/** Turns the log of one run into the events of one chat turn. */
export class ChatProjection {
  readonly #ports: ProjectionPorts
  /** The parts whose deltas were shown, and the last of them: most deltas continue that one. */
  readonly #shownParts = new Set<string>()
  #lastMessage = ''
  #lastPart = ''
  readonly #origins = new Map<string, ChatToolOrigin & { readonly toolName: string }>()
  /** Requests that are not shown yet, the oldest first, and the one that is shown. Only for serial approval. */
  readonly #unshown: Wait[] = []
  #shown: Wait | undefined
  /** For batch approval: the calls of the step that have neither begun nor asked, and the end of the step. */
  readonly #undecided = new Set<string>()
  #heldErrors: ChatEvent[] = []
  #heldFinish: ChatStepFinishEvent | undefined
  #steps = 0
  #stepUsage: UsageMetadata = {}
  #turnUsage: UsageMetadata | undefined
  #costUsd: number | undefined
  #estimatedUsd: number | undefined
  #isEstimated = false
  #finishReason: ChatStepFinishEvent['finishReason'] = 'other'

  constructor(ports: ProjectionPorts) {
    this.#ports = ports
  }

  /** What the turn has used so far. */
  get usage(): OperationUsage | undefined {
    const usage = this.#turnUsage ?? this.#stepUsage
    if (Object.keys(usage).length === 0) return undefined
    return {
      ...usage,
      ...(this.#costUsd === undefined ? {} : { costUsd: this.#costUsd }),
      ...(this.#estimatedUsd === undefined ? {} : { estimatedUsd: this.#estimatedUsd }),
      source: this.#isEstimated ? 'estimated' : 'reported',
    }
  }

  /** Whether a person was shown the request for this call. */
  isShown(wait: Wait): boolean {
    return !this.#unshown.includes(wait) && !this.#unshown.some(({ id }) => id === wait.id)
  }

  /** Begins with a run that waits: shows the calls and requests that are open. */
  resume({ head, messages }: ThreadState): void {
    this.#steps = (head.run?.step ?? -1) + 1
    this.#push({ type: 'start' })
    for (const { parts } of messages) {
      for (const part of parts) {
        if (part.type === 'tool-call' && part.state === undefined && part.call.stage !== 'ended') this.#announce(part)
      }
    }
    for (const wait of head.waits) if (wait.run === head.run?.runId) this.#opened(wait)
  }

  delta(event: BatchEvent): void {
    if (event.messageId !== this.#lastMessage || event.partId !== this.#lastPart) {
      this.#lastMessage = event.messageId
      this.#lastPart = event.partId
      this.#shownParts.add(`${event.messageId}/${event.partId}`)
    }
    if (event.parentToolCallId !== undefined && (event.type === 'text-delta' || event.type === 'reasoning-delta')) {
      this.#subagentSays(event.parentToolCallId, event.text)
    } else {
      this.#push(toChatEvent(event))
    }
  }

  record({ at, body }: LogRecord): void {
    switch (body.type) {
      case 'run.started':
        this.#push({ type: 'start' })
        return
      case 'text-delta':
      case 'reasoning-delta':
        if (this.#shownParts.delete(`${body.messageId}/${body.partId}`) || body.text === '') return
        if (body.parentToolCallId === undefined) this.#push({ type: body.type, text: body.text })
        else this.#subagentSays(body.parentToolCallId, body.text)
        return
      case 'tool-call':
        // Cut off before its input was complete: it never became a call.
        if (body.meta?.interrupted !== true) this.#announce(body)
        return
      case 'call.started':
        // A tool of the caller begins and then waits for its result.
        if (!this.#ports.isConsumerTool(this.#origins.get(body.toolCallId)?.toolName ?? '')) {
          this.#decided(body.toolCallId)
        }
        return
      case 'tool-result':
        this.#result(body)
        return
      case 'wait.opened':
        if (body.answered !== true) this.#opened({ ...body.wait, openedAt: 0, at: 0 })
        return
      case 'wait.answered':
        this.#settled(body.waitId, this.#ports.isForeign)
        return
      case 'wait.cancelled':
      case 'wait.superseded':
        this.#settled(body.waitId, true)
        return
      case 'step.started':
        this.#releaseFinish()
        this.#push({ type: 'step-start', stepIndex: this.#steps })
        return
      case 'step.ended':
        this.#stepEnded(body)
        return
      case 'error':
        if (this.#ports.holdsErrors) this.#heldErrors.push(withReset(toChatEvent(body), body, at))
        else this.#push(withReset(toChatEvent(body), body, at))
        return
      case 'run.parked':
        this.#heldErrors = []
        return
      case 'turn.ended':
        this.#finishReason = body.finishReason
        if (body.usage !== undefined) this.#turnUsage = sum(this.#turnUsage ?? {}, body.usage)
        this.#count(body.increment)
        return
      case 'run.ended':
        this.#ended(body)
        return
      default:
    }
  }

  #push(event: ChatEvent | undefined): void {
    if (event !== undefined) this.#ports.turn.push(event)
  }

  #announce(call: Pick<ToolCallPart, 'toolCallId' | 'toolName' | 'args' | 'serverName' | 'annotations'>): void {
    const { toolCallId, toolName, args } = call
    const origin = { ...originOf(call), ...this.#ports.originOf(toolName) }
    this.#origins.set(toolCallId, { ...origin, toolName })
    if (this.#ports.approval === 'batch') this.#undecided.add(toolCallId)
    this.#push({ type: 'tool-call', toolCallId, toolName, args, ...origin })
  }

  #result(body: Extract<LogRecord['body'], { type: 'tool-result' }>): void {
    const { toolCallId, toolName } = body
    this.#decided(toolCallId)
    const known = this.#origins.get(toolCallId)
    const event = toChatEvent({ ...body, ...originOf(known ?? {}) })
    const isUnexplained = body.isError === true && body.error === undefined && typeof body.result === 'string'
    this.#push(
      isUnexplained && body.result !== '' && event.type === 'tool-result'
        ? { ...event, error: new Error(body.result) }
        : event,
    )
    this.#origins.delete(toolCallId)
    if (this.#shown?.subject.toolCallId === toolCallId || (this.#shown?.subject.toolName === toolName && !known)) {
      this.#showNext()
    }
  }

  #opened(wait: Wait): void {
    if (wait.kind === 'limit') return
    const { toolCallId = wait.id, toolName = wait.kind, args = {} } = wait.subject
    // A program may ask about something that it has not announced as a call.
    if (!this.#origins.has(toolCallId)) this.#announce({ toolCallId, toolName, args })
    if (wait.kind === 'approval') {
      if (this.#ports.approval === 'batch') this.#request(wait)
      else {
        this.#unshown.push(wait)
        if (this.#shown === undefined) this.#showNext()
      }
    }
    this.#decided(toolCallId)
  }

  #showNext(): void {
    this.#shown = undefined
    for (let wait = this.#unshown.shift(); wait !== undefined; wait = this.#unshown.shift()) {
      if (!this.#ports.isWanted(wait)) continue
      this.#shown = wait
      this.#request(wait)
      return
    }
  }

  #request({ id, kind, subject }: Wait): void {
    const { toolCallId = id, toolName = kind, args = {} } = subject
    const { toolName: _name, ...origin } = this.#origins.get(toolCallId) ?? { toolName }
    this.#push({ type: 'tool-approval-request', toolCall: { toolCallId, toolName, args }, ...origin })
  }

  /** The next request is shown when the answered call has its result, or at once if no result can be waited for. */
  #settled(waitId: string, isOver: boolean): void {
    const at = this.#unshown.findIndex(({ id }) => id === waitId)
    if (at >= 0) this.#unshown.splice(at, 1)
    const shown = this.#shown
    if (shown?.id !== waitId) return
    if (isOver || !this.#origins.has(shown.subject.toolCallId ?? waitId)) this.#showNext()
  }

  #stepEnded({ finishReason, usage }: StepEndedRecord): void {
    const {
      source: _source,
      scope: _scope,
      costUsd: _cost,
      estimatedUsd: _estimated,
      uncounted: _uncounted,
      ...tokens
    } = usage ?? {}
    const isCounted = usage !== undefined
    this.#count(usage)
    const event: ChatStepFinishEvent = {
      type: 'step-finish',
      stepIndex: this.#steps++,
      finishReason,
      ...(isCounted && Object.keys(tokens).length > 0 ? { usage: tokens } : {}),
    }
    this.#stepUsage = sum(this.#stepUsage, tokens)
    // In a batch, the end of the step says that all its requests are on the stream.
    this.#heldFinish = event
    if (this.#undecided.size === 0) this.#releaseFinish()
  }

  #decided(toolCallId: string): void {
    if (this.#undecided.delete(toolCallId) && this.#undecided.size === 0) this.#releaseFinish()
  }

  #releaseFinish(): void {
    const held = this.#heldFinish
    this.#heldFinish = undefined
    this.#undecided.clear()
    this.#push(held)
  }

  #count(usage: Pick<UsageIncrement, 'costUsd' | 'estimatedUsd' | 'source'> | undefined): void {
    if (usage?.costUsd !== undefined) this.#costUsd = (this.#costUsd ?? 0) + usage.costUsd
    if (usage?.estimatedUsd !== undefined) this.#estimatedUsd = (this.#estimatedUsd ?? 0) + usage.estimatedUsd
    if (usage?.source === 'estimated') this.#isEstimated = true
  }

  #subagentSays(parentToolCallId: string, output: string): void {
    const toolName = this.#origins.get(parentToolCallId)?.toolName ?? 'subagent'
    this.#push({ type: 'tool-progress', toolCallId: parentToolCallId, toolName, output, parentToolCallId })
  }

  #ended({ error, outcome }: RunEndedRecord): void {
    this.#releaseFinish()
    for (const event of this.#heldErrors) this.#push(event)
    const { turn } = this.#ports
    const tokens = this.#turnUsage ?? this.#stepUsage
    const usage = Object.keys(tokens).length === 0 ? undefined : tokens
    if (outcome === 'complete') turn.finish(this.#finishReason, usage)
    else if (outcome === 'aborted') turn.finish('other', usage)
    else {
      if (!turn.hasFailed) {
        const failure = error === undefined ? new Error(INTERRUPTED) : toError(error)
        const code = error?.code ?? outcome
        turn.push({ type: 'error', error: failure, code })
      }
      turn.finish('error', usage)
    }
  }
}

/** Adds when a provider that refused the request takes requests again, if it said so. */
function withReset(event: ChatEvent, { meta }: Extract<LogRecord['body'], { type: 'error' }>, at: number): ChatEvent {
  const retry = meta?.['retry'] as { readonly retryAfterMs?: number } | undefined
  if (event.type !== 'error' || retry?.retryAfterMs === undefined) return event
  const { retryAfterMs } = retry
  return { ...event, error: Object.assign(event.error, { retryAfterMs, resetsAt: at + retryAfterMs }) }
}

/** Adds usages. Counts that neither reported stay unreported. */
function sum(a: UsageMetadata, b: UsageMetadata): UsageMetadata {
  const total = addUsage(addUsage(NO_USAGE, a), b)
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])] as (keyof UsageMetadata)[]
  return Object.fromEntries(keys.map((key) => [key, total[key]]))
}

function originOf({ annotations, serverName }: ChatToolOrigin): ChatToolOrigin {
  return {
    ...(annotations === undefined ? {} : { annotations }),
    ...(serverName === undefined ? {} : { serverName }),
  }
}
