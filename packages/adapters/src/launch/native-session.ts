import { createHash, randomUUID } from 'node:crypto'
import type { Binding, Capabilities, Host, UsageTotals } from '@evener/protocol'
import type { RunWarning } from './run-note.ts'

/** The conversation of the program's own that a turn goes on with. */
export type NativeSession =
  /** `id` is free to be used by programs that let their session be named. `because`: why an earlier one is not resumed. */
  | { readonly kind: 'new'; readonly id: string; readonly because?: string }
  /** Without an anchor: at its end. */
  | { readonly kind: 'resume'; readonly nativeId: string; readonly anchor?: string }
  /** A new session that shares what the other one holds up to the anchor. */
  | { readonly kind: 'fork'; readonly nativeId: string; readonly anchor: string; readonly id: string }

/** What is said when a session should have been gone on with and is not. */
export function newSession(session: NativeSession, title: string): readonly RunWarning[] {
  if (session.kind !== 'new' || session.because === undefined) return []
  return [{ message: `${title} begins a new session, because ${session.because}.`, code: 'new-session' }]
}

/** What is known of a native session in the course of a turn or after it. */
export interface SessionFacts {
  readonly agentId: string
  readonly nativeId: string
  readonly version: string | undefined
  readonly cwd: string | undefined
  readonly anchor: string | undefined
  readonly usageTotal: UsageTotals | undefined
  /** The turn has ended by itself: the session's end is where we left it. */
  readonly isSettled: boolean
  /** Hash of the instructions that the session was begun with. */
  readonly instructions: string | undefined
}

/** What ties the thread to the session, after a turn that began with `before`. */
export function bindingOf(facts: SessionFacts, before: Binding | null): Binding {
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

/** Never continues a native session beyond what our own log holds. */
export async function chooseSession(
  binding: Binding | null,
  { resume, fork }: Pick<Capabilities, 'resume' | 'fork'>,
  history: Host['history'],
): Promise<NativeSession> {
  const fresh = (because?: string): NativeSession => ({
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
  if (resume === 'anchor') {
    return anchor === undefined ? fresh('nothing of its session was recorded') : { kind: 'resume', nativeId, anchor }
  }
  if (resume === 'none') return fresh('it cannot resume a session')
  if (extra?.['settled'] === true) return { kind: 'resume', nativeId }
  return fresh('its session may have gone on unseen, and it can only resume at the end')
}

/** The newest message of the native session that the thread's own history holds. */
async function lastMessageOf(sessionId: string, history: Host['history']): Promise<string | undefined> {
  for await (const message of history({ order: 'newest' })) {
    for (const { native } of [...message.parts.toReversed(), message]) {
      if (native?.sessionId === sessionId && native.messageId !== undefined) return native.messageId
    }
  }
  return undefined
}
