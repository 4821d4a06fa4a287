import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { JsonObject, JsonValue } from '@inspan/protocol'
import { forever, pause } from '../abort.ts'
import { newToolCallId } from '../ids.ts'
import { UnplayableTurn } from '../script-errors.ts'
import type { ScriptedError, ModelTurn } from '../script.ts'
import { defaultStatus, errorHeaders, streamErrorAsCallError } from '../scripted-error.ts'
import { planTurn, stepsOf } from '../timeline.ts'
import type { Plan } from '../timeline.ts'
import type { WireFormat } from './wire.ts'

/** Small writes are joined up to this size: the events stay separate, but need fewer system calls. */
const writeSize = 16_384

export interface Answering {
  readonly response: ServerResponse
  readonly format: WireFormat
  readonly body: JsonObject
  /** Aborted when the client disconnects. */
  readonly gone: AbortSignal
}

/** Plays one turn and returns how it ended. Rejects when the client disconnects, or the format cannot express it. */
export async function answer(turn: ModelTurn, to: Answering): Promise<'answered' | 'cut'> {
  if (turn.delayMs !== undefined) await pause(turn.delayMs, to.gone)
  for (const [name, value] of Object.entries(turn.headers ?? {})) to.response.setHeader(name, value)
  if (turn.error !== undefined) return sendError(turn.error, to)
  const plan = planTurn(turn, newToolCallId)
  const streams = to.body['stream'] === true
  const refused = to.format.refuses(plan, streams)
  if (refused !== undefined) throw new UnplayableTurn(refused)
  if (plan.parts.length === 0) {
    if (plan.ending.kind === 'hang') await forever(to.gone)
    if (plan.ending.kind === 'cut' && plan.ending.how !== 'end') return breakConnection(to)
  }
  return streams ? stream(plan, turn, to) : sendWhole(plan, turn, to)
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: JsonValue,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const contentType = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json'
  response.writeHead(status, { 'content-type': contentType, 'content-length': Buffer.byteLength(text), ...headers })
  response.end(text)
}

export function sendError(error: ScriptedError, to: Pick<Answering, 'response' | 'format'>): 'answered' {
  const status = error.status ?? defaultStatus
  sendJson(to.response, status, error.body ?? to.format.errorBody(error, status), errorHeaders(error))
  return 'answered'
}

async function stream(plan: Plan, turn: ModelTurn, to: Answering): Promise<'answered' | 'cut'> {
  const { response } = to
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
  const events = to.format.events(plan, to.body)
  let waiting = events.begin()
  const flush = async (): Promise<void> => {
    const text = waiting
    waiting = ''
    if (text !== '' && !response.write(text)) await once(response, 'drain', { signal: to.gone })
  }
  for (const { at, part, delta } of stepsOf(plan)) {
    if (at === 'open') waiting += events.open(part)
    else if (at === 'close') waiting += events.close(part)
    else {
      if (turn.delayPerDeltaMs !== undefined) {
        await flush()
        await pause(turn.delayPerDeltaMs, to.gone)
      }
      waiting += events.delta(part, delta)
    }
    if (waiting.length >= writeSize) await flush()
  }
  const { ending } = plan
  if (ending.kind === 'finish') waiting += events.finish()
  if (ending.kind === 'error') waiting += events.fail(ending.error)
  if (ending.kind === 'hang') {
    await flush()
    await forever(to.gone)
  }
  if (ending.kind === 'cut') return cut(waiting, ending.how, to)
  response.end(waiting)
  return 'answered'
}

async function sendWhole(plan: Plan, turn: ModelTurn, to: Answering): Promise<'answered' | 'cut'> {
  const { ending } = plan
  const deltas = plan.parts.reduce((sum, part) => sum + part.deltas.length, 0)
  if (turn.delayPerDeltaMs !== undefined) await pause(turn.delayPerDeltaMs * deltas, to.gone)
  if (ending.kind === 'hang') await forever(to.gone)
  if (ending.kind === 'error') {
    return sendError(streamErrorAsCallError(ending.error), to)
  }
  const whole = to.format.whole(plan, to.body)
  if (ending.kind === 'cut') {
    const text = JSON.stringify(whole)
    to.response.writeHead(200, { 'content-type': 'application/json' })
    return cut(text.slice(0, text.length / 2), ending.how, to)
  }
  sendJson(to.response, 200, whole)
  return 'answered'
}

async function cut(text: string, how: 'default' | 'end' | 'reset', to: Answering): Promise<'cut'> {
  if (how === 'end') {
    to.response.end(text)
    return 'cut'
  }
  // Waits until the system has all of it, because the client must see what was sent before the break.
  await new Promise((resolve) => to.response.write(text, resolve))
  return breakConnection(to)
}

function breakConnection(to: Answering): 'cut' {
  to.response.destroy()
  return 'cut'
}
