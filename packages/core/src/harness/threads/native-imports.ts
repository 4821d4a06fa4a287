import { createHash } from 'node:crypto'
import { InspanError } from '@inspan/protocol'
import type { NativeMessage, NativeSessionInfo } from '@inspan/protocol/driver'
import type { MessageAddedRecord, ThreadState } from '@inspan/protocol/log'
import { createThread, type ThreadRuntime } from '../../engine/index.ts'
import type { HarnessCore } from '../harness-core.ts'

/** The folder of an imported session, which its agent needs to resume it. Clients cannot set it. */
const FOLDER_SETTING = 'folder'

/** Returns the folder that coding agents work in, for a thread that does not use that of the harness. */
export function importedFolder({ head }: ThreadState): string | undefined {
  const folder = head.settings.get(FOLDER_SETTING)
  return typeof folder === 'string' ? folder : undefined
}

/** A session that a coding agent keeps on this machine, ours or begun without us. */
export interface ListedSession extends NativeSessionInfo {
  readonly agentId: string
}

export interface ImportOptions {
  readonly resourceId: string
  /** The agent's own id of the session. */
  readonly sessionId: string
  /** Where to look for it. */
  readonly folders: readonly string[]
}

/** Returns the sessions that the agents of the harness have in a folder, newest first. */
export async function nativeSessions(core: HarnessCore, folder: string): Promise<readonly ListedSession[]> {
  const found = await Promise.all(
    core.agents.all.map(async ({ id }) => {
      const listed = await core.agents.driver(id)?.sessions?.list(folder)
      return (listed ?? []).map((session): ListedSession => ({ ...session, agentId: id }))
    }),
  )
  return found.flat().sort((a, b) => b.updatedAt - a.updatedAt)
}

/**
 * Returns the thread that continues a native session, made on first use: its history is imported, and the next turn
 * resumes the session itself. `undefined` if no agent has such a session in these folders.
 */
export async function importedThread(
  core: HarnessCore,
  { folders, resourceId, sessionId }: ImportOptions,
  use: (threadId: string) => Promise<{ readonly runtime: ThreadRuntime; release(): void }>,
): Promise<string | undefined> {
  const session = await findSession(core, sessionId, folders)
  if (session === undefined) return undefined
  const { agentId, cwd } = session
  // A native session belongs to one thread: asking again, also at the same time, finds the same one.
  const threadId = threadIdOf(resourceId, agentId, sessionId)
  if ((await core.store.getThread(threadId)) === null) {
    const title = session.title?.slice(0, MAX_TITLE)
    const named = title === undefined || title === '' ? {} : { title }
    await createThread(core.store, { id: threadId, resourceId, now: core.now(), ...named }).catch((error: unknown) => {
      if (!InspanError.is(error, 'already-exists')) throw error
    })
  }
  const used = await use(threadId)
  try {
    await used.runtime.change(async (log) => {
      if (log.state.head.bindings.has(agentId)) return
      const driver = core.agents.driver(agentId)
      const messages = await Array.fromAsync(driver?.sessions?.read(sessionId, cwd) ?? [])
      const records = messages.map((message, index) => imported(message, `${threadId}-${index}`, sessionId))
      // The agent knows everything up to the binding itself.
      const syncedTo = log.state.head.seq + records.length + 2
      // One commit: a thread with half of the history must never be seen.
      await log.commit([
        ...records,
        { type: 'config.changed', agentId, ...modeOf(core, agentId), settings: { [FOLDER_SETTING]: cwd } },
        {
          type: 'binding.changed',
          binding: { agentId, nativeId: sessionId, syncedTo, cwd, extra: { imported: true } },
        },
      ])
    })
  } finally {
    used.release()
  }
  return threadId
}

const MAX_TITLE = 200

async function findSession(
  core: HarnessCore,
  sessionId: string,
  folders: readonly string[],
): Promise<ListedSession | undefined> {
  for (const folder of folders) {
    const found = (await nativeSessions(core, folder)).find(({ id }) => id === sessionId)
    if (found !== undefined) return found
  }
  return undefined
}

/** A thread works with the agent of its mode, so it needs a mode of that agent. */
function modeOf(core: HarnessCore, agentId: string): { mode?: string } {
  const mode = core.config.modes.find((each) => core.agents.of(each).id === agentId)
  return mode === undefined ? {} : { mode: mode.id }
}

function imported({ at, id, parts, role }: NativeMessage, messageId: string, sessionId: string): MessageAddedRecord {
  return {
    type: 'message.added',
    messageId,
    role,
    parts,
    ...(at === undefined ? {} : { createdAt: at }),
    native: { sessionId, ...(id === undefined ? {} : { messageId: id }) },
  }
}

function threadIdOf(...names: readonly string[]): string {
  return `native-${createHash('sha256').update(JSON.stringify(names)).digest('hex').slice(0, 32)}`
}
