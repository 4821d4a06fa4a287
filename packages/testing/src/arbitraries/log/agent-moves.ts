import * as fc from 'fast-check'
import { agentEventsByType, arbitraryNativeRef, arbitraryToolName } from '../agent-event.ts'
import { arbitraryAnswer, arbitraryCancelReason, arbitraryWaitRequest } from '../control.ts'
import { arbitraryJsonObject, arbitraryJsonValue, arbitraryText } from '../json.ts'
import { arbitraryRunOutcome } from '../record-body.ts'
import { arbitraryFinishReason, arbitraryUsageIncrement } from '../usage.ts'
import {
  addCall,
  addFile,
  addPart,
  addResultPart,
  batch,
  endCall,
  openMessage,
  seal,
  type GeneratedCall,
  type OpenMessage,
  type GeneratedPart,
} from './open-message.ts'
import {
  abandonRun,
  endMessages,
  endRun,
  endStep,
  endTurn,
  ensureMessage,
  ensureRun,
  resumeRun,
  startStep,
} from './run.ts'
import { pickFrom, type LogWriter } from './writer.ts'

/** One thing that may happen next. A move that makes no sense at this point of the log writes nothing. */
export type Move = (log: LogWriter) => void

export const pick: fc.Arbitrary<number> = fc.nat({ max: 11 })

interface OpenPartAt {
  readonly message: OpenMessage
  readonly part: GeneratedPart
}

interface OpenCallAt {
  readonly message: OpenMessage
  readonly call: GeneratedCall
}

function openParts(log: LogWriter): readonly OpenPartAt[] {
  return log.messages.flatMap((message) =>
    message.parts.filter((part) => !part.isSealed).map((part) => ({ message, part })),
  )
}

function callsAt(log: LogWriter, ...stages: readonly GeneratedCall['stage'][]): readonly OpenCallAt[] {
  return log.messages.flatMap((message) =>
    message.calls.filter((call) => stages.includes(call.stage)).map((call) => ({ message, call })),
  )
}

function isWaiting(log: LogWriter, call: GeneratedCall): boolean {
  return call.wait !== null && log.waits.includes(call.wait)
}

const speak = fc
  .record({
    pick,
    kind: fc.constantFrom('text' as const, 'reasoning' as const),
    text: arbitraryText,
    native: fc.option(arbitraryNativeRef, { freq: 3 }),
    tail: arbitraryText,
    isWhole: fc.boolean(),
  })
  .map(({ pick, kind, text, native, tail, isWhole }): Move => (log) => {
    ensureMessage(log)
    const message = pickFrom(log.messages, pick)
    if (message === undefined) return
    const part = addPart(message, kind, { native })
    if (isWhole) seal(log, message, part, { tail, cut: false, redacted: false })
    else batch(log, message, part, text)
  })

const goOn = fc.record({ pick, text: arbitraryText }).map(({ pick, text }): Move => (log) => {
  const open = pickFrom(openParts(log), pick)
  if (open === undefined) return
  ensureRun(log)
  batch(log, open.message, open.part, text)
})

const endPart = fc
  .record({
    pick,
    tail: arbitraryText,
    cut: fc.boolean(),
    redacted: fc.nat({ max: 7 }).map((draw) => draw === 7),
  })
  .map(({ pick, ...how }): Move => (log) => {
    const open = pickFrom(openParts(log), pick)
    if (open === undefined) return
    ensureRun(log)
    seal(log, open.message, open.part, how)
  })

const orderCall = fc
  .record({ pick, toolName: arbitraryToolName, args: arbitraryJsonObject, input: fc.option(arbitraryText) })
  .map(({ pick, toolName, args, input }): Move => (log) => {
    ensureMessage(log)
    const message = pickFrom(log.messages, pick)
    if (message === undefined) return
    const part = addCall(log, message, toolName, args)
    if (input === null) seal(log, message, part, { tail: '', cut: false, redacted: false })
    else batch(log, message, part, input)
  })

const makeFile = fc.record({ pick, file: agentEventsByType.file }).map(({ pick, file }): Move => (log) => {
  ensureMessage(log)
  const message = pickFrom(log.messages, pick)
  if (message !== undefined) addFile(log, message, file)
})

const delegate = pick.map((pick): Move => (log) => {
  const at = pickFrom(callsAt(log, 'ordered', 'started'), pick)
  if (at === undefined) return
  ensureRun(log)
  openMessage(log, at.call)
})

const ask = fc
  .record({ pick, request: arbitraryWaitRequest, isFree: fc.boolean() })
  .map(({ pick, request, isFree }): Move => (log) => {
    const asking = callsAt(log, 'ordered').filter(({ call }) => !isWaiting(log, call))
    const at = isFree ? undefined : pickFrom(asking, pick)
    if (at === undefined && !isFree) return
    ensureRun(log)
    const wait = { ...request, id: log.newId('w') }
    const openedAt = log.append({
      type: 'wait.opened',
      wait,
      ...(at === undefined ? {} : { call: at.call.address }),
    })
    const pending = { id: wait.id, openedAt }
    log.waits.push(pending)
    if (at !== undefined) at.call.wait = pending
  })

/** An agent that opens many waits before any of them is answered. */
const askMany = fc
  .record({ request: arbitraryWaitRequest, count: fc.integer({ min: 20, max: 60 }) })
  .map(({ request, count }): Move => (log) => {
    ensureRun(log)
    for (let n = 0; n < count; n++) {
      const wait = { ...request, id: log.newId('w') }
      log.waits.push({ id: wait.id, openedAt: log.append({ type: 'wait.opened', wait }) })
    }
  })

