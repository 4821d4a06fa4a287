import {
  addUsage,
  InspanError,
  NO_USAGE,
  toErrorData,
  type AgentEvent,
  type FinishReason,
  type JsonValue,
  type StepRequest,
  type UsageMetadata,
  type UsageTotals,
} from '@inspan/protocol'
import { DEFAULT_MAX_STEPS } from '@inspan/protocol/chat'
import type { Host, Turn } from '@inspan/protocol/driver'
import { unlessAborted } from '@inspan/protocol/internal'
import { asJson } from '@inspan/protocol/log'
import { agentContext } from './agent-context.ts'
import { Attempt } from './flat-turn.ts'
import { callHook } from './hooks.ts'
import type { ModelFailure } from './model-failure.ts'
import { CallIds } from './call-ids.ts'
import { ModelStep } from './model-step.ts'
import type { NativeDriverOptions } from './native-driver.ts'
import { prepareRequest, type PreparedRequest } from './request.ts'
import { resumePoint, type ResumePoint } from './resume-point.ts'
import { Retries } from './retry.ts'
import { invalidOutput, noOutput, readOutput, repairRequest, type OutputOptions } from './structured-output.ts'
import { carryOut } from './tool-calls.ts'
import type { TurnStep } from './turn-step.ts'

/** Longer than any model that still answers is silent: some think for a quarter of an hour without output. */
const DEFAULT_IDLE_TIMEOUT_MS = 30 * 60_000

const FRESH: ResumePoint = { nextStep: 0, steps: [], calls: [], callIds: [], answer: undefined }

/**
 * One turn of the model loop: asks the model, carries out its calls and asks again, until it has no more to say.
 * Whatever happens, the turn begins with one `start` and ends with one `finish`. Yields attempts, which `FlatTurn`
 * turns into events.
 */
