import type { CommandKey, CommandRow, Store } from '@inspan/protocol/store'
import type { CommandResult } from '@inspan/protocol/wire'
import type { ThreadRuntimeOptions } from '../thread-options.ts'
import { KeyedCommand } from './ledger.ts'
import type { ThreadCommand } from './thread-command.ts'
import { allItems } from '../../common/all-items.ts'

const PAGE = 100

type ExecuteCommand = (command: ThreadCommand, key: CommandKey) => Promise<CommandResult>

/** Carries out the accepted commands of one thread, in the order they came. What fails stays accepted. */
export async function executePendingOf(
  { store, thread }: Pick<ThreadRuntimeOptions, 'store' | 'thread'>,
  execute: ExecuteCommand,
): Promise<void> {
  for await (const { body, key } of accepted(store, thread)) {
    // The bodies of commands for a deleted thread are gone.
    if (body !== null) await execute(body as unknown as ThreadCommand, key).catch(() => undefined)
  }
}

/**
 * Finds accepted commands that nobody has carried out yet, e.g. because another process admitted them, and has the
 * thread of each opened once: whoever opens a thread carries them out. Commands for threads that are gone are rejected.
 * `until`: those admitted later are left alone.
 */
export async function executePending(
  store: Store,
  open: (thread: string) => Promise<unknown>,
  until: number = Number.POSITIVE_INFINITY,
  now: () => number = Date.now,
): Promise<void> {
  const threads = new Set<string>()
  for await (const { at, key, target } of accepted(store)) {
    // One from the future has the time of another machine, whose clock is ahead.
    const isFresh = at > until && at <= now()
    if (isFresh || threads.has(target)) continue
    // Opening a thread costs much more than looking whether another process has carried it out since it was listed.
    if (!(await hasAccepted(store, target))) continue
    if ((await store.getThread(target)) === null) {
      await new KeyedCommand(store, key).conclude({ status: 'rejected', reason: 'unknown-id' })
      continue
    }
    threads.add(target)
    await open(target)
  }
}

async function hasAccepted(store: Store, target: string): Promise<boolean> {
  return (await store.listCommands({ state: 'accepted', target, limit: 1 })).items.length > 0
}

function accepted(store: Store, target?: string): AsyncGenerator<CommandRow> {
  const query = { state: 'accepted', limit: PAGE, ...(target === undefined ? {} : { target }) } as const
  return allItems((from) => store.listCommands({ ...query, ...from }))
}
