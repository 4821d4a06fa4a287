import type { ErrorEvent, FinishEvent, FinishReason } from '@inspan/protocol'
import { Stamper, type ActivityDraft, type MappedEvent } from '../kit/activity.ts'
import { errorDraft } from '../kit/event-parts.ts'
import type { Dialect, Mapper, ReadRecords } from '../kit/mapper.ts'
import { createMapper } from '../kit/mapping.ts'
import type { RunExitNote, RunHeader, RunNote, RunStop, RunWarning } from './run-note.ts'

/**
 * What CLIs and providers say about a key that is missing or wrong. Without one, some know none of a provider's models,
 * and others turn to a provider that cannot be reached. Each is a phrase: `key`, `403` or `token` alone are in messages
 * about databases, line numbers and JSON too.
 */
const KEY_TROUBLE = new RegExp(
  [
    /(?:status|code|http|error)\W{0,8}40[13]\b/,
    /api.?key|\w_KEY\b|\b(?:no|missing|invalid|incorrect|wrong|your|a|the) (?:valid )?key\b/,
    /(?:\b|_|un|o)auth(?:\b|enticat|ori[sz]|[-_])/,
    /\bcredentials?\b|\blog(?:ged)?[ -]?in\b|\bsign(?:ed)?[ -]?in\b|(?:^\S* |\b403\W{0,3})forbidden\b/,
    /\btoken (?:has |is |was )?(?:expired|missing)\b|\b(?:access|bearer|refresh)[ _-]token\b/,
    /model.?not.?found|no.provider|\bprovider\b.{0,80}\bnot.(?:found|configured|set)\b|cannot connect to api\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
)
const WORDLESS = /^\S+ exited with code \d+$|without saying why|^unexpected server error/i

const CONCLUSIONS: ReadonlySet<FinishReason> = new Set(['stop', 'length', 'content-filter'])

/**
 * Combines the output of a CLI with our notes about its run into one stream of events with one `finish`. Pure, so that
 * a recording gives the same events as the run.
 */
export class RunMapping {
  readonly mapper: Mapper
  readonly #emit: (event: MappedEvent) => void
  readonly #stamper: Stamper
  readonly #failureHint: string | undefined
  readonly #openCalls = new Set<string>()
  readonly #brokenOff = new Set<string>()
  #stop: RunStop | undefined
  #hasFailed = false
  #hasAnswered = false
  #hasLingered = false
  /** The CLI reported an error while we ended it for lingering. */
  #hasDyingWords = false
  /** The model ended a step by itself. For CLIs that print nothing more, that is the result. */
  #hasConcluded = false
  /** Value of `turnsTold` when the CLI was last seen working. */
  #turnsToldBefore = 0
  #at = 0

  constructor(dialect: Dialect, header: RunHeader, emit: (event: MappedEvent) => void) {
    const { cwd, sessionId, usageBaseline, failureHint } = header
    this.#emit = emit
    this.#failureHint = failureHint
    this.#stamper = new Stamper(dialect.id, dialect.version)
    this.mapper = createMapper(dialect, {
      emit: (event) => this.#pass(event),
      ...(cwd === undefined ? {} : { cwd }),
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(usageBaseline === undefined ? {} : { usageBaseline }),
    })
  }

  /** Calls that were open when the run was stopped, or were made later, and did not succeed. */
  get brokenOff(): readonly string[] {
    return [...this.#brokenOff]
  }

  get isStopped(): boolean {
    return this.#stop !== undefined
  }

  /**
   * Whether the CLI has reported the end of its turn and has not gone on since. `orConcluded`: the end of the model's
   * answer counts as well, for CLIs that report nothing more.
   */
  hasReportedResult(orConcluded: boolean): boolean {
    return (orConcluded && this.#hasConcluded) || this.mapper.turnsTold > this.#turnsToldBefore
  }

  line(stream: 'stdout' | 'stderr', text: string, at: number): void {
    this.#at = at
    if (stream === 'stdout') this.mapper.line(text, at)
    else this.mapper.stderr(text, at)
  }

  /** The same for lines that arrived together. */
  lines(stream: 'stdout' | 'stderr', texts: readonly string[], at: number, records?: ReadRecords): void {
    this.#at = at
    if (stream === 'stdout') this.mapper.lines(texts, at, records)
    else for (const text of texts) this.mapper.stderr(text, at)
  }

  note(note: RunNote, at: number): void {
    this.#at = at
    if ('warning' in note) this.#warn(note.warning)
    else if ('stop' in note) this.#stopped(note.stop)
    else if ('end' in note) this.#end(note.end, at)
  }

  #warn({ message, code }: RunWarning): void {
    this.#say({ type: 'warning', message, ...(code === undefined ? {} : { code }) })
  }

  #stopped(stop: RunStop): void {
    if (this.#stop !== undefined || this.#hasLingered) return
    if (stop.reason === 'lingering') {
      this.#hasLingered = true
      return
    }
    this.#stop = stop
    for (const call of this.#openCalls) this.#brokenOff.add(call)
  }

  #end({ exitCode, signal }: RunExitNote, at: number): void {
    // By its own report the run ended well; the exit code is due to our killing it.
    if (this.#hasLingered) this.mapper.end({ exitCode: 0 }, at)
    else this.mapper.end({ exitCode, signal, aborted: this.#stop !== undefined }, at)
  }

  #pass(event: MappedEvent): void {
    switch (event.type) {
      case 'step-start':
        this.#isAtWork()
        break
      case 'step-finish':
        this.#hasConcluded = CONCLUSIONS.has(event.finishReason)
        break
      case 'text-delta':
      case 'reasoning-delta':
        this.#hasAnswered = true
        this.#isAtWork()
        break
      case 'tool-call':
        this.#hasAnswered = true
        this.#isAtWork()
        this.#openCalls.add(event.toolCallId)
        if (this.#stop !== undefined) this.#brokenOff.add(event.toolCallId)
        break
      case 'tool-result':
        this.#openCalls.delete(event.toolCallId)
        if (event.isError !== true && event.meta?.synthetic !== true) this.#brokenOff.delete(event.toolCallId)
        break
      case 'error':
        this.#error(event)
        return
      case 'finish':
        this.#finish(event)
        return
    }
    this.#emit(event)
  }

  #isAtWork(): void {
    this.#hasConcluded = false
    this.#turnsToldBefore = this.mapper.turnsTold
  }

  /** An error that a CLI reports because we ended it is only a warning. */
  #error(event: ErrorEvent): void {
    if (this.#hasLingered) this.#hasDyingWords = true
    else if (this.#stop === undefined) {
      this.#hasFailed = true
      const hint = this.#isAboutKey(event) ? this.#failureHint : undefined
      this.#emit(hint === undefined ? event : withHint(event, hint))
      return
    }
    const { message } = event.error
    this.#say({ type: 'warning', message, ...(event.code === undefined ? {} : { code: event.code }) })
  }

  #finish(event: FinishEvent): void {
    const stop = this.#stop
    if (stop === undefined) {
      const stands = this.#hasDyingWords && !this.#hasFailed
      this.#emit(stands ? { ...event, finishReason: 'stop' } : event)
      return
    }
    const { error } = stop
    if (error !== undefined && !this.#hasFailed) {
      this.#hasFailed = true
      const code = error.code === undefined ? {} : { code: error.code }
      const activity = this.#stamp(errorDraft(error.message, error.code))
      const event: ErrorEvent = { type: 'error', error, ...code, activity }
      const hint = this.#mayLackKey(stop) ? this.#failureHint : undefined
      this.#emit(hint === undefined ? event : withHint(event, hint))
    }
    this.#emit({ ...event, finishReason: this.#hasFailed ? 'error' : 'other' })
  }

  /** An error that says nothing may be about the key, one that says something else is not. */
  #isAboutKey({ code, error: { message } }: ErrorEvent): boolean {
    return !this.#hasAnswered && (KEY_TROUBLE.test(`${code ?? ''} ${message}`) || WORDLESS.test(message))
  }

  /** Some CLIs retry silently if the key is missing. */
  #mayLackKey({ reason, error }: RunStop): boolean {
    if (error?.code === 'auth-required') return true
    return (reason === 'deadline' || reason === 'stalled') && !this.#hasAnswered
  }

  #say(draft: ActivityDraft): void {
    this.#emit({ type: 'note', activity: this.#stamp(draft) })
  }

  #stamp(draft: ActivityDraft): ReturnType<Stamper['note']> {
    return this.#stamper.note([draft], this.#at, this.mapper.sessionId)
  }
}

/** Adds the hint on a line of its own: the CLI's message may end in any way. */
function withHint(event: ErrorEvent, hint: string): ErrorEvent {
  const message = `${event.error.message}\n${hint}`
  const { activity } = event
  const said = activity?.events.map((each) =>
    each.type === 'error' ? { ...each, message: `${each.message}\n${hint}` } : each,
  )
  return {
    ...event,
    error: { ...event.error, message },
    ...(activity === undefined || said === undefined ? {} : { activity: { ...activity, events: said } }),
  }
}
