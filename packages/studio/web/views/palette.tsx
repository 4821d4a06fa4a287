import { Command } from 'cmdk'
import { useState, type ReactNode } from 'react'
import type { Client } from '@inspan/client'
import { setTheme } from '../theme.ts'
import type { Threads } from '../use-threads.ts'

interface Props {
  readonly client: Client
  readonly threads: Threads
  readonly isOpen: boolean
  readonly onChange: (isOpen: boolean) => void
  readonly onOpen: (thread: string) => void
}

/** ⌘K: everything by its name. */
export function Palette({ client, isOpen, onChange, onOpen, threads }: Props): ReactNode {
  const [search, setSearch] = useState('')
  const done = (act: () => unknown): void => {
    onChange(false)
    setSearch('')
    void act()
  }
  const create = async (): Promise<void> => onOpen((await client.routes.createThread()).id)
  const fork = async (): Promise<void> => onOpen((await client.routes.forkThread(client.getState().thread)).id)
  const remove = async (): Promise<void> => {
    await client.routes.deleteThread(client.getState().thread)
    const [next] = (await client.routes.threads({ limit: 1 })).threads
    threads.reload()
    if (next === undefined) await create()
    else onOpen(next.id)
  }
  const actions: readonly (readonly [string, () => unknown])[] = [
    ['New thread', create],
    ['Fork this thread', fork],
    ['Cancel the run', () => client.send({ type: 'cancel' })],
    ['Delete this thread', remove],
    ['Dark theme', () => setTheme('dark')],
    ['Light theme', () => setTheme('light')],
    ['Theme of the system', () => setTheme('system')],
  ]
  return (
    <Command.Dialog
      open={isOpen}
      onOpenChange={onChange}
      label="Commands"
      overlayClassName="fixed inset-0 bg-black/50"
      contentClassName="fixed top-24 left-1/2 w-[min(36rem,92vw)] -translate-x-1/2 overflow-hidden rounded-xl border border-(--line) bg-(--bg) shadow-xl"
    >
      <Command.Input
        value={search}
        onValueChange={setSearch}
        placeholder="Type a command or the title of a thread"
        className="w-full border-b border-(--line) bg-transparent px-4 py-3 outline-none"
      />
      <Command.List className="max-h-80 overflow-y-auto p-2">
        <Command.Empty className="p-3 text-sm text-(--soft)">Nothing matches.</Command.Empty>
        <Command.Group heading="Commands">
          {actions.map(([name, act]) => (
            <Item key={name} onSelect={() => done(act)}>
              {name}
            </Item>
          ))}
        </Command.Group>
        <Command.Group heading="Threads">
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
