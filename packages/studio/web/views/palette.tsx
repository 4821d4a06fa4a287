import { Command } from 'cmdk'
import type { ReactNode } from 'react'
import type { Client } from '@inspan/client'
import { jumpTo } from '../jump.ts'
import type { Choices } from '../use-choices.ts'
import { useThreads } from '../use-threads.ts'
import { pageActions, threadActions, type PaletteAction, type PaletteTargets } from './palette-actions.ts'

interface PaletteProps extends PaletteTargets {
  readonly client: Client
  readonly choices: Choices
  /** Only then there are commands for it: nobody deletes or exports what is not on the screen. */
  readonly isThreadShown: boolean
  readonly onClose: () => void
}

const GROUP =
  'text-(--text) [&>[cmdk-group-heading]]:px-3 [&>[cmdk-group-heading]]:pt-2 [&>[cmdk-group-heading]]:pb-1 [&>[cmdk-group-heading]]:text-xs [&>[cmdk-group-heading]]:text-(--soft)'

/** The details list all of them. */
const MOST_PROMPTS = 100

/** ⌘K: everything by its name. */
export function Palette(props: PaletteProps): ReactNode {
  const { choices, client, isThreadShown, onClose, onOpen } = props
  // A search of its own: the list of threads beside it may show another one, and neither has all threads.
  const { list, search, setSearch } = useThreads(client, '')
  const done = (act: () => unknown): void => {
    onClose()
    void act()
  }
  const { first, last } = pageActions(props)
  const actions: readonly PaletteAction[] = [
    ...first,
    ...(isThreadShown ? threadActions(client, choices, props) : []),
    ...last,
  ]
  const prompts = isThreadShown
    ? client
        .getState()
        .messages.filter(({ content, role }) => role === 'user' && content !== '')
        .slice(-MOST_PROMPTS)
    : []
  return (
    <Command.Dialog
      open
      onOpenChange={onClose}
      label="Commands"
      overlayClassName="fixed inset-0 z-20 bg-black/50"
      contentClassName="fixed top-24 z-30 left-1/2 w-[min(36rem,92vw)] -translate-x-1/2 overflow-hidden rounded-xl border border-(--line) bg-(--bg) shadow-xl"
    >
      <Command.Input
        value={search}
        onValueChange={setSearch}
        placeholder="Type a command or the title of a thread"
        className="w-full border-b border-(--line) bg-transparent px-4 py-3 !outline-none"
      />
      <Command.List className="max-h-80 overflow-y-auto p-2">
        <Command.Empty className="p-3 text-sm text-(--soft)">Nothing matches.</Command.Empty>
        <Command.Group heading="Commands" className={GROUP}>
          {actions.map(([name, act], index) => (
            <Item key={`${index} ${name}`} onSelect={() => done(act)}>
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
          {list.map((thread) => (
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
