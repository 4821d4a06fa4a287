import { InspanError, type JsonObject, type JsonValue, type NativeRef } from '@inspan/protocol'
import { asArray, asObject, asText } from '../../kit/fields.ts'
import { codexProfile } from '../profile.ts'
import type { LaunchRequest } from '../../launch/launch-plan.ts'
import type { SessionChoice } from '../../launch/native-session.ts'
import type { LiveTask } from '../../live/live-cli-spec.ts'
import { sandboxOf } from './launch.ts'

export type Call = (method: string, params: JsonObject) => Promise<JsonObject>

const PAGE = 50

/**
 * The only policy under which the app server asks about every command and file change (docs/internals/adapters.md
 * compares them). Codex dropped the value from its configuration file, where we never put it; a version that drops it
 * here too is refused by `openAsking`.
 */
const ASK_ALWAYS = 'untrusted'
/** How a version without it refuses: unknown variant `untrusted`, or "untrusted" is no longer supported. */
const UNKNOWN_POLICY = new RegExp(`["'\`]${ASK_ALWAYS}["'\`]`)

export interface OpenedThread {
  readonly id: string
  /** Tells which messages the thread holds, if it does not hold all of its own. */
  readonly isKnown?: (native: NativeRef) => boolean
}

/** Begins a native thread, or resumes one at our anchor. Turns beyond the anchor are not in our log and are removed. */
export async function openThread(call: Call, { request, history }: LiveTask): Promise<OpenedThread> {
  const { session } = request
  switch (session.kind) {
    case 'new':
      return { id: await beginThread(call, request) }
    case 'fork':
      return forkThread(call, request, session, history)
    case 'resume': {
      const resumed = { ...settingsOf(request), threadId: session.nativeId, excludeTurns: true }
      const id = await openAsking(call, 'thread/resume', resumed)
      if (session.anchor !== undefined) await revertTo(call, id, session.anchor)
      return { id }
    }
  }
}

async function beginThread(call: Call, request: LaunchRequest): Promise<string> {
  return openAsking(call, 'thread/start', { ...settingsOf(request), ...instructionsOf(request) })
}

/** Forks after whole turns only. A turn that our thread holds in part is left out, and that part is handed over. */
async function forkThread(
  call: Call,
  request: LaunchRequest,
  { nativeId, anchor }: Extract<SessionChoice, { kind: 'fork' }>,
  history: LiveTask['history'],
): Promise<OpenedThread> {
  const isWhole = (await lastItemOf(call, nativeId, anchor)) === (await lastHeldItem(history, nativeId, anchor))
  const lastTurnId = isWhole ? anchor : await turnBefore(call, nativeId, anchor)
  if (lastTurnId === undefined) return { id: await beginThread(call, request), isKnown: () => false }
  const model = request.model ?? (await modelOf(call, nativeId))
  const id = await openAsking(call, 'thread/fork', {
    ...settingsOf(request),
    threadId: nativeId,
    lastTurnId,
    excludeTurns: true,
    ...(model === undefined ? {} : { model }),
  })
  return { id, ...(isWhole ? {} : { isKnown: ({ sessionId, turnId }) => sessionId === nativeId && turnId !== anchor }) }
}

async function lastItemOf(call: Call, threadId: string, turnId: string): Promise<string | undefined> {
  const { data } = await call('thread/items/list', { threadId, turnId, sortDirection: 'desc', limit: 1 })
  return asText(asObject(asObject(asArray(data)?.[0])?.['item'])?.['id'])
}

/** Returns the newest item of the turn that our own thread holds. */
async function lastHeldItem(
  history: LiveTask['history'],
  threadId: string,
  turnId: string,
): Promise<string | undefined> {
  for await (const message of history({ order: 'newest' })) {
    for (const { native } of [...message.parts.toReversed(), message]) {
      if (native?.sessionId === threadId && native.turnId === turnId && native.itemId !== undefined)
        return native.itemId
    }
  }
  return undefined
}

function settingsOf(request: LaunchRequest): JsonObject {
  return {
    cwd: request.cwd,
    sandbox: sandboxOf(request),
    // Ask about everything, and ask us.
    approvalPolicy: ASK_ALWAYS,
    approvalsReviewer: 'user',
    ...(request.model === undefined ? {} : { model: request.model }),
  }
}

function instructionsOf({ instructions }: LaunchRequest): JsonObject {
  return instructions === undefined ? {} : { developerInstructions: instructions }
}

/** Any other model would compact the history first. */
async function modelOf(call: Call, threadId: string): Promise<string | undefined> {
  return asText(asObject((await call('thread/read', { threadId }))['thread'])?.['model'])
}

async function revertTo(call: Call, threadId: string, anchor: string): Promise<void> {
  let beyond: string | undefined
  for await (const id of turnsOf(call, threadId)) {
    if (id === anchor) {
      if (beyond !== undefined) await call('thread/revert', { threadId, beforeTurnId: beyond })
      return
    }
    beyond = id
  }
  throw new InspanError('not-found', `${codexProfile.title} has no turn ${anchor} in its thread ${threadId}.`, {
    hint: 'Its session was changed by somebody else. Begin a new one.',
  })
}

async function turnBefore(call: Call, threadId: string, turnId: string): Promise<string | undefined> {
  let isNext = false
  for await (const id of turnsOf(call, threadId)) {
    if (isNext) return id
    isNext = id === turnId
  }
  return undefined
}

/** Yields turn ids, newest first. */
async function* turnsOf(call: Call, threadId: string): AsyncGenerator<string> {
  let cursor: string | undefined
  do {
    const page = await call('thread/turns/list', {
      threadId,
      limit: PAGE,
      sortDirection: 'desc',
      itemsView: 'notLoaded',
      ...(cursor === undefined ? {} : { cursor }),
    })
    for (const item of asArray(page['data']) ?? []) {
      const id = asText(asObject(item)?.['id'])
      if (id !== undefined) yield id
    }
    cursor = asText(page['nextCursor'])
  } while (cursor !== undefined)
}

/** Returns the id of the thread. Refuses one in which Codex would run commands without asking: no rule would hold there. */
async function openAsking(call: Call, method: string, params: JsonObject): Promise<string> {
  const result = await call(method, params).catch((error: unknown) => {
    throw InspanError.is(error) && UNKNOWN_POLICY.test(error.message) ? doesNotAsk(error.message) : error
  })
  const id = asText(asObject(result['thread'])?.['id'])
  if (id === undefined)
    throw new InspanError('unsupported', `${codexProfile.title} did not say which thread it opened.`)
  const { approvalPolicy } = result
  if (approvalPolicy !== ASK_ALWAYS) throw doesNotAsk(approvalPolicy ?? null)
  return id
}

function doesNotAsk(got: JsonValue): InspanError {
  return new InspanError('policy-unsupported', `${codexProfile.title} no longer asks before it runs commands.`, {
    hint: "Use another version of it, or `transport: 'print'`, where its sandbox keeps the rules.",
    details: { asked: ASK_ALWAYS, got },
  })
}
