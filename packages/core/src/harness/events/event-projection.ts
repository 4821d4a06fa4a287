import type { JsonValue, Part, ThreadMessage, UsageMetadata, Wait } from '@inspan/protocol'
import {
  toHarnessContent,
  toHarnessMessage,
  toTokenUsage,
  type EventPlace,
  type HarnessEvent,
  type HarnessEventType,
  type HarnessMessage,
  type PlacedEvent,
} from '@inspan/protocol/harness'
import { configEvents, contentEvent, errorEvent, noteEvent, queueEvents } from '@inspan/protocol/internal'
import type {
  BatchEvent,
  Head,
  LogRecord,
  MessageAddedRecord,
  RunOutcome,
  SealedPart,
  ThreadState,
} from '@inspan/protocol/log'
import { freezeDeep } from '../../common/frozen.ts'
import type { LogEntry } from '../../engine/index.ts'
import { activityEvents } from './activity-events.ts'
import type { DisplayState } from './display-state.ts'
import { editedFiles } from './edited-files.ts'
import { GrowingMessage } from './growing-message.ts'
import { InlineSubagents } from './inline-subagents.ts'
import { isSuspended, pendingApproval, pendingSuspension } from './pending-waits.ts'

/** Emitted with every delta. Freezing is much of their cost, so it is done only when several listeners share them. */
const STREAMED: ReadonlySet<HarnessEventType> = new Set([
  'message_update',
  'tool_input_delta',
  'tool_update',
  'shell_output',
  'subagent_text_delta',
])

type TextDelta = Extract<BatchEvent, { type: 'text-delta' | 'reasoning-delta' }>

export interface ProjectionOptions {
  readonly display: DisplayState
  readonly place: EventPlace
  readonly emit: (event: HarnessEvent) => void
  /** Emits the two events of a delta; the display is up to date already. */
  readonly emitGrowth: (piece: PlacedEvent, update: PlacedEvent) => void
  /** False when nobody listens: what only listeners would see need not be made. */
  readonly isHeard: () => boolean
  /** True when there is more than one listener. */
  readonly isShared: () => boolean
  /** Called when something that is shown has changed without an event. */
  readonly onShown: () => void
  /** Called when the run is over or waits for an answer, to release those who await it. */
  readonly onRest: (runId: string) => void
  readonly defaultModeId: string
  readonly modelScope: () => 'global' | 'thread' | 'mode'
  /** Returns the path of the file that a call has changed. */
  readonly editedFile: (call: Extract<Part, { type: 'tool-call' }>) => string | undefined
}

/**
 * Turns the log entries of a thread into events. Each entry costs only what it brings, whatever the length of message
 * and thread: all that is known besides the entry is whether the run is at work and which inputs are streaming in.
 */
export class EventProjection {
  readonly #options: ProjectionOptions
  #head: Head
  #runId: string | undefined
  /** The run that was at work when the session was bound, until `announce` reports it. */
  #joined: string | undefined
  readonly #inputs = new Set<string>()
  /** Set only while a message grows; most open threads are idle. */
  #growing: GrowingMessage | undefined
  readonly #subagents: InlineSubagents
  /** When the newest record was made. */
  #at = 0
  /** An error was reported since the newest message began. */
  #hasFailed = false
  /** The newest message of the run ended badly. */
  #endedBadly = false

  constructor(options: ProjectionOptions, state: ThreadState) {
    const emit = (event: HarnessEvent): void =>
      options.emit(STREAMED.has(event.type) && !options.isShared() ? event : freezeDeep(event))
    this.#options = { ...options, emit }
    this.#subagents = new InlineSubagents(emit)
    this.#head = state.head
    const { run } = state.head
    if (run !== null && !isSuspended(state.head)) this.#runId = run.runId
    options.display.reset(state.head, this.isRunning)
    if (run !== null) options.display.catchUp([...state.messages])
    this.#joined = this.#runId
  }

  /** False while the run waits only for answers to tools' questions: for listeners it is over until then. */
  get isRunning(): boolean {
    return this.#runId !== undefined
  }

