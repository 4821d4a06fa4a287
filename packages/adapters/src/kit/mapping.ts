import type { ActivityNote, AgentEvent, FinishEvent, JsonObject, JsonValue, NativeRef } from '@inspan/protocol'
import { Stamper, type ActivityDraft, type NoteEvent } from './activity.ts'
import { Calls, type CallRecord, type OpenCall } from './calls.ts'
import { cleanText } from './clean-text.ts'
import { callEvent, errorDraft, orphanEvent, resultEvent, type Mutable } from './event-parts.ts'
import { HeldRecords } from './held.ts'
import { recordOf, splitLine } from './json-line.ts'
import { Ledger, type Account } from './ledger.ts'
import type {
  CallAnswer,
  Dialect,
  DialectReader,
  HeldRecord,
  Mapper,
  MapperOptions,
  TextPlace,
  PlacedText,
  ReadRecords,
  ResultDetails,
  Run,
  RunEnd,
  StepEnd,
  TurnEnd,
} from './mapper.ts'
import { OutputTail } from './output-tail.ts'
import { absolutePath } from './paths.ts'
import { failureOf } from './run-failure.ts'
import { shellActivity } from './shell-command.ts'
import { Speech } from './speech.ts'
import { Steps } from './steps.ts'
import { isConsumed, type ConsumedCall, type ReportedOutcome } from './tool-table.ts'
import { UsageMeter } from './usage-meter.ts'

const UNREPORTED = 'The program ended before it reported a result.'
const AMBIGUOUS = 'Several open calls have this id, so their results cannot be told apart.'
const FAILED_BY_END: ReportedOutcome = Object.freeze({ isSuccess: false, isUndone: true, result: UNREPORTED })

/**
 * How many lines are parsed before they are mapped. Doing one thing for a while is a fifth faster than alternating
 * between both for each line.
 */
const BATCH = 256

/** Makes a mapper for one run of a CLI. */
export function createMapper(dialect: Dialect, options: MapperOptions): Mapper {
  return new Mapping(dialect, options)
}

