import { Bell, CircleDot, Clock, Columns3, Folder, Plus } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { Client, ThreadOverview } from '@inspan/client'
import { Button } from '../parts/button.tsx'
import { shortTime } from '../short-time.ts'
import type { Choices } from '../use-choices.ts'
import type { OverviewState } from '../use-overview.ts'
import { AgentChoice } from './agent-choice.tsx'
import { MessageBox } from './composer.tsx'
import { WaitCard } from './waits.tsx'

interface HomeProps {
  readonly client: Client
  readonly overview: OverviewState
  readonly onOpen: (thread: string) => void
  readonly choices: Choices
  /** Starts a thread; with a prompt the agent begins at once. */
  readonly onNew: (start?: ThreadStart) => void
  readonly onCompare: () => void
}

/** What a thread begins with. */
export interface ThreadStart {
  readonly prompt: string
  readonly mode: string | undefined
  readonly model: string | undefined
}

/** More than fit on a screen; the list of threads has all of them. */
const MOST_RECENT = 30

/** The first screen: what needs you, what runs, what was done last, whichever agent it is with. */
export function Home({ choices, client, onCompare, onNew, onOpen, overview }: HomeProps): ReactNode {
  const { elsewhere, reload, threads = [] } = overview
  const [mode, setMode] = useState<string | undefined>(undefined)
  const [model, setModel] = useState('')
  const opened = [...threads, ...elsewhere.filter(({ canOpen }) => canOpen)].sort((a, b) => b.updatedAt - a.updatedAt)
  const closed = elsewhere.filter(({ canOpen }) => canOpen !== true)
  const waiting = opened.filter(isWaiting)
  const running = opened.filter(({ status }) => status === 'running')
  const chosen = choices.modes.find(({ id }) => id === (mode ?? choices.modes[0]?.id))
  const recent = opened.filter((thread) => !waiting.includes(thread) && !running.includes(thread)).slice(0, MOST_RECENT)
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex-1 overflow-y-auto">
        <div className="mx-auto w-full max-w-3xl p-4">
          <div className="mb-4 flex flex-wrap items-center gap-2">
            <h1 className="flex-1 text-xl font-semibold">What needs you</h1>
            <Button className="max-sm:hidden" onClick={onCompare}>
              <Columns3 size={14} className="mr-1 inline" />
              Compare agents
            </Button>
            <Button kind="primary" onClick={() => onNew()}>
              <Plus size={14} className="mr-1 inline" />
              New thread
            </Button>
          </div>
          {overview.threads === undefined && <p className="text-(--soft)">Looking…</p>}
          {overview.threads !== undefined && waiting.length === 0 && (
            <p className="mb-6 rounded-xl border border-dashed border-(--line) p-4 text-(--soft)">
              Nothing waits for you.{' '}
              {threads.length === 0 ? 'Write below what should be done.' : 'Write below to start something new.'}
            </p>
          )}
          {waiting.map((thread) => (
            <section key={thread.id} aria-label={`Waits: ${titleOf(thread)}`} className="mb-4">
              <ThreadLine thread={thread} icon={<Bell size={14} className="text-(--accent)" />} onOpen={onOpen} />
              {(thread.pendingApprovals ?? []).map((wait) => (
                <WaitCard
                  key={wait.waitId}
                  client={client}
                  thread={thread.id}
                  wait={wait}
                  send={(command) => {
                    void client.send({ ...command, thread: thread.id }).receipt.then(reload)
                  }}
                />
              ))}
            </section>
          ))}
          <Elsewhere title="Waits in other folders" threads={closed.filter(isWaiting)} />
          <Group
            title="Running"
            threads={running}
            onOpen={onOpen}
            icon={<CircleDot size={14} className="text-(--good)" />}
          />
          <Elsewhere title="In other folders" threads={closed.filter((thread) => !isWaiting(thread))} />
          <Group title="Recent" threads={recent} onOpen={onOpen} icon={<Clock size={14} className="text-(--soft)" />} />
        </div>
      </div>
      <footer className="border-t border-(--line) p-3">
        <div className="mx-auto max-w-3xl">
          <div className="mb-2 flex flex-wrap gap-2">
            <AgentChoice
              choices={choices}
              mode={mode ?? choices.modes[0]?.id ?? ''}
              model={model}
              onMode={setMode}
              onModel={setModel}
            />
          </div>
          <MessageBox
            isRunning={false}
            onSubmit={(prompt) => onNew({ prompt, mode, model: model === '' ? undefined : model })}
            onCancel={() => undefined}
          />
          {chosen?.description !== undefined && <p className="mt-2 text-xs text-(--soft)">{chosen.description}</p>}
        </div>
      </footer>
    </div>
  )
}

