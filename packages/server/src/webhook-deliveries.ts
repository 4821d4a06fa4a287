import { createHash, createHmac } from 'node:crypto'
import { recordsAfter } from '@inspan/core/engine'
import { InspanError, type JsonObject } from '@inspan/protocol'
import { isForPerson } from '@inspan/protocol/internal'
import type { DeltaFrame, LogRecord } from '@inspan/protocol/log'
import type { Delivery, Store } from '@inspan/protocol/store'

export type WebhookEvent = 'wait' | 'run-ended' | 'limit'

export interface Webhook {
  readonly url: string
  /** Signs every delivery. At least 16 characters. */
  readonly secret: string
  /** Default: all. */
  readonly events?: readonly WebhookEvent[]
}

const TIMEOUT_MS = 10_000

export function checkHooks(hooks: readonly Webhook[]): void {
  if (hooks.every(({ secret, url }) => /^https?:\/\//.test(url) && secret.length >= 16)) return
  throw new InspanError('invalid-input', 'A webhook needs an http address and a secret of 16 characters or more.')
}

/** Whether a frame opens a wait or ends a run. */
export function mayHoldEvents(operations: DeltaFrame['operations']): boolean {
  return operations.some(
    ({ path, type }) => type === 'set' && path[0] === 'head' && (path[1] === 'waits' || path[1] === 'lastRun'),
  )
}

/** Returns what the hooks want to hear of a thread's records after a seq, and the seq of the last one. */
export async function collectDeliveries(
  store: Store,
  thread: string,
  after: number,
  hooks: readonly Webhook[],
): Promise<{ readonly deliveries: readonly Delivery[]; readonly seq: number }> {
  let seq = after
  const deliveries: Delivery[] = []
  for await (const record of recordsAfter(store, thread, seq)) {
    ;({ seq } = record)
    const event = eventOf(record)
    if (event === undefined) continue
    const id = digest(`${thread}/${record.seq}/${event.type}`)
    const body = JSON.stringify({ id, thread, seq: record.seq, at: record.at, ...event })
    for (const { events, url } of hooks) {
      if (events === undefined || events.includes(event.type)) deliveries.push({ id, target: url, body })
    }
  }
  return { deliveries, seq }
}

export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

/** Sends a delivery once. True if it was taken, or if its hook is no longer configured. */
export async function sendDelivery(
  { body, id, target }: Delivery,
  hooks: readonly Webhook[],
  now: number,
  signal: AbortSignal,
): Promise<boolean> {
  const secret = hooks.find(({ url }) => url === target)?.secret
  if (secret === undefined) return true
  const time = Math.floor(now / 1000)
  const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
  try {
    const response = await fetch(target, {
      method: 'POST',
      redirect: 'error',
      headers: {
        'content-type': 'application/json',
        'x-inspan-event': id,
        'x-inspan-signature': `t=${time},v1=${signature}`,
      },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    await response.body?.cancel()
    return response.ok
  } catch {
    return false
  }
}

function eventOf({ body }: LogRecord): ({ type: WebhookEvent } & JsonObject) | undefined {
  if (body.type === 'run.ended') return { type: 'run-ended', runId: body.runId, outcome: body.outcome }
  // Whether the run then ends or waits for the limit to end.
  if (body.type === 'note' && body.kind === 'limit' && body.data?.['status'] === 'reached') {
    return { ...body.data, type: 'limit', description: body.text }
  }
  if (body.type !== 'wait.opened' || body.answered === true || !isForPerson(body.wait)) return undefined
  const { description, id, kind } = body.wait
  return { type: 'wait', waitId: id, kind, description }
}
