import { Command, Menu, PanelRight } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { Client } from '@inspan/client'
import { useHarness } from '@inspan/client/react'
import type { Choices } from '../use-choices.ts'
import { useGivenTitle } from '../use-given-title.ts'
import { AgentChoice } from './agent-choice.tsx'

interface HeaderProps {
  readonly client: Client
  readonly choices: Choices
  readonly onMenu: () => void
  readonly onDetails: () => void
  readonly onPalette: () => void
}

export function Header({ choices, client, onDetails, onMenu, onPalette }: HeaderProps): ReactNode {
  const { state, send } = useHarness(client, ({ head, status }) => ({
    title: head.title,
    mode: head.mode,
    model: head.model,
    status,
  }))
  const given = useGivenTitle(client)
  const title = state.title ?? given
  return (
    <header className="flex flex-wrap items-center gap-2 border-b border-(--line) px-3 py-2">
      <h1 className="sr-only">{title ?? 'Untitled'}</h1>
      <IconButton label="Show threads" className="md:hidden" onClick={onMenu}>
        <Menu size={18} />
      </IconButton>
      <Title key={title ?? ''} title={title} onRename={(title) => send({ type: 'rename', title })} />
      <StatusDot status={state.status} />
      <AgentChoice
        choices={choices}
        mode={state.mode ?? choices.modes[0]?.id ?? ''}
        model={state.model ?? ''}
        onMode={(mode) => send({ type: 'mode', mode })}
        onModel={(model) => send({ type: 'model', model })}
      />
      <IconButton label="Commands (⌘K)" className="md:hidden" onClick={onPalette}>
        <Command size={18} />
      </IconButton>
      <IconButton label="Details" onClick={onDetails}>
        <PanelRight size={18} />
      </IconButton>
    </header>
  )
}

function Title({
  onRename,
  title,
}: {
  readonly title: string | null
  readonly onRename: (title: string) => void
}): ReactNode {
  const [text, setText] = useState(title ?? '')
  const commit = (): void => {
    if (text.trim() !== '' && text !== title) onRename(text.trim())
  }
  return (
    <input
      aria-label="Title of the thread"
      title="Rename this thread"
      placeholder="Untitled"
      className="min-w-24 flex-1 truncate rounded bg-transparent px-1 font-medium hover:bg-(--panel)"
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={commit}
      onKeyDown={(event) => {
        if (event.key === 'Enter') event.currentTarget.blur()
      }}
    />
  )
}

const STATUS = {
  idle: ['bg-(--line)', 'Idle'],
  running: ['bg-(--good) animate-pulse', 'Running'],
  'awaiting-approval': ['bg-(--accent)', 'Waits for you'],
  error: ['bg-(--bad)', 'Failed'],
} as const

function StatusDot({ status }: { readonly status: keyof typeof STATUS }): ReactNode {
  const [look, label] = STATUS[status]
  return (
    <span className="flex items-center gap-1.5 text-xs text-(--soft)" role="status">
      <span className={`inline-block size-2 rounded-full ${look}`} />
      {label}
    </span>
  )
}

interface IconButtonProps {
  readonly label: string
  readonly className?: string
  readonly onClick: () => void
  readonly children: ReactNode
}

function IconButton({ children, className = '', label, onClick }: IconButtonProps): ReactNode {
  return (
    <button
      className={`rounded-lg p-1.5 hover:bg-(--panel) ${className}`}
      aria-label={label}
      title={label}
      onClick={onClick}
    >
      {children}
    </button>
  )
}
