import Anser from 'anser'
import {
  Bot,
  Check,
  CircleSlash,
  FileText,
  FolderTree,
  Hourglass,
  LoaderCircle,
  Pencil,
  Search,
  Sparkles,
  Terminal,
  Wrench,
  X,
} from 'lucide-react'
import { memo, useContext, useEffect, useState, type NamedExoticComponent, type ReactNode } from 'react'
import { summarizeCall, type CallKind } from '@inspan/client'
import type { HarnessToolCall, WireMessage } from '@inspan/protocol/wire'
import { NestedContext } from '../nested.ts'
import { Diff } from '../parts/diff.tsx'
import { Markdown } from '../parts/markdown.tsx'
import { pathIn } from '../path-in.ts'
import { shownMessages } from '../shown-messages.ts'
import { useOverwritten } from '../use-overwritten.ts'

const ICONS: Readonly<Record<CallKind, typeof Wrench>> = {
  command: Terminal,
  read: FileText,
  write: Pencil,
  search: Search,
  list: FolderTree,
  skill: Sparkles,
  subagent: Bot,
  other: Wrench,
}

interface ToolCardProps {
  readonly call: HarnessToolCall
}

/** A tool call: what it does in one line, and its output when it is opened. */
export const ToolCard: NamedExoticComponent<ToolCardProps> = memo(function ToolCard({
  call,
}: ToolCardProps): ReactNode {
  const { exitCode, kind, subject } = summarizeCall(call)
  const isRunning = call.status === 'running'
  const [isOpen, setOpen] = useState<boolean | undefined>(undefined)
  const shown = isOpen ?? (isRunning && kind === 'command')
  const Icon = ICONS[kind]
  return (
    <div className="my-1.5 overflow-hidden rounded-lg border border-(--line)">
      <button
        className="flex w-full items-center gap-2 px-3 py-1.5 text-left text-sm hover:bg-(--panel)"
        aria-expanded={shown}
        onClick={() => setOpen(!shown)}
      >
        <Icon size={14} className="shrink-0 text-(--soft)" />
        <span className="shrink-0 font-medium">{call.name}</span>
        <code className="min-w-0 flex-1 truncate text-(--soft)">{subject}</code>
        {exitCode !== undefined && (
          <span className={`text-xs ${exitCode === 0 ? 'text-(--soft)' : 'text-(--bad)'}`}>exit {exitCode}</span>
        )}
        <Status status={call.status} />
      </button>
      {shown && (
        <div className="border-t border-(--line) p-3 text-sm">
          <Input kind={kind} call={call} />
          {kind === 'subagent' && <SubagentWork callId={call.id} isRunning={isRunning} />}
          {call.output !== undefined && <Output text={call.output} />}
          {call.output === undefined && isRunning && <p className="text-(--soft)">No output yet.</p>}
        </div>
      )}
    </div>
  )
})

function Input({ call, kind }: { readonly kind: CallKind; readonly call: HarnessToolCall }): ReactNode {
  const { input } = call
  if (input === undefined) return <p className="text-(--soft)">The input is being written…</p>
  const { command, content, new_string: after, old_string: before } = input
  if (kind === 'write' && typeof after === 'string') {
    return <Diff path={pathIn(input)} before={typeof before === 'string' ? before : ''} after={after} />
  }
  if (kind === 'write' && typeof content === 'string') return <WholeFile call={call} content={content} />
  const text = typeof command === 'string' ? `$ ${command}` : JSON.stringify(input, null, 2)
  return <pre className="mb-2 overflow-x-auto text-xs whitespace-pre-wrap text-(--soft)">{text}</pre>
}

function WholeFile({ call, content }: { readonly call: HarnessToolCall; readonly content: string }): ReactNode {
  const before = useOverwritten(call)
  return <Diff path={pathIn(call.input ?? {})} before={before ?? ''} after={content} />
}

/** What a subagent said and did: of a foreign one in this thread, of one of ours in a thread of its own. */
function SubagentWork({ callId, isRunning }: { readonly callId: string; readonly isRunning: boolean }): ReactNode {
  const { byCall, client, thread } = useContext(NestedContext)
  const inline = byCall.get(callId)
  const [read, setRead] = useState<readonly WireMessage[]>([])
  useEffect(() => {
    if (inline !== undefined || client === undefined) return
    let isCurrent = true
    const look = async (): Promise<void> => {
      const children = await client.routes.children(thread)
      const child = children.find(({ parentCall }) => parentCall === callId)
      if (child === undefined) return
      const { messages } = await client.routes.messages(child.id, { limit: 100 })
      if (isCurrent) setRead(shownMessages(messages))
    }
    const again = (): void => void look().catch(() => undefined)
    again()
    const timer = isRunning ? setInterval(again, 1500) : undefined
    return () => {
      isCurrent = false
      clearInterval(timer)
    }
  }, [callId, client, inline, isRunning, thread])
  const messages = inline ?? read
  if (messages.length === 0) return null
  return (
    <div aria-label="What the subagent did" role="group" className="mb-2 border-l-2 border-(--line) pl-3">
      {messages.map(({ content, id, role, toolCalls = [] }) => (
        <div key={id} className={role === 'user' ? 'text-(--soft)' : ''}>
          {content !== '' && <Markdown text={content} />}
          {toolCalls.map((call) => (
            <ToolCard key={call.id} call={call} />
          ))}
        </div>
      ))}
    </div>
  )
}

const LONGEST = 20_000

function Output({ text }: { readonly text: string }): ReactNode {
  const shown = text.length > LONGEST ? `…${text.slice(-LONGEST)}` : text
  return (
    <pre
      className="max-h-96 overflow-auto rounded bg-(--panel) p-2 text-xs whitespace-pre-wrap"
      tabIndex={0}
      aria-label="Output"
    >
      {Anser.ansiToText(shown)}
    </pre>
  )
}

function Status({ status }: { readonly status: HarnessToolCall['status'] }): ReactNode {
  switch (status) {
    case 'running':
      return <LoaderCircle size={14} className="animate-spin text-(--soft)" aria-label="running" />
    case 'awaiting-approval':
      return <Hourglass size={14} className="text-(--accent)" aria-label="waits for you" />
    case 'complete':
      return <Check size={14} className="text-(--good)" aria-label="done" />
    case 'denied':
      return <CircleSlash size={14} className="text-(--bad)" aria-label="denied" />
    case 'error':
      return <X size={14} className="text-(--bad)" aria-label="failed" />
  }
}