const answer = fc.record({ pick, answer: arbitraryAnswer }).map(({ pick, answer }): Move => (log) => {
  const wait = pickFrom(log.waits, pick)
  if (wait === undefined) return
  log.waits = log.waits.filter((other) => other !== wait)
  log.append({ type: 'wait.answered', waitId: wait.id, answer }, { by: 'user', cause: log.newId('k') })
})

const withdraw = fc
  .record({ pick, reason: fc.option(arbitraryCancelReason) })
  .map(({ pick, reason }): Move => (log) => {
    const wait = pickFrom(log.waits, pick)
    if (wait === undefined) return
    log.waits = log.waits.filter((other) => other !== wait)
    if (reason === null) log.append({ type: 'wait.superseded', waitId: wait.id })
    else log.append({ type: 'wait.cancelled', waitId: wait.id, reason })
  })

const beginCall = pick.map((pick): Move => (log) => {
  const ready = callsAt(log, 'ordered', 'started').filter(({ call }) => !isWaiting(log, call))
  const at = pickFrom(ready, pick)
  if (at === undefined) return
  const { call } = at
  const run = ensureRun(log)
  call.stage = 'started'
  call.attempt += 1
  log.append({
    type: 'call.started',
    ...call.address,
    toolCallId: call.toolCallId,
    attempt: call.attempt,
    idempotencyKey: `${run.runId}:${call.toolCallId}`,
  })
})

const print = fc.record({ pick, output: arbitraryText }).map(({ pick, output }): Move => (log) => {
  const at = pickFrom(callsAt(log, 'started'), pick)
  if (at === undefined) return
  ensureRun(log)
  batch(log, at.message, addResultPart(at.message, at.call), output)
})

const finishCall = fc
  .record({
    pick,
    value: arbitraryJsonValue,
    outcome: fc.constantFrom('ok' as const, 'error' as const, 'denied' as const, 'in-doubt' as const),
    isApart: fc.boolean(),
  })
  .map(({ pick, ...result }): Move => (log) => {
    const done = callsAt(log, 'ordered', 'started').filter(({ call }) => !isWaiting(log, call))
    const at = pickFrom(done, pick)
    if (at === undefined) return
    ensureRun(log)
    endCall(log, at.message, at.call, result)
  })

const park: Move = (log) => {
  const { run } = log
  if (run === null || run.isParked || log.waits.length === 0) return
  run.isParked = true
  log.append({ type: 'run.parked', runId: run.runId, waitIds: log.waits.map((wait) => wait.id) })
}

const resume = fc
  .constantFrom('crash' as const, 'answer' as const, 'takeover' as const)
  .map((reason): Move => (log) => {
    if (log.run !== null) resumeRun(log, log.run, reason)
  })

const cancel = fc.constantFrom('clean' as const, 'killed' as const, 'gone' as const).map((how): Move => (log) => {
  const { run } = log
  if (run === null) return
  const calls = callsAt(log, 'ordered', 'started').map(({ call }) => call.toolCallId)
  const receipt = { how, calls, orphansKilled: 0, queued: log.queue.map((item) => item.id) }
  log.append({ type: 'run.cancelled', runId: run.runId, receipt })
  endRun(log, 'aborted')
  log.append({ type: 'queue.held', held: true })
})

const fail = agentEventsByType.error.map((event): Move => (log) => {
  if (log.run !== null) log.append(event)
})

/** What happens while an agent has the floor. */
export const agentMoves: readonly fc.WeightedArbitrary<Move>[] = [
  { weight: 8, arbitrary: speak },
  { weight: 10, arbitrary: goOn },
  { weight: 6, arbitrary: endPart },
  { weight: 6, arbitrary: orderCall },
  { weight: 1, arbitrary: makeFile },
  { weight: 1, arbitrary: delegate },
  { weight: 3, arbitrary: ask },
  { weight: 1, arbitrary: askMany },
  { weight: 3, arbitrary: answer },
  { weight: 1, arbitrary: withdraw },
  { weight: 6, arbitrary: beginCall },
  { weight: 3, arbitrary: print },
  { weight: 4, arbitrary: finishCall },
  { weight: 1, arbitrary: fc.constant<Move>((log) => endMessages(log, 'ok')) },
  {
    weight: 1,
    arbitrary: fc.tuple(arbitraryFinishReason, arbitraryUsageIncrement).map(
      ([reason, usage]): Move =>
        (log) =>
          endStep(log, reason, usage),
    ),
  },
  { weight: 2, arbitrary: fc.constant<Move>((log) => startStep(log)) },
  {
    weight: 1,
    arbitrary: fc.tuple(arbitraryRunOutcome, arbitraryUsageIncrement).map(
      ([outcome, increment]): Move =>
        (log) =>
          endTurn(log, outcome, increment),
    ),
  },
  {
    weight: 2,
    arbitrary: arbitraryRunOutcome.map(
      (outcome): Move =>
        (log) =>
          endRun(log, outcome),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Move>(abandonRun) },
  { weight: 2, arbitrary: fc.constant<Move>(park) },
  { weight: 1, arbitrary: resume },
  { weight: 1, arbitrary: cancel },
  { weight: 1, arbitrary: fail },
]
