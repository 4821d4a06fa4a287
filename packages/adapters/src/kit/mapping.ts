import type { AgentEvent, JsonObject, JsonValue, NativeRef } from '@evener/protocol'
import type { FinishEvent, ReasoningDeltaEvent, TextDeltaEvent } from '@evener/protocol'
import { Stamper, type ActivityDraft, type NoteEvent } from './activity.ts'
import { Calls, type CallRecord, type OpenCall } from './calls.ts'
import { cleanText } from './clean-text.ts'
import {
  callEvent,
  ENDED,
  endOfText,
  errorDraft,
  INTERRUPTED,
  isBlank,
  orphanEvent,
  resultEvent,
  setPlace,
  type Mutable,
} from './event-parts.ts'
import { HeldRecords } from './held.ts'
import { parseRecord, splitLine } from './json-line.ts'
import { Ledger, type Account } from './ledger.ts'
import type {
  CallAnswer,
  Dialect,
  DialectReader,
  HeldRecord,
  Mapper,
  MapperOptions,
  Place,
  Run,
  RunEnd,
  StepEnd,
  TurnEnd,
} from './mapper.ts'
import { OutputTail } from './output-tail.ts'
import { absolutePath } from './paths.ts'
import { failureOf } from './run-failure.ts'
import { shellActivity } from './shell-command.ts'
import { Steps } from './steps.ts'
import { Texts, unsaid } from './texts.ts'
import { isConsumed, type ToolOutcome } from './tool-table.ts'
import { UsageMeter } from './usage-meter.ts'

const UNREPORTED = 'The program ended before it reported a result.'
const AMBIGUOUS = 'Several open calls have this id, so their results cannot be told apart.'
const FAILED_BY_END: ToolOutcome = Object.freeze({ isSuccess: false, result: UNREPORTED })

/** A mapper for one run of a program. */
export function createMapper(dialect: Dialect, options: MapperOptions): Mapper {
  return new Mapping(dialect, options)
}

/** What all dialects share: accounts, pairing, stamps, steps, the end. */
class Mapping implements Mapper, Run {
  readonly id: string
  readonly version: number
  readonly ledger: Ledger = new Ledger()
  readonly usage: UsageMeter
  at = 0
  cwd: string | undefined
  sessionId: string | undefined
  hasFailed = false
  readonly #dialect: Dialect
  readonly #options: MapperOptions
  readonly #reader: DialectReader
  readonly #stamper: Stamper
  readonly #calls = new Calls()
  readonly #texts = new Texts()
  #steps = new Steps()
  readonly #held: HeldRecords
  readonly #stderr = new OutputTail()
  readonly #stdout = new OutputTail()
  #isInTurn = false
  #hasEnded = false
  #hasMoved = false
  #turn: TurnEnd | undefined

  constructor(dialect: Dialect, options: MapperOptions) {
    this.id = dialect.id
    this.version = dialect.version
    this.cwd = options.cwd === '' ? undefined : options.cwd
    this.sessionId = options.sessionId
    this.#stamper = new Stamper(dialect.id, dialect.version)
    this.#dialect = dialect
    this.#options = options
    this.#held = new HeldRecords(this.ledger, (drafts) => this.#note(drafts, undefined))
    this.usage = new UsageMeter({
      warn: (message) => this.warn(message, 'usage-out-of-range'),
      ...(options.usageBaseline === undefined ? {} : { baseline: options.usageBaseline }),
    })
    this.#reader = dialect.open(this)
  }

  line(text: string, at: number): Account {
    this.at = at
    this.ledger.begin()
    const record = text.charCodeAt(0) === 0x7b ? parseRecord(text) : undefined
    if (record !== undefined) this.#record(record)
    else this.#oddLine(text)
    return this.ledger.end()
  }

  stderr(text: string, at: number): Account {
    this.at = at
    this.ledger.begin()
    const message = cleanText(text).trimEnd()
    if (message === '') {
      this.ledger.consume('blank')
      return this.ledger.end()
    }
    this.#stderr.push(message)
    try {
      this.#reader.stderr?.(message)
    } catch (error) {
      this.#fault(error)
    }
    if (this.ledger.isUntouched) this.warn(message)
    return this.ledger.end()
  }