export async function* nativeTurn(
  options: NativeDriverOptions,
  host: Host,
  turn: Turn,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent | Attempt, void> {
  const hooks = options.hooks ?? {}
  const context = agentContext(turn)
  // A run that may be parked waits without a process, however short the time.
  const retry = turn.onLimit === 'park' ? { ...options.retry, maxRetryAfterMs: 0 } : options.retry
  const retries = new Retries(retry, host)
  const answers = new Answers(turn.output ?? options.output, host, signal)
  const steps: TurnStep[] = []
  let usage: UsageTotals = addUsage(NO_USAGE, turn.resumed?.usage ?? {})
  const reported = new Set<string>()
  let finishReason: FinishReason = 'other'
  let hasFailed = false
  const listen = (): Promise<boolean> => host.listen()

  yield { type: 'start' }
  try {
    const begun = turn.resumed === undefined ? FRESH : await resumePoint(host, turn)
    const ids = new CallIds(begun.callIds)
    const maxSteps = turn.maxSteps ?? options.maxSteps ?? DEFAULT_MAX_STEPS
    steps.push(...begun.steps)
    await callHook(hooks, 'beforeTurn', { context }, signal)
    const late = yield* carryOut(begun.calls, { host, hooks, context, signal })
    finishReason = begun.answer?.finishReason ?? finishReason
    // Failed attempts are no answers; the retries limit them. A turn at its limit does not listen: what was steered
    // stays in the queue and begins the next run.
    const mayGoOn = (): boolean => steps.length < maxSteps
    let isDone =
      begun.answer !== undefined && (await answers.isGood(begun.answer.text)) && !(mayGoOn() && (await listen()))
    const last = steps.at(-1)
    if (last !== undefined && last.toolCalls.length > 0 && last.stepIndex === begun.nextStep - 1 && !signal.aborted) {
      // The step that an earlier process began ends here like any other.
      const step = { ...last, ...turn.resumed?.step, toolResults: [...last.toolResults, ...late] }
      steps.splice(-1, 1, step)
      finishReason = step.finishReason
      if (begun.calls.length > 0) await callHook(hooks, 'afterStep', { context, step }, signal)
      isDone = await unlessAborted(signal, mustStop(options, steps))
    }
    for (let stepIndex = begun.nextStep; mayGoOn() && !isDone && !signal.aborted; stepIndex++) {
      await listen()
      let request = required(await unlessAborted(signal, prepareRequest(options, turn, host, context)))
      await callHook(hooks, 'beforeStep', { context, stepIndex, prompt: request.options.prompt }, signal)
      yield stepStart(stepIndex, request.recorded)
      const ports = { ids, now: () => host.now(), signal, silentMs: options.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS }
      const ask = (): Attempt => new Attempt(new ModelStep(request.model, request.options, ports))
      let attempt = ask()
      yield attempt
      let { result } = attempt
      let billed = result.usage
      // An attempt that has shown nothing can be repeated without a trace.
      while (
        !signal.aborted &&
        result.failure !== undefined &&
        !result.hasContent &&
        retries.mayRetry(result.failure)
      ) {
        await retries.pause(result.failure, signal)
        if (signal.aborted) break
        attempt = ask()
        yield attempt
        result = attempt.result
        billed = together(billed, result.usage)
      }
      // So can one that the provider refused as too long, once something is left out of it.
      for (let refused = 1; result.failure?.overflow !== undefined && !signal.aborted; refused++) {
        const overflow = { ...result.failure.overflow, attempt: refused }
        const shorter = await unlessAborted(signal, prepareRequest(options, turn, host, context, overflow))
        if (shorter === undefined || signal.aborted) break
        request = shorter
        attempt = ask()
        yield attempt
        result = attempt.result
        billed = together(billed, result.usage)
      }
      usage = addUsage(usage, billed)
      for (const key of Object.keys(billed)) reported.add(key)
      if (signal.aborted) break
      finishReason = result.finishReason
      if (result.failure !== undefined) {
        const isRepeated = retries.mayRetry(result.failure)
        hasFailed = !isRepeated
        if (hasFailed) {
          noteLimit(result.failure, host)
          yield errorEvent(result.failure)
        }
        yield failedStep(stepIndex, result.failure, billed)
        if (!isRepeated) break
        await retries.pause(result.failure, signal)
        continue
      }
      retries.succeeded()
      for (const type of result.unkept) host.warn(`The model's answer had a part of type "${type}", which is not kept.`)
      yield { type: 'step-finish', stepIndex, finishReason, usage: billed }
      if (signal.aborted) break
      const toolResults = yield* carryOut(result.calls, { host, hooks, context, signal })
      const toolCalls = result.calls.map(({ toolCallId, toolName, args }) => ({ toolCallId, toolName, args }))
      const step = { stepIndex, text: result.text, toolCalls, toolResults, finishReason, usage: billed }
      steps.push(step)
      await callHook(hooks, 'afterStep', { context, step }, signal)
      if (signal.aborted) break
      isDone =
        result.calls.length === 0
          ? // An agent that was steered during its last answer has not heard it yet, and goes on.
            !(mayGoOn() && (await listen())) && (await answers.isGood(result.text))
          : await unlessAborted(signal, mustStop(options, steps))
    }
    if (finishReason !== 'error' && !signal.aborted) answers.assertGiven(mayGoOn() ? 'stopWhen' : 'maxSteps')
  } catch (error) {
    if (!signal.aborted) {
      finishReason = 'error'
      hasFailed = true
      yield thrownEvent(error)
    }
  }
  const tokens = known(usage, reported)
  // A failure that was reported before the cancel stays a failure.
  if (signal.aborted && !hasFailed) finishReason = 'other'
  try {
    await callHook(hooks, 'afterTurn', { context, finishReason, usage: tokens, steps }, signal)
  } catch (error) {
    if (!signal.aborted) {
      finishReason = 'error'
      hasFailed = true
      yield thrownEvent(error)
    }
  }
  if (signal.aborted && !hasFailed) finishReason = 'other'
  const output = finishReason === 'error' ? undefined : answers.output
  yield {
    type: 'finish',
    finishReason,
    ...(Object.keys(tokens).length === 0 ? {} : { usage: tokens }),
    ...(output === undefined ? {} : { meta: { output } }),
  }
}

function required(request: PreparedRequest | undefined): PreparedRequest {
  if (request === undefined) throw new InspanError('misuse', 'The host returned no conversation.')
  return request
}

/** Reads structured output from answers, and reports to the model what is wrong with it. */
class Answers {
  readonly #options: OutputOptions | undefined
  readonly #host: Host
  readonly #signal: AbortSignal
  #repairs: number
  output: JsonValue | undefined
  #problem: string | undefined

  constructor(options: OutputOptions | undefined, host: Host, signal: AbortSignal) {
    this.#options = options
    this.#host = host
    this.#signal = signal
    this.#repairs = options?.repairs ?? 1
  }

  /** Throws if structured output was asked for and not given, even if the turn ended before the model answered. */
  assertGiven(endedBy: 'maxSteps' | 'stopWhen'): void {
    if (this.#options === undefined || this.output !== undefined) return
    throw this.#problem === undefined ? noOutput(endedBy) : invalidOutput(this.#problem)
  }

  /** Whether to accept the answer. Also true for a bad one without repairs left; `#problem` then says what is wrong. */
  async isGood(text: string): Promise<boolean> {
    if (this.#options === undefined) return true
    const read = await unlessAborted(this.#signal, readOutput(this.#options, text))
    this.output = 'output' in read ? read.output : undefined
    this.#problem = 'problem' in read ? read.problem : undefined
    if (this.#problem === undefined || this.#repairs <= 0) return true
    this.#repairs--
    await this.#host.remind(repairRequest(this.#problem))
    return false
  }
}

/** Adds two usages. Counts that neither reported stay unreported. */
function together(a: UsageMetadata, b: UsageMetadata): UsageMetadata {
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])] as (keyof UsageMetadata)[]
  return Object.fromEntries(keys.map((key) => [key, (a[key] ?? 0) + (b[key] ?? 0)]))
}

/** Removes counts that were never reported, which is not the same as zero. */
function known({ costUsd: _costUsd, ...tokens }: UsageTotals, reported: ReadonlySet<string>): UsageMetadata {
  return Object.fromEntries(Object.entries(tokens).filter(([key, count]) => count > 0 || reported.has(key)))
}

async function mustStop({ stopWhen = [] }: NativeDriverOptions, steps: readonly TurnStep[]): Promise<boolean> {
  for (const condition of Array.isArray(stopWhen) ? stopWhen : [stopWhen]) {
    if (await condition({ steps })) return true
  }
  return false
}

function stepStart(stepIndex: number, request: StepRequest): AgentEvent {
  return { type: 'step-start', stepIndex, meta: { request: { ...request } } }
}

/** Ends a failed attempt as a step of its own: its text stays visible but leaves the model's context. */
function failedStep(stepIndex: number, failure: ModelFailure, usage: UsageMetadata): AgentEvent {
  const error = asJson(failure.error)
  const used = Object.keys(usage).length === 0 ? {} : { usage }
  return { type: 'step-finish', stepIndex, finishReason: 'error', ...used, meta: { error } }
}

/** Returns the error event, with whether and when a caller may retry. */
function errorEvent({ code, error, isRetryable, retryAfterMs }: ModelFailure): AgentEvent {
  const retry = { retryable: isRetryable, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
  return { type: 'error', error, ...(code === undefined ? {} : { code }), meta: { retry } }
}

/** A provider that says when to come back has reached a limit. */
function noteLimit({ isRetryable, retryAfterMs }: ModelFailure, host: Host): void {
  if (!isRetryable || retryAfterMs === undefined) return
  host.noteLimit({ name: 'requests', status: 'reached', resetsAt: host.now() + retryAfterMs })
}

function thrownEvent(thrown: unknown): AgentEvent {
  const error = toErrorData(thrown)
  return { type: 'error', error, ...(error.code === undefined ? {} : { code: error.code }) }
}
