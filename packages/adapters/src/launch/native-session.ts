import { createHash, randomUUID } from 'node:crypto'
import type { UsageTotals } from '@inspan/protocol'
import type { Binding, Capabilities, Host } from '@inspan/protocol/driver'
import type { RunWarning } from './run-note.ts'

/** The native session that a turn continues. */
export type SessionChoice =
  /** `id` may be used by CLIs that let us choose the session's id. `because`: why an earlier session is not resumed. */
  | { readonly kind: 'new'; readonly id: string; readonly because?: string }
  /** Resumes at the anchor; without one, at the end of the session. */
  | { readonly kind: 'resume'; readonly nativeId: string; readonly anchor?: string }
  /** A new session that shares the other one's messages up to the anchor. */
  | { readonly kind: 'fork'; readonly nativeId: string; readonly anchor: string; readonly id: string }

/** Returns the warning for a turn that should have resumed a session and begins a new one. */
export function newSession(session: SessionChoice, title: string): readonly RunWarning[] {
  if (session.kind !== 'new' || session.because === undefined) return []
  return [{ message: `${title} begins a new session, because ${session.because}.`, code: 'new-session' }]
}

/** What we know about a native session during a turn or after it. */
export interface NativeSessionFacts {
  readonly agentId: string
  readonly nativeId: string
  readonly version: string | undefined
  readonly cwd: string | undefined
  readonly anchor: string | undefined
  readonly usageTotal: UsageTotals | undefined
  /** The turn ended by itself, so the session ends where our log does. */
  readonly isSettled: boolean
  /** Hash of the instructions that the session started with. */
  readonly instructions: string | undefined
}

/** Returns the binding of the thread to the session. `before` is the binding that the turn began with. */
export function bindingOf(facts: NativeSessionFacts, before: Binding | null): Binding {
  const { agentId, nativeId, version, cwd, anchor, isSettled, instructions } = facts
  const usageTotal = facts.usageTotal ?? (before?.nativeId === nativeId ? before.usageTotal : undefined)
  return {
    agentId,
    nativeId,
    syncedTo: before?.syncedTo ?? 0,
    ...(anchor === undefined ? {} : { anchor }),
    ...(usageTotal === undefined ? {} : { usageTotal }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(version === undefined ? {} : { version }),
    extra: {
      ...(isSettled ? { settled: true } : {}),
      ...(instructions === undefined ? {} : { instructions }),
    },
  }
}

export function instructionsHash(instructions: string | undefined): string | undefined {
  return instructions === undefined ? undefined : createHash('sha256').update(instructions).digest('hex').slice(0, 16)
}

/** Chooses the native session for the next turn. Never resumes one beyond what our own log holds. */
export async function chooseSession(
  binding: Binding | null,
  { resume, fork }: Pick<Capabilities, 'resume' | 'fork'>,
  history: Host['history'],
): Promise<SessionChoice> {
  const fresh = (because?: string): SessionChoice => ({
    kind: 'new',
    id: randomUUID(),
    ...(because === undefined ? {} : { because }),
  })
  if (binding === null) return fresh()
  const { nativeId, anchor, stale, origin, extra } = binding
  if (stale === 'erased') return fresh('its session holds what was erased')
  if (origin === true || stale === 'rewound') {
    if (fork !== 'anchor') return fresh('it cannot fork its session at a given message')
    const found = await lastMessageOf(nativeId, history)
    if (found === undefined) return fresh('nothing of its session belongs to this thread')
    return { kind: 'fork', nativeId, anchor: found, id: randomUUID() }
  }
  // The session was read to its end when it was imported, just before its first turn here.
  if (extra?.['imported'] === true && anchor === undefined && resume !== 'none') return { kind: 'resume', nativeId }
  if (resume === 'anchor') {
    return anchor === undefined ? fresh('nothing of its session was recorded') : { kind: 'resume', nativeId, anchor }
  }
  if (resume === 'none') return fresh('it cannot resume a session')
  if (extra?.['settled'] === true) return { kind: 'resume', nativeId }
  return fresh('its session may have gone on unseen, and it can only resume at the end')
}

/** Returns the newest message of the native session in the thread's history. */
async function lastMessageOf(sessionId: string, history: Host['history']): Promise<string | undefined> {
  for await (const message of history({ order: 'newest' })) {
    for (const { native } of [...message.parts.toReversed(), message]) {
      if (native?.sessionId === sessionId && native.messageId !== undefined) return native.messageId
    }
  }
  return undefined
}
