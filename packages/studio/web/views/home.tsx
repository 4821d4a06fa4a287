import { Bell, CircleDot, Clock, Columns3, Plus } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { Client, ThreadOverview } from '@inspan/client'
import { Button } from '../parts/button.tsx'
import { shortTime } from '../short-time.ts'
import type { Choices } from '../use-choices.ts'
import type { Overview } from '../use-overview.ts'
import { AgentChoice } from './agent-choice.tsx'
import { MessageBox } from './composer.tsx'
import { WaitCard } from './waits.tsx'

interface Props {
  readonly client: Client
  readonly overview: Overview
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

/** The first screen: what needs you, what runs, what was done last, whichever agent it is with. */
export function Home({ choices, client, onCompare, onNew, onOpen, overview }: Props): ReactNode {
  const { reload, threads = [] } = overview
  const [mode, setMode] = useState<string | undefined>(undefined)
  const [model, setModel] = useState('')
  const waiting = threads.filter(({ status }) => status === 'awaiting-approval')
  const running = threads.filter(({ status }) => status === 'running')
  const recent = threads.filter((thread) => !waiting.includes(thread) && !running.includes(thread))
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="mx-auto w-full max-w-3xl flex-1 overflow-y-auto p-4">
        <div className="mb-4 flex flex-wrap items-center gap-2">
          <h1 className="flex-1 text-xl font-semibold">What needs you</h1>
          <Button onClick={onCompare}>
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
            {threads.length === 0 ? 'Write below what is to be done.' : 'Write below to start something new.'}
          </p>
        )}
        {waiting.map((thread) => (
          <section key={thread.id} aria-label={`Waits: ${titleOf(thread)}`} className="mb-4">
            <ThreadLine thread={thread} icon={<Bell size={14} className="text-(--accent)" />} onOpen={onOpen} />
            {(thread.pendingApprovals ?? []).map((wait) => (
              <WaitCard
                key={wait.waitId}
                wait={wait}
                send={(command) => {
                  void client.send({ ...command, thread: thread.id }).receipt.then(reload)
                }}
              />
            ))}
          </section>
        ))}
        <Group
          title="Running"
          threads={running}
          onOpen={onOpen}
          icon={<CircleDot size={14} className="text-(--good)" />}
        />
        <Group title="Recent" threads={recent} onOpen={onOpen} icon={<Clock size={14} className="text-(--soft)" />} />
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
        </div>
      </footer>
    </div>
  )
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
  const { agentId, error, id, model, updatedAt } = thread
  return (
    <button
      className="flex w-full items-center gap-3 rounded-lg px-2 py-2 text-left hover:bg-(--panel)"
      onClick={() => onOpen(id)}
    >
      {icon}
      <span className="min-w-0 flex-1">
        <span className="block truncate font-medium">{titleOf(thread)}</span>
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