/** What all dialects share: accounts, pairing of calls, stamps, steps, the end of the run. */
class Mapping implements Mapper, Run {
  readonly id: string
  readonly version: number
  readonly ledger: Ledger = new Ledger()
  readonly usage: UsageMeter
  at = 0
  cwd: string | undefined
  sessionId: string | undefined
  hasFailed = false
  turnsTold = 0
  readonly #dialect: Dialect
  readonly #options: MapperOptions
  readonly #reader: DialectReader
  readonly #stamper: Stamper
  readonly #calls = new Calls()
  readonly #speech: Speech
  #steps = new Steps()
  readonly #held: HeldRecords
  readonly #stderr = new OutputTail()
  readonly #stdout = new OutputTail()
  #isInTurn = false
  /** The turn was said to end at the output limit. */
  #isLimitTold = false
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
    this.#speech = new Speech(this.ledger, (event, drafts) => {
      if (drafts === undefined) this.#push(event)
      else this.#pushWith(event, drafts)
    })
    this.#held = new HeldRecords(this.ledger, (drafts) => this.#note(drafts, undefined))
    this.usage = new UsageMeter({
      warn: (message) => this.warn(message, 'usage-out-of-range'),
      ...(options.usageBaseline === undefined ? {} : { baseline: options.usageBaseline }),
    })
    this.#reader = dialect.open(this)
  }

  line(text: string, at: number): Account {
    this.at = at
    return this.#read(text, recordOf(text))
  }

  #read(text: string, record: JsonObject | undefined): Account {
    this.ledger.begin()
    if (record !== undefined) this.#record(record)
    else this.#oddLine(text)
    return this.ledger.end()
  }

  lines(texts: readonly string[], at: number, records?: ReadRecords): void {
    this.at = at
    for (let from = 0; from < texts.length; from += BATCH) {
      const to = Math.min(from + BATCH, texts.length)
      const read = records ?? texts.slice(from, to).map((text) => recordOf(text))
      for (let index = from; index < to; index++)
        this.#read(texts[index] ?? '', read[records === undefined ? index - from : index])
    }
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
    this.#speech.close()
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

  /** Reads a line that is blank, not JSON, not an object, or several things joined together. */
  #oddLine(text: string): void {
    const line = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
    if (this.#isDealtWith(line)) return
    const parts = splitLine(line)
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

  #isDealtWith(text: string): boolean {
    try {
      return this.#reader.odd?.(text) === true && !this.ledger.isUntouched
    } catch (error) {
      this.#fault(error)
      return false
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

  /** Reports a bug in the dialect. Reading goes on and loses nothing. */
  #fault(error: unknown): void {
    this.ledger.countFault()
    this.warn(`${this.id} mapping: ${error instanceof Error ? error.message : 'failed'}`, 'mapping-fault')
  }

  // Reports by dialects.

  session(id: string | undefined): void {
    if (id === undefined || id === '' || id === this.sessionId) return
    if (this.sessionId === undefined) {
      this.sessionId = id
      return
    }
    if (this.#hasMoved) return
    this.#hasMoved = true
    const message = `The session changed from ${this.sessionId} to ${id}; events stay with the first.`
    // Apart from the record's own account: the rest of the record still has to be reported, or becomes `unknown`.
    this.#note([{ type: 'warning', message, code: 'session-changed' }], undefined)
  }

  directory(cwd: string | null | undefined): void {
    if (cwd !== undefined && cwd !== '') this.cwd = cwd ?? undefined
  }

  path(path: string): string {
    return absolutePath(path, this.cwd)
  }

  command(command: string, outcome: ReportedOutcome, workingDirectory?: string | null): readonly ActivityDraft[] {
    const { cwd } = this
    if (workingDirectory === null) return shellActivity({ command, cwd: undefined, outcome })
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
    if (code === 'output-limit') this.#isLimitTold = true
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
    // Open texts were said before the error.
    this.#speech.close()
    const error = { name: 'HarnessError', message, ...(code === undefined ? {} : { code }) }
    this.emitWith({ type: 'error', error, ...(code === undefined ? {} : { code }) }, [errorDraft(message, code)])
  }

  // Words of agents.

  textDelta(text: string, place: TextPlace & { readonly partId: string }): void {
    this.#speech.delta('text-delta', text, place)
  }

  reasoningDelta(text: string, place: TextPlace & { readonly partId: string }): void {
    this.#speech.delta('reasoning-delta', text, place)
  }

  breakOff(partId: string): void {
    this.#speech.end(partId)
  }

  text(text: string, place: TextPlace, interrupted = false): void {
    this.#speech.text(text, text, place, interrupted)
  }

  texts(texts: readonly PlacedText[], interrupted = false): void {
    this.#speech.texts(texts, interrupted)
  }

  reasoning(text: string, place: TextPlace): void {
    this.#speech.reasoning(text, place)
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
    else if (Array.isArray(found)) this.#answerAll(found, answer.raw)
    else {
      const { outcome, raw, native, activity, isRestated } = answer
      this.#close(found, outcome, raw, native, activity, isRestated === true)
    }
  }

  resultOrCall(record: CallRecord, outcome: ReportedOutcome, details?: ResultDetails): void {
    const found = this.#calls.take(record.id, record.parent ?? null)
    if (found === undefined) {
      const call = this.#calls.pass(record, this.ledger.wait())
      this.#pushCall(call)
      this.#close(call, outcome, record.raw, record.native, details?.activity, true)
    } else if (Array.isArray(found)) this.#answerAll(found, record.raw)
    else this.#close(found, outcome, record.raw, record.native, details?.activity, details?.isRestated !== false)
  }

  #answerAll(calls: readonly OpenCall[], raw: JsonValue): void {
    for (const call of calls) this.#closeAmbiguous(call)
    this.unknown(raw)
  }

  /** Closes a call. Without `raw` the CLI reported no result, and we end the call ourselves. */
  #close(
    call: OpenCall,
    outcome: ReportedOutcome,
    raw: JsonValue | undefined,
    native: NativeRef | undefined,
    given: CallAnswer['activity'],
    isRestated: boolean,
  ): void {
    const made = given ?? this.#madeOf(call, outcome)
    if (isConsumed(made)) {
      this.ledger.consume(made.consumed)
      this.ledger.settle(call.slot, made.consumed)
      this.#push(resultEvent(call, outcome, native, raw === undefined, undefined))
      return
    }
    this.ledger.settle(call.slot, undefined)
    this.ledger.made()
    const activity = this.#stamp(made.length > 0 ? made : [this.#unknownCall(call, raw, isRestated)])
    this.#push(resultEvent(call, outcome, native, raw === undefined, activity))
  }

  /** Returns the activity that the tool's rule makes of a call, unless other records report it. */
  #madeOf(call: OpenCall, outcome: ReportedOutcome): readonly ActivityDraft[] | ConsumedCall {
    if (call.reportedElsewhere !== undefined) return { consumed: call.reportedElsewhere }
    const rule = this.#dialect.tools.rule(call.name)
    return rule === undefined ? [] : rule(call, outcome, this)
  }

  #unknownCall(call: OpenCall, raw: JsonValue | undefined, isRestated: boolean): ActivityDraft {
    this.ledger.countUnknown()
    if (raw === undefined) return { type: 'unknown', raw: { call: call.raw } }
    return { type: 'unknown', raw: isRestated ? raw : { call: call.raw, result: raw } }
  }

  #closeAmbiguous(call: OpenCall): void {
    this.ledger.settle(call.slot, undefined)
    this.ledger.countUnknown()
    const activity = this.#stamp([{ type: 'unknown', raw: call.raw }])
    this.#push(resultEvent(call, { isSuccess: false, result: AMBIGUOUS }, undefined, true, activity))
  }

  #orphan(answer: CallAnswer): void {
    const drafts = answer.orphan?.() ?? []
    const { id, native } = answer
    // A call has one result, so another one is only noted.
    const isSecond = id !== undefined && !this.#calls.passOrphan(id)
    if (id === undefined || isSecond || drafts.length === 0) {
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
    this.#speech.closeOwn()
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
    this.turnsTold += 1
    if (end.finishReason === 'length' && !this.hasFailed) this.#warnOfLimit()
    this.#speech.close()
    this.stepEnd()
    if (this.#options.finish !== 'at-turn-end') return
    this.closeCalls()
    this.#finish(end)
    this.usage.nextTurn()
  }

  /** Every CLI has its own way to say so, or says nothing. */
  #warnOfLimit(): void {
    if (!this.#isLimitTold) this.warn('The answer was cut off at the output limit.', 'output-limit')
    this.#isLimitTold = false
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
    if (end.output !== undefined) event.meta = { output: end.output }
    this.#push(event)
    this.#isInTurn = false
    this.#steps = new Steps()
  }

  // Emitting events.

  #push(event: AgentEvent): void {
    if (!this.#isInTurn) {
      this.#isInTurn = true
      const native = this.sessionId === undefined ? undefined : { sessionId: this.sessionId }
      this.#options.emit(native === undefined ? { type: 'start' } : { type: 'start', native })
    }
    this.#options.emit(event)
  }

  #pushWith(event: Mutable<AgentEvent>, drafts: readonly ActivityDraft[]): void {
    event.activity = this.#stamp(drafts)
    this.#push(event)
  }

  #stamp(drafts: readonly ActivityDraft[]): ActivityNote {
    return this.#stamper.note(drafts, this.at, this.sessionId)
  }

  #note(drafts: readonly ActivityDraft[], native: NativeRef | undefined): void {
    const event: Mutable<NoteEvent> = { type: 'note', activity: this.#stamp(drafts) }
    if (native !== undefined) event.native = native
    this.#options.emit(event)
  }
}
