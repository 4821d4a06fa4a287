import { Command } from 'cmdk'
import { useState, type ReactNode } from 'react'
import type { Client } from '@inspan/client'
import { EXPORT_FORMATS } from '@inspan/client/export'
import type { PermissionMode } from '@inspan/protocol/wire'
import { allowNotifications, canNotify } from '../notify.ts'
import { jumpTo } from '../jump.ts'
import { EXPORT_NAMES, exportThread } from '../export-thread.ts'
import { goTo } from '../route.ts'
import { setTheme } from '../theme.ts'
import type { Choices } from '../use-choices.ts'
import type { ThreadSearch } from '../use-threads.ts'

interface PaletteProps {
  readonly client: Client
  readonly threads: ThreadSearch
  readonly choices: Choices
  /** Only then there are commands for it: nobody deletes or exports what is not on the screen. */
  readonly isThreadShown: boolean
  readonly isOpen: boolean
  readonly onChange: (isOpen: boolean) => void
  readonly onOpen: (thread: string) => void
  readonly onNew: () => void
  readonly onDetails: () => void
  readonly onDelete: () => void
}

const GROUP =
  'text-(--text) [&>[cmdk-group-heading]]:px-3 [&>[cmdk-group-heading]]:pt-2 [&>[cmdk-group-heading]]:pb-1 [&>[cmdk-group-heading]]:text-xs [&>[cmdk-group-heading]]:text-(--soft)'

/** The details list all of them. */
const MOST_PROMPTS = 100

type PaletteAction = readonly [name: string, act: () => unknown]

/** ⌘K: everything by its name. */
export function Palette(props: PaletteProps): ReactNode {
  const { client, isOpen, isThreadShown, onChange, onNew, onOpen, threads } = props
  const [search, setSearch] = useState('')
  const done = (act: () => unknown): void => {
    onChange(false)
    setSearch('')
    void act()
  }
  const actions: readonly PaletteAction[] = [
    ['What needs you', () => goTo({ view: 'home' })],
    ['New thread', onNew],
    ['Compare agents', () => goTo({ view: 'compare' })],
    ...(isThreadShown ? threadActions(props) : []),
    ...(canNotify() ? [['Notify me when something waits', allowNotifications] as const] : []),
    ['Dark theme', () => setTheme('dark')],
    ['Light theme', () => setTheme('light')],
    ['Theme of the system', () => setTheme('system')],
  ]
  const prompts = isThreadShown
    ? client
        .getState()
        .messages.filter(({ content, role }) => role === 'user' && content !== '')
        .slice(-MOST_PROMPTS)
    : []
  return (
    <Command.Dialog
      open={isOpen}
      onOpenChange={onChange}
      label="Commands"
      overlayClassName="fixed inset-0 z-20 bg-black/50"
      contentClassName="fixed top-24 z-30 left-1/2 w-[min(36rem,92vw)] -translate-x-1/2 overflow-hidden rounded-xl border border-(--line) bg-(--bg) shadow-xl"
    >
      <Command.Input
        value={search}
        onValueChange={setSearch}
        placeholder="Type a command or the title of a thread"
        className="w-full border-b border-(--line) bg-transparent px-4 py-3 outline-none"
      />
      <Command.List className="max-h-80 overflow-y-auto p-2">
        <Command.Empty className="p-3 text-sm text-(--soft)">Nothing matches.</Command.Empty>
        <Command.Group heading="Commands" className={GROUP}>
          {actions.map(([name, act]) => (
            <Item key={name} onSelect={() => done(act)}>
              {name}
            </Item>
          ))}
        </Command.Group>
        {prompts.length > 0 && (
          <Command.Group heading="Prompts of this thread" className={GROUP}>
            {prompts.map(({ content, id }) => (
              <Item key={id} value={`${content} ${id}`} onSelect={() => done(() => jumpTo(id))}>
                {content}
              </Item>
            ))}
          </Command.Group>
        )}
        <Command.Group heading="Threads" className={GROUP}>
          {threads.list.map((thread) => (
            <Item
              key={thread.id}
              value={`${thread.title ?? 'Untitled'} ${thread.id}`}
              onSelect={() => done(() => onOpen(thread.id))}
            >
              {thread.title ?? 'Untitled'}
            </Item>
          ))}
        </Command.Group>
      </Command.List>
    </Command.Dialog>
  )
}

/** What can be done with the thread that is shown. */
function threadActions({ choices, client, onDelete, onDetails, onOpen }: PaletteProps): readonly PaletteAction[] {
  const fork = async (): Promise<void> => onOpen((await client.routes.forkThread(client.getState().thread)).id)
  const { head } = client.getState()
  return [
    ['Fork this thread', fork],
    ['Show the details: files, prompts, tasks, usage, permissions', onDetails],
    ...(head.run === null ? [] : [['Cancel the run', () => client.send({ type: 'cancel' })] as const]),
    ['Delete this thread…', onDelete],
    ...choices.modes.map(({ id, name }) => [`Mode: ${name}`, () => client.send({ type: 'mode', mode: id })] as const),
    ...choices.models.map((model) => [`Model: ${model}`, () => client.send({ type: 'model', model })] as const),
    ['Permissions: ask, unless a rule allows it', () => permit(client, 'default')],
    ['Permissions: allow edits', () => permit(client, 'acceptEdits')],
    ['Permissions: allow everything that is not denied', () => permit(client, 'fullAuto')],
    ...(head.grants.tools.length + head.grants.categories.length === 0
      ? []
      : [['Revoke everything that is allowed in this thread', () => client.send({ type: 'revoke' })] as const]),
    [
      'Revoke everything that is always allowed in this project',
      () => client.send({ type: 'revoke', scope: 'resource' }),
    ],
    ['Replay this thread', () => goTo({ view: 'replay', thread: client.getState().thread })],
    ...EXPORT_FORMATS.map(
      (format) => [`Export as ${EXPORT_NAMES[format]}`, () => exportThread(client, format)] as const,
    ),
  ]
}

function permit(client: Client, permissionMode: PermissionMode): void {
  client.send({ type: 'configure', config: { permissionMode } })
}

interface ItemProps {
  readonly value?: string
  readonly onSelect: () => void
  readonly children: ReactNode
}

function Item({ children, onSelect, value }: ItemProps): ReactNode {
  return (
    <Command.Item
      {...(value === undefined ? {} : { value })}
      onSelect={onSelect}
      className="cursor-pointer truncate rounded-lg px-3 py-1.5 text-sm data-[selected=true]:bg-(--panel)"
    >
      {children}
    </Command.Item>
  )
}