  end(end: RunEnd, at: number): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.at = at
    this.ledger.begin()
    try {
      this.#reader.end?.(end)
    } catch (error) {
      this.#fault(error)
    }
    this.#held.keepAll()
    this.#closeTexts()
    this.closeCalls()
    const failure = end.aborted === true ? undefined : failureOf(end)
    if (failure !== undefined && !this.hasFailed) {
      const output = this.#stderr.text || this.#stdout.text
      this.fail(`${this.id} ${failure.message}${output === '' ? '' : `: ${output}`}`, failure.code)
    }
    if (this.#options.finish === 'at-turn-end' && this.#turn !== undefined && !this.#isInTurn) return
    this.#finish(this.#turn ?? { finishReason: end.aborted === true ? 'other' : 'stop' })
  }

  #record(record: JsonObject): void {
    try {
      this.#reader.record(record)
    } catch (error) {
      this.#fault(error)
      this.unknown(record)
    }
    if (this.ledger.isUntouched) this.unknown(record)
  }

  /** Blank, not JSON, no record, or several things glued together. */
  #oddLine(text: string): void {
    const parts = splitLine(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
    if (parts.length === 0) {
      this.#reader.blank?.()
      this.ledger.consume('blank')
    }
    for (const part of parts) {
      this.ledger.beginPart()
      if (part.kind === 'record') this.#record(part.record)
      else if (part.kind === 'value') this.unknown(part.value)
      else this.#plainText(part.text)
    }
  }

  #plainText(text: string): void {
    this.#stdout.push(cleanText(text).trimEnd())
    try {
      this.#reader.text?.(text)
    } catch (error) {
      this.#fault(error)
    }
    if (this.ledger.isUntouched) this.unknown(text)
  }

  /** A mapping has a bug. The stream goes on and loses nothing. */
  #fault(error: unknown): void {
    this.ledger.countFault()
    this.warn(`${this.id} mapping: ${error instanceof Error ? error.message : 'failed'}`, 'mapping-fault')
  }

  // What dialects say.

  session(id: string | undefined): void {
    if (id === undefined || id === '' || id === this.sessionId) return
    if (this.sessionId === undefined) {
      this.sessionId = id
      return
    }
    if (this.#hasMoved) return
    this.#hasMoved = true
    const message = `The session changed from ${this.sessionId} to ${id}; events stay with the first.`
    // Beside the record's own account: what else it says still has to be told, or it becomes `unknown`.
    this.#note([{ type: 'warning', message, code: 'session-changed' }], undefined)
  }

  directory(cwd: string | null | undefined): void {
    if (cwd !== undefined && cwd !== '') this.cwd = cwd ?? undefined
  }

  path(path: string): string {
    return absolutePath(path, this.cwd)
  }

  command(command: string, outcome: ToolOutcome, workingDirectory?: string): readonly ActivityDraft[] {
    const { cwd } = this
    if (workingDirectory === undefined) return shellActivity({ command, cwd, outcome })
    return shellActivity({ command, cwd, outcome, workingDirectory: this.path(workingDirectory) })
  }

  consume(reason: string): void {
    this.ledger.consume(reason)
  }

  emit(event: AgentEvent): void {
    this.#push(event)
  }

  emitWith(event: AgentEvent, drafts: readonly ActivityDraft[]): void {
    this.ledger.made()
    this.#pushWith(event, drafts)
  }

  note(drafts: readonly ActivityDraft[], native?: NativeRef): void {
    this.ledger.made()
    this.#note(drafts, native)
  }

  warn(message: string, code?: string): void {
    const text = cleanText(message)
    this.note([code === undefined ? { type: 'warning', message: text } : { type: 'warning', message: text, code }])
  }

  unknown(raw: JsonValue): void {
    this.ledger.countUnknown()
    this.note([{ type: 'unknown', raw }])
  }

  hold(drafts: readonly ActivityDraft[]): HeldRecord {
    return this.#held.hold(drafts)
  }

  complain(message: string, code?: string): void {
    this.note([errorDraft(message, code)])
  }

  fail(message: string, code?: string): void {
    if (this.hasFailed) {
      this.ledger.consume('repeats-error')
      return
    }
    this.hasFailed = true
    // What was said was said before it.
    this.#closeTexts()
    const error = { name: 'HarnessError', message, ...(code === undefined ? {} : { code }) }
    this.emitWith({ type: 'error', error, ...(code === undefined ? {} : { code }) }, [errorDraft(message, code)])
  }

  // What agents say.

  textDelta(text: string, place: Place & { readonly partId: string }): void {
    this.#delta('text-delta', text, place)
  }

  reasoningDelta(text: string, place: Place & { readonly partId: string }): void {
    this.#delta('reasoning-delta', text, place)
  }

  text(text: string, place: Place, interrupted = false): void {
    const event = this.#wholeText('text-delta', text, place, interrupted)
    const message = place.parent === undefined ? cleanText(text) : ''
    if (!isBlank(message)) {
      this.emitWith(event, [{ type: 'agent', message }])
      return
    }
    this.ledger.consume(place.parent === undefined ? 'empty-text' : 'subagent-text')
    this.#push(event)
  }

  reasoning(text: string, place: Place): void {
    this.ledger.consume('reasoning')
    this.#push(this.#wholeText('reasoning-delta', text, place, false))
  }

  #delta(type: 'text-delta' | 'reasoning-delta', text: string, place: Place & { readonly partId: string }): void {
    this.#texts.append(place.partId, text, place.parent, type === 'reasoning-delta')
    const event: Mutable<TextDeltaEvent | ReasoningDeltaEvent> = { type, text }
    setPlace(event, place)
    this.#push(event)
  }

  /** The event that ends a text: with what deltas have not said of it. */
  #wholeText(
    type: 'text-delta' | 'reasoning-delta',
    text: string,
    place: Place,
    interrupted: boolean,
  ): Mutable<TextDeltaEvent | ReasoningDeltaEvent> {
    const open = place.partId === undefined ? undefined : this.#texts.take(place.partId)
    const rest = open === undefined ? text : unsaid(text, open.said)
    const event: Mutable<TextDeltaEvent | ReasoningDeltaEvent> = {
      type,
      text: rest ?? text,
      meta: interrupted ? INTERRUPTED : ENDED,
    }
    setPlace(event, place)
    if (open !== undefined && rest === undefined) {
      // What was shown is not taken back: the other wording is a text of its own.
      this.#push(endOfText(open))
      event.partId = `${open.key}'`
    }
    return event
  }

  /** Texts that were never said in whole are over; what was said of them counts. */
  #closeTexts(): void {
    for (const open of this.#texts.takeAll()) {
      const message = open.parent === undefined && !open.isReasoning ? cleanText(open.said) : ''
      if (isBlank(message)) this.#push(endOfText(open))
      else this.#pushWith(endOfText(open), [{ type: 'agent', message }])
    }
  }

  // Calls and results.

  call(record: CallRecord): OpenCall {
    const call = this.#calls.open(record, this.ledger.wait())
    this.#pushCall(call)
    return call
  }

  #pushCall(call: OpenCall): void {
    if (call.parent === undefined) this.#steps.countCall()
    this.#push(callEvent(call))
  }

  openCall(id: string, parent?: string | null): OpenCall | undefined {
    return this.#calls.peek(id, parent)
  }

  isOpen(id: string, parent?: string | null): boolean {
    return this.#calls.has(id, parent)
  }

  result(answer: CallAnswer): void {
    const found = answer.id === undefined ? undefined : this.#calls.take(answer.id, answer.parent)
    if (found === undefined) this.#orphan(answer)
    else this.#answer(found, answer)
  }

  resultOrCall(
    answer: CallAnswer & { readonly id: string; readonly parent: string | null },
    call: () => CallRecord,
  ): void {
    const found = this.#calls.take(answer.id, answer.parent)
    if (found === undefined) this.callWithResult(call(), answer.outcome, answer.activity)
    else this.#answer(found, answer)
  }

  #answer(found: OpenCall | OpenCall[], answer: CallAnswer): void {
    if (!Array.isArray(found)) {
      const { outcome, raw, native, activity, isRestated } = answer
      this.#close(found, outcome, raw, native, activity, isRestated === true)
    } else {
      for (const call of found) this.#closeAmbiguous(call)
      this.unknown(answer.raw)
    }
  }

  callWithResult(record: CallRecord, outcome: ToolOutcome, activity?: CallAnswer['activity']): void {
    const call = this.#calls.pass(record, this.ledger.wait())
    this.#pushCall(call)
    this.#close(call, outcome, record.raw, record.native, activity, true)
  }

  /** Without `raw` nothing was reported: we end the call ourselves. */
  #close(
    call: OpenCall,
    outcome: ToolOutcome,
    raw: JsonValue | undefined,
    native: NativeRef | undefined,
    activity: CallAnswer['activity'],
    isRestated: boolean,
  ): void {
    const event = resultEvent(call, outcome)
    if (native !== undefined) event.native = native
    if (raw === undefined) event.meta = { synthetic: true }
    const told = call.toldElsewhere
    const made =
      activity ??
      (told === undefined ? undefined : { consumed: told }) ??
      this.#dialect.tools.rule(call.name)?.(call, outcome, this) ??
      []
    if (isConsumed(made)) {
      this.ledger.consume(made.consumed)
      this.ledger.settle(call.slot, made.consumed)
      this.#push(event)
      return
    }
    this.ledger.settle(call.slot, undefined)
    this.emitWith(event, made.length > 0 ? made : [this.#unknownCall(call, raw, isRestated)])
  }

  #unknownCall(call: OpenCall, raw: JsonValue | undefined, isRestated: boolean): ActivityDraft {
    this.ledger.countUnknown()
    if (raw === undefined) return { type: 'unknown', raw: { call: call.raw } }
    return { type: 'unknown', raw: isRestated ? raw : { call: call.raw, result: raw } }
  }

  #closeAmbiguous(call: OpenCall): void {
    this.ledger.settle(call.slot, undefined)
    this.ledger.countUnknown()
    const event = resultEvent(call, { isSuccess: false, result: AMBIGUOUS })
    event.meta = { synthetic: true }
    this.#pushWith(event, [{ type: 'unknown', raw: call.raw }])
  }

  #orphan(answer: CallAnswer): void {
    const drafts = answer.orphan?.() ?? []
    const { id, native } = answer
    if (id === undefined || drafts.length === 0) {
      if (drafts.length === 0) this.unknown(answer.raw)
      else this.note(drafts, native)
      return
    }
    this.emitWith(orphanEvent(id, answer), drafts)
  }

  closeCalls(): void {
    for (const open of this.#calls.takeAll()) {
      if (!Array.isArray(open)) this.#close(open, FAILED_BY_END, undefined, undefined, undefined, false)
      else for (const call of open) this.#closeAmbiguous(call)
    }
  }

  // Steps and turns.

  stepStart(native?: NativeRef): void {
    this.#closeTexts()
    this.stepEnd()
    this.#push(this.#steps.start(native))
  }

  stepEnd(end: StepEnd = {}): void {
    const event = this.#steps.end(end)
    if (event !== undefined) this.#push(event)
  }

  turnStart(): void {
    this.hasFailed = false
  }

  turnEnd(end: TurnEnd): void {
    this.#turn = end
    this.#closeTexts()
    this.stepEnd()
    if (this.#options.finish !== 'at-turn-end') return
    this.closeCalls()
    this.#finish(end)
    this.usage.nextTurn()
  }

  #finish(end: TurnEnd): void {
    this.stepEnd()
    const event: Mutable<FinishEvent> = {
      type: 'finish',
      finishReason: this.hasFailed ? 'error' : end.finishReason,
    }
    const own = this.usage.turn().find((part) => part.scope === 'own')
    if (own !== undefined) event.usage = own
    if (end.native !== undefined) event.native = end.native
    this.#push(event)
    this.#isInTurn = false
    this.#steps = new Steps()
  }

  // Events out.

  #push(event: AgentEvent): void {
    if (!this.#isInTurn) {
      this.#isInTurn = true
      const native = this.sessionId === undefined ? undefined : { sessionId: this.sessionId }
      this.#options.emit(native === undefined ? { type: 'start' } : { type: 'start', native })
    }
    this.#options.emit(event)
  }

  #pushWith(event: Mutable<AgentEvent>, drafts: readonly ActivityDraft[]): void {
    event.activity = this.#stamper.note(drafts, this.at, this.sessionId)
    this.#push(event)
  }

  #note(drafts: readonly ActivityDraft[], native: NativeRef | undefined): void {
    const event: Mutable<NoteEvent> = { type: 'note', activity: this.#stamper.note(drafts, this.at, this.sessionId) }
    if (native !== undefined) event.native = native
    this.#options.emit(event)
  }
}
