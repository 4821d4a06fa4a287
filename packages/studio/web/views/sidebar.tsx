import { Bell, Columns3, Command, Plus, Search } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Client, ThreadSummary } from '@inspan/client'
import { useHarness } from '@inspan/client/react'
import type { HarnessStatus } from '@inspan/protocol/wire'
import { goTo } from '../route.ts'
import { shortTime } from '../short-time.ts'
import type { OverviewState } from '../use-overview.ts'
import type { ThreadSearch } from '../use-threads.ts'

interface SidebarProps {
  readonly client: Client
  readonly threads: ThreadSearch
  readonly overview: OverviewState
  readonly current: string
  readonly onOpen: (thread: string) => void
  readonly onNew: () => void
  /** Called when another view was chosen. */
  readonly onMove: () => void
  readonly onPalette: () => void
}

export function Sidebar({
  client,
  current,
  onMove,
  onNew,
  onOpen,
  onPalette,
  overview,
  threads,
}: SidebarProps): ReactNode {
  const { state } = useHarness(client, ({ status, thread }) => ({ status, thread }))
  const known = new Map(overview.threads?.map(({ id, status }) => [id, status]))
  // The state of the thread that is shown is newer than the list.
  if (state.thread !== '') known.set(state.thread, state.status)
  const waiting = [...known.values()].filter((status) => status === 'awaiting-approval').length
  const move = (view: 'home' | 'compare'): void => {
    onMove()
    goTo({ view })
  }
  return (
    <nav aria-label="Threads" className="flex h-full w-72 flex-col border-r border-(--line) bg-(--panel)">
      <div className="flex items-center gap-2 p-3">
        <span className="flex-1 font-semibold">Inspan</span>
        <button
          className="rounded-lg p-1.5 hover:bg-(--bg)"
          aria-label="All commands (⌘K)"
          title="All commands (⌘K)"
          onClick={onPalette}
        >
          <Command size={18} />
        </button>
        <button className="rounded-lg p-1.5 hover:bg-(--bg)" aria-label="New thread" title="New thread" onClick={onNew}>
          <Plus size={18} />
        </button>
      </div>
      <div className="px-2 pb-2">
        <button className={LINK} onClick={() => move('home')}>
          <Bell size={14} /> <span className="flex-1">Needs you</span>
          {waiting > 0 && (
            <span className="rounded-full bg-(--accent) px-1.5 text-xs text-(--accent-text)">{waiting}</span>
          )}
        </button>
        <button className={LINK} onClick={() => move('compare')}>
          <Columns3 size={14} /> Compare agents
        </button>
      </div>
      <label className="mx-3 mb-2 flex items-center gap-2 rounded-lg border border-(--line) bg-(--bg) px-2 py-1">
        <Search size={14} className="text-(--soft)" />
        <input
          aria-label="Search threads"
          placeholder="Search"
          className="min-w-0 flex-1 bg-transparent text-sm outline-none"
          value={threads.search}
          onChange={(event) => threads.setSearch(event.target.value)}
        />
      </label>
      <ul className="flex-1 overflow-y-auto px-2 pb-3">
        {threads.list.map((thread) => (
          <li key={thread.id}>
            <ThreadRow
              thread={thread}
              isCurrent={thread.id === current}
              status={known.get(thread.id)}
              onOpen={onOpen}
            />
          </li>
        ))}
        {threads.hasMore && (
          <li>
            <button className={LINK} onClick={threads.loadMore}>
              Show more threads
            </button>
          </li>
        )}
        {threads.isRead && threads.list.length === 0 && (
          <li className="p-3 text-sm text-(--soft)">
            {threads.search === '' ? 'There are no threads yet.' : 'No thread matches.'}
          </li>
        )}
      </ul>
    </nav>
  )
}

const LINK = 'flex w-full items-center gap-2 rounded-lg px-3 py-1.5 text-left text-sm hover:bg-(--bg)'

interface RowProps {
  readonly thread: ThreadSummary
  readonly isCurrent: boolean
  readonly status: HarnessStatus | undefined
  readonly onOpen: (thread: string) => void
}

function ThreadRow({ isCurrent, onOpen, status, thread }: RowProps): ReactNode {
  return (
    <button
      className={`w-full rounded-lg px-3 py-2 text-left text-sm ${isCurrent ? 'bg-(--bg) font-medium' : 'hover:bg-(--bg)'}`}
      aria-current={isCurrent ? 'page' : undefined}
      onClick={() => onOpen(thread.id)}
    >
      <span className="block truncate">{thread.title ?? 'Untitled'}</span>
      <span className="block text-xs text-(--soft)">
        {status === 'awaiting-approval'
          ? 'waits for you'
          : status === 'running'
            ? 'running'
            : shortTime(thread.updatedAt)}
      </span>
    </button>
  )
}
