import Anser from 'anser'
import {
  Check,
  CircleSlash,
  FileText,
  Hourglass,
  LoaderCircle,
  Pencil,
  Search,
  Terminal,
  Wrench,
  X,
} from 'lucide-react'
import { memo, useState, type NamedExoticComponent, type ReactNode } from 'react'
import type { JsonObject } from '@inspan/protocol'
import type { HarnessToolCall } from '@inspan/protocol/wire'
import { Diff } from '../parts/diff.tsx'
import { kindOf, subjectOf, type CallKind } from '../call-kind.ts'

const ICONS: Readonly<Record<CallKind, typeof Wrench>> = {
  command: Terminal,
  read: FileText,
  write: Pencil,
  search: Search,
  other: Wrench,
}

interface Props {
  readonly call: HarnessToolCall
}

/** A tool call: what it does in one line, and its output when it is opened. */
export const ToolCard: NamedExoticComponent<Props> = memo(function ToolCard({ call }: Props): ReactNode {
  const kind = kindOf(call)
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
        <code className="min-w-0 flex-1 truncate text-(--soft)">{subjectOf(call)}</code>
        <Status status={call.status} />
      </button>
      {shown && (
        <div className="border-t border-(--line) p-3 text-sm">
          <Input kind={kind} input={call.input} />
          {call.output !== undefined && <Output text={call.output} />}
          {call.output === undefined && isRunning && <p className="text-(--soft)">No output yet.</p>}
        </div>
      )}
    </div>
  )
})

function Input({ input, kind }: { readonly kind: CallKind; readonly input: JsonObject | undefined }): ReactNode {
  if (input === undefined) return <p className="text-(--soft)">The input is being written…</p>
  const { content, new_string: after, old_string: before } = input
  if (kind === 'write' && typeof after === 'string') {
    return <Diff before={typeof before === 'string' ? before : ''} after={after} />
  }
  if (kind === 'write' && typeof content === 'string') return <Diff before="" after={content} />
  return (
    <pre className="mb-2 overflow-x-auto whitespace-pre-wrap text-xs text-(--soft)">
      {JSON.stringify(input, null, 2)}
    </pre>
  )
}

const LONGEST = 20_000

function Output({ text }: { readonly text: string }): ReactNode {
  const shown = text.length > LONGEST ? `…${text.slice(-LONGEST)}` : text
  return (
    <pre className="max-h-96 overflow-auto whitespace-pre-wrap rounded bg-(--panel) p-2 text-xs">
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
