import { Plus, Search } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Client, ThreadSummary } from '@inspan/client'
import { useHarness } from '@inspan/client/react'
import type { Threads } from '../use-threads.ts'

interface Props {
  readonly client: Client
  readonly threads: Threads
  readonly current: string
  readonly onOpen: (thread: string) => void
}

export function Sidebar({ client, current, onOpen, threads }: Props): ReactNode {
  const { state: status } = useHarness(client, (state) => state.status)
  const create = async (): Promise<void> => {
    const thread = await client.routes.createThread()
    threads.reload()
    onOpen(thread.id)
  }
  return (
    <nav aria-label="Threads" className="flex h-full w-72 flex-col border-r border-(--line) bg-(--panel)">
      <div className="flex items-center gap-2 p-3">
        <span className="flex-1 font-semibold">Inspan</span>
        <button
          className="rounded-lg p-1.5 hover:bg-(--bg)"
          aria-label="New thread"
          title="New thread"
          onClick={() => void create()}
        >
          <Plus size={18} />
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
              status={thread.id === current ? status : undefined}
              onOpen={onOpen}
            />
          </li>
        ))}
        {threads.list.length === 0 && <li className="p-3 text-sm text-(--soft)">No thread matches.</li>}
      </ul>
    </nav>
  )
}

interface RowProps {
  readonly thread: ThreadSummary
  readonly isCurrent: boolean
  readonly status: string | undefined
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

function shortTime(at: number): string {
  const date = new Date(at)
  const isToday = date.toDateString() === new Date().toDateString()
  return isToday ? date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' }) : date.toLocaleDateString()
}