  /** Emits what goes on in a thread that a session was just bound to: the run at work, once, and the open waits. */
  announce(): void {
    if (this.isRunning && this.#joined === this.#runId) this.#options.emit({ type: 'agent_start' })
    this.#joined = undefined
    for (const wait of this.#head.waits) this.#waitOpened(wait)
  }

  /** The session leaves the thread. The run may go on waiting without it. */
  leave(): void {
    this.#end('suspended')
  }

  /**
   * `isOlder`: the entry is from before the session was bound. Choices made then are reported with the thread itself.
   */
  entry(entry: LogEntry, isOlder = false): void {
    const { state } = entry
    if (entry.kind === 'delta') this.#delta(entry.event, state)
    else {
      const before = this.#head
      this.#head = state.head
      const isShown = this.#options.display.follow(state.head)
      if (!isOlder || entry.record.body.type !== 'config.changed') this.#record(entry.record, state, before)
      if (isShown) this.#options.onShown()
    }
  }

  #delta(event: BatchEvent, state: ThreadState): void {
    const message = messageOf(state, event.messageId)
    if (event.type === 'text-delta' || event.type === 'reasoning-delta') {
      if (message === undefined) return
      if (message.parentToolCallId === undefined) this.#said(event, message)
      else if (event.type === 'text-delta') this.#subagents.of(message.parentToolCallId, state).said(event.text)
      return
    }
    if (message?.parentToolCallId !== undefined) return
    const { emit } = this.#options
    const { toolCallId } = event
    if (event.type === 'tool-call-delta') {
      const { argsTextDelta, toolName } = event
      if (!this.#inputs.has(toolCallId)) {
        this.#inputs.add(toolCallId)
        emit({ type: 'tool_input_start', toolCallId, toolName: toolName ?? '' })
      }
      const named = toolName === undefined ? {} : { toolName }
      emit({ type: 'tool_input_delta', toolCallId, argsTextDelta, ...named })
      return
    }
    const stream = event.meta?.['stream']
    if (stream === 'stdout' || stream === 'stderr') {
      emit({ type: 'shell_output', toolCallId, output: event.output ?? '', stream })
      return
    }
    const part = message?.parts.at(Number(event.partId))
    const partialResult = part?.type === 'tool-result' ? (part.output ?? '') : (event.output ?? '')
    emit({ type: 'tool_update', toolCallId, partialResult })
  }

  /** Text deltas are nearly all that ever happens, so they take the shortest path. */
  #said(delta: TextDelta, message: ThreadMessage): void {
    const { display, emitGrowth, isHeard, isShared, place } = this.#options
    display.show(message)
    if (!isHeard()) return
    const { messageId, text } = delta
    const { sessionId, threadId } = place
    const partIndex = Number(delta.partId)
    const piece: PlacedEvent =
      delta.type === 'text-delta'
        ? { type: 'text', text, messageId, partIndex, threadId, sessionId }
        : { type: 'thinking', thinking: text, messageId, partIndex, threadId, sessionId }
    const isFrozen = isShared()
    const grown = this.#grown(message, isFrozen)
    const update: PlacedEvent = { type: 'message_update', message: grown, threadId, sessionId }
    if (isFrozen) emitGrowth(Object.freeze(piece), freezeDeep(update))
    else emitGrowth(piece, update)
  }