function isWaiting({ status }: ThreadOverview): boolean {
  return status === 'awaiting-approval'
}

/** Threads of projects that this server cannot open, e.g. because their folder is gone. */
function Elsewhere({ threads, title }: Pick<GroupProps, 'threads' | 'title'>): ReactNode {
  if (threads.length === 0) return null
  return (
    <section aria-label={title} className="mb-6">
      <h2 className="mb-1 text-xs font-semibold tracking-wide text-(--soft) uppercase">{title}</h2>
      <ul>
        {threads.map((thread) => (
          <li key={thread.id} className="px-2 py-1.5">
            <details>
              <summary className="flex cursor-pointer items-center gap-3">
                <Folder size={14} className="shrink-0 text-(--soft)" />
                <span className="min-w-0 flex-1 truncate">
                  <span className="font-medium">{titleOf(thread)}</span>{' '}
                  <span className="text-sm text-(--soft)">{thread.project}</span>
                </span>
                <span className="shrink-0 text-xs text-(--soft)">
                  {thread.status === 'running' ? 'running' : shortTime(thread.updatedAt)}
                </span>
              </summary>
              {(thread.pendingApprovals ?? []).map(({ description, waitId }) => (
                <p key={waitId} className="mt-1 text-sm">
                  {description}
                </p>
              ))}
              <p className="mt-1 text-sm text-(--soft)">Continue it there:</p>
              <pre className="overflow-x-auto rounded bg-(--panel) p-2 text-xs" tabIndex={0}>
                {`cd ${quoted(thread.project ?? '.')} && inspan chat --thread ${thread.id}`}
              </pre>
            </details>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Quotes a path for a shell where that is needed. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`
}

interface GroupProps {
  readonly title: string
  readonly threads: readonly ThreadOverview[]
  readonly icon: ReactNode
  readonly onOpen: (thread: string) => void
}

function Group({ icon, onOpen, threads, title }: GroupProps): ReactNode {
  if (threads.length === 0) return null
  return (
    <section aria-label={title} className="mb-6">
      <h2 className="mb-1 text-xs font-semibold tracking-wide text-(--soft) uppercase">{title}</h2>
      <ul>
        {threads.map((thread) => (
          <li key={thread.id}>
            <ThreadLine thread={thread} icon={icon} onOpen={onOpen} />
          </li>
        ))}
      </ul>
    </section>
  )
}

interface LineProps {
  readonly thread: ThreadOverview
  readonly icon: ReactNode
  readonly onOpen: (thread: string) => void
}

function ThreadLine({ icon, onOpen, thread }: LineProps): ReactNode {
  const { agentId, error, id, model, project, updatedAt } = thread
  return (
    <button
      className="flex w-full items-center gap-3 rounded-lg px-2 py-2 text-left hover:bg-(--panel)"
      onClick={() => onOpen(id)}
    >
      {icon}
      <span className="min-w-0 flex-1">
        <span className="block truncate font-medium">{titleOf(thread)}</span>
        {project !== undefined && <span className="block truncate text-sm text-(--soft)">{project}</span>}
        {error !== undefined && <span className="block truncate text-sm text-(--bad)">{error}</span>}
      </span>
      <span className="shrink-0 rounded-full border border-(--line) px-2 text-xs text-(--soft)">
        {model === undefined ? agentId : `${agentId} · ${model}`}
      </span>
      <span className="shrink-0 text-xs text-(--soft)">{shortTime(updatedAt)}</span>
    </button>
  )
}

function titleOf({ title }: ThreadOverview): string {
  return title ?? 'Untitled'
}