  #record({ at, body, run }: LogRecord, state: ThreadState, before: Head): void {
    const { defaultModeId, emit, modelScope } = this.#options
    this.#at = at
    switch (body.type) {
      case 'run.started':
      case 'run.resumed':
        this.#start(body.runId)
        return
      case 'run.parked':
        if (isSuspended(state.head)) this.#end('suspended')
        return
      case 'run.ended':
        this.#runId ??= body.runId
        this.#end(this.#reasonOf(body.outcome), body.output)
        return
      case 'message.added':
        this.#added(body, at)
        return
      case 'message.started':
        if (body.parentToolCallId !== undefined) {
          this.#subagents.of(body.parentToolCallId, state, at).spoke()
          return
        }
        this.#hasFailed = false
        this.#message('message_start', messageOf(state, body.messageId))
        return
      case 'message.ended':
        this.#messageEnded(messageOf(state, body.messageId))
        return
      case 'text-delta':
      case 'reasoning-delta':
      case 'file':
      case 'tool-call':
      case 'tool-result':
        this.#sealed(body, state, at)
        for (const event of activityEvents(body, state.head)) emit(event)
        return
      case 'step.ended':
      case 'child.ended':
        if (body.usage !== undefined) this.#usage(body.usage)
        return
      case 'turn.ended':
        if (body.increment !== undefined) this.#usage(body.increment)
        return
      case 'wait.opened': {
        const wait = state.head.waits.get(body.wait.id)
        // Waits for a limit or a subagent are settled by the engine, and one that is answered already asks nobody.
        const isAsked = body.answered !== true && wait?.kind !== 'limit' && wait?.kind !== 'child'
        if (wait !== undefined && isAsked) this.#waitOpened(wait)
        // The run may be parked already: for a subagent, which asks now.
        if (isSuspended(state.head)) this.#end('suspended')
        return
      }
      case 'wait.answered':
      case 'wait.superseded':
      case 'wait.cancelled':
        // The subagent goes on, and the run with it.
        if (state.head.run !== null && isSuspended(before) && !isSuspended(state.head) && state.head.waits.size > 0)
          this.#start(state.head.run.runId)
        return
      case 'queue.added':
      case 'queue.removed':
        queueEvents(before, state.head, run).forEach(emit)
        return
      case 'config.changed':
        configEvents(body, before, { defaultModeId, scope: modelScope() }).forEach(emit)
        return
      case 'rewind':
        this.#rewound(state.head, before)
        return
      case 'tasks.changed':
        if (before.tasks !== state.head.tasks) emit({ type: 'task_updated', tasks: state.head.tasks })
        return
      case 'error':
        this.#hasFailed = true
        emit(errorEvent(body))
        return
      case 'note': {
        const event = noteEvent(body)
        if (event !== undefined) emit(event)
        for (const each of activityEvents(body, state.head)) emit(each)
        return
      }
      default:
    }
  }

  /** Listeners have to read the messages again, as when another thread was chosen. */
  #rewound({ stream, tasks }: Head, before: Head): void {
    const { display, emit } = this.#options
    display.rewind()
    emit({ type: 'thread_changed', threadId: stream, previousThreadId: stream })
    if (before.tasks !== tasks) emit({ type: 'task_updated', tasks })
  }

  #start(runId: string): void {
    if (this.#runId !== undefined) return
    this.#runId = runId
    this.#endedBadly = false
    this.#options.emit({ type: 'agent_start' })
  }

  #end(reason: 'complete' | 'aborted' | 'error' | 'suspended', output?: JsonValue): void {
    const runId = this.#runId
    if (runId === undefined) return
    this.#runId = undefined
    this.#inputs.clear()
    if (reason !== 'suspended') this.#subagents.endAll(reason !== 'complete', this.#at)
    this.#options.emit({ type: 'agent_end', reason, ...(output === undefined ? {} : { output }) })
    this.#options.onRest(runId)
  }

  /** A run whose answer was cut off at a limit or withheld is not reported as complete. */
  #reasonOf(outcome: RunOutcome): 'complete' | 'aborted' | 'error' {
    if (outcome === 'complete') return this.#endedBadly ? 'error' : 'complete'
    return outcome === 'interrupted' ? 'aborted' : outcome
  }

  #added(body: MessageAddedRecord, at: number): void {
    const { emit } = this.#options
    const message = toHarnessMessage({
      id: body.messageId,
      role: body.role,
      order: 0,
      at: body.createdAt ?? at,
      state: 'done',
      parts: body.parts,
      ...(body.meta === undefined ? {} : { meta: body.meta }),
    })
    emit({ type: 'message_start', message })
    body.parts.forEach((part, partIndex) => {
      // `text` events carry what an agent says: a program that prints them must not print the user's own words.
      if (part.type !== 'text') this.#content(part, body.messageId, partIndex)
    })
    emit({ type: 'message_end', message })
  }

  #messageEnded(message: ThreadMessage | undefined): void {
    if (message === undefined || message.parentToolCallId !== undefined) return
    const shown = toHarnessMessage(message)
    this.#growing = undefined
    this.#endedBadly = shown.stopReason === 'error'
    if (this.#endedBadly && !this.#hasFailed) {
      const error = new Error(shown.errorMessage ?? 'The model ended with an error.')
      this.#options.emit({ type: 'error', error, errorType: message.finishReason ?? 'error' })
    }
    this.#options.emit({ type: 'message_end', message: shown })
  }

  #message(type: 'message_start' | 'message_update', message: ThreadMessage | undefined): void {
    if (message === undefined || message.parentToolCallId !== undefined) return
    if (type === 'message_update') this.#options.display.show(message)
    this.#options.emit({ type, message: this.#grown(message, this.#options.isShared()) })
  }

  #grown(message: ThreadMessage, isFrozen: boolean): HarnessMessage {
    this.#growing ??= new GrowingMessage()
    return this.#growing.next(message, isFrozen)
  }

  #sealed(body: SealedPart, state: ThreadState, at: number): void {
    const { emit } = this.#options
    const message = messageOf(state, body.messageId)
    const part = message?.parts.at(Number(body.partId))
    if (message === undefined || part === undefined) return
    if (message.parentToolCallId !== undefined) {
      this.#sealedInSubagent(message.parentToolCallId, message, part, state, at)
    } else if (part.type === 'tool-call') {
      if (this.#inputs.delete(part.toolCallId)) emit({ type: 'tool_input_end', toolCallId: part.toolCallId })
      this.#content(part, message.id, Number(part.id))
      // A call whose input was cut off never started: it has no result either.
      if (body.meta?.interrupted !== true) {
        emit({ type: 'tool_start', toolCallId: part.toolCallId, toolName: part.toolName, args: part.args })
      }
      this.#message('message_update', message)
    } else if (part.type === 'tool-result') {
      this.#subagents.ended(part, at)
      this.#content(part, message.id, Number(part.id))
      const content = toHarnessContent(part)
      if (content?.type === 'tool_result') {
        const { isError, providerMetadata, result } = content
        const more = providerMetadata === undefined ? {} : { providerMetadata }
        const did = body.activity === undefined ? {} : { activity: body.activity.events }
        const { toolCallId, toolName } = part
        emit({ type: 'tool_end', toolCallId, toolName, result, isError, ...more, ...did })
        if (!isError) this.#noteFiles(message, part, at)
      }
      this.#message('message_update', message)
    } else if (part.type === 'image' || part.type === 'file') {
      this.#content(part, message.id, Number(part.id))
      this.#message('message_update', message)
    } else {
      // Listeners got the text in pieces. When it is sealed, something may have been taken out of it.
      this.#options.display.show(message)
      this.#options.onShown()
    }
  }

  #sealedInSubagent(parent: string, message: ThreadMessage, part: Part, state: ThreadState, at: number): void {
    if (part.type === 'tool-call') this.#subagents.of(parent, state).called(part)
    if (part.type !== 'tool-result') return
    // The result may end a subagent that was started by this subagent.
    this.#subagents.ended(part, at)
    this.#subagents.of(parent, state).heard(part)
    const content = toHarnessContent(part)
    if (content?.type === 'tool_result' && !content.isError) this.#noteFiles(message, part, at)
  }

  #noteFiles(message: ThreadMessage, part: Extract<Part, { type: 'tool-result' }>, at: number): void {
    const { display, editedFile } = this.#options
    for (const path of editedFiles(message, part, editedFile)) display.noteFile(path, part.toolName, at)
  }

  #content(part: Part, messageId: string, partIndex: number): void {
    const event = contentEvent(part, { messageId, partIndex })
    if (event !== undefined) this.#options.emit(event)
  }

  #usage(usage: UsageMetadata): void {
    this.#options.emit({ type: 'usage_update', usage: toTokenUsage(usage) })
  }

  #waitOpened(wait: Wait): void {
    const { emit } = this.#options
    if (wait.kind === 'approval') emit({ type: 'tool_approval_required', ...pendingApproval(wait) })
    else emit({ type: 'tool_suspended', ...pendingSuspension(wait) })
  }
}

function messageOf(state: ThreadState, messageId: string): ThreadMessage | undefined {
  return state.messages.get(messageId)
}
