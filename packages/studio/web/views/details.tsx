import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Client } from '@inspan/client'
import { EXPORT_FORMATS } from '@inspan/client/export'
import { useHarness } from '@inspan/client/react'
import { NO_GRANTS, type Grants, type ToolCategory } from '@inspan/protocol'
import type { PermissionMode } from '@inspan/protocol/wire'
import { EXPORT_NAMES, exportThread } from '../export-thread.ts'
import { goTo } from '../route.ts'
import type { Choices } from '../use-choices.ts'
import type { OlderMessages } from '../use-older-messages.ts'
import { useProjectGrants } from '../use-project-grants.ts'
import { Button } from '../parts/button.tsx'
import { Section } from '../parts/section.tsx'
import { allowNotifications, canNotify } from '../notify.ts'
import { Files } from './files.tsx'
import { Memory } from './limits.tsx'
import { Prompts } from './prompts.tsx'
import { Usage } from './usage.tsx'

interface DetailsProps {
  readonly client: Client
  readonly choices: Choices
  readonly older: OlderMessages
  readonly onDelete: () => void
  readonly onClose: () => void
}

/** What there is to know about a thread besides its conversation. */
export function Details({ choices, client, older, onClose, onDelete }: DetailsProps): ReactNode {
  return (
    <aside
      aria-label="Details"
      className="fixed inset-y-0 right-0 z-10 w-80 overflow-y-auto border-l border-(--line) bg-(--panel) p-4 lg:static"
    >
      <div className="mb-3 flex items-center">
        <h2 className="flex-1 font-semibold">Details</h2>
        <button aria-label="Close the details" onClick={onClose}>
          <X size={18} />
        </button>
      </div>
      <Prompts client={client} older={older} />
      <Files client={client} />
      <Tasks client={client} />
      <Usage client={client} choices={choices} />
      <Memory client={client} />
      <Permissions client={client} />
      <Conversation client={client} onDelete={onDelete} />
      {canNotify() && <Button onClick={() => void allowNotifications()}>Notify me when something waits</Button>}
    </aside>
  )
}

function Tasks({ client }: { readonly client: Client }): ReactNode {
  const { state: tasks } = useHarness(client, ({ head }) => head.tasks)
  return (
    <Section title="Tasks">
      {tasks.length === 0 && <p className="text-sm text-(--soft)">None.</p>}
      <ul className="text-sm">
        {tasks.map((task) => (
          <li key={task.id} className={task.status === 'completed' ? 'text-(--soft) line-through' : ''}>
            {task.status === 'completed' ? '✓' : task.status === 'in_progress' ? '▸' : '○'} {task.content}
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Permissions({ client }: { readonly client: Client }): ReactNode {
  const { state, send } = useHarness(client, ({ head }) => ({
    grants: head.grants,
    mode: head.settings.get('permissionMode'),
    isYolo: head.yolo,
  }))
  const project = useProjectGrants(client)
  const { grants, isYolo, mode } = state
  const level = isYolo ? 'fullAuto' : typeof mode === 'string' ? mode : 'default'
  const configure = (permissionMode: PermissionMode): unknown => send({ type: 'configure', config: { permissionMode } })
  return (
    <Section title="Permissions">
      <select
        aria-label="Permissions"
        className="w-full rounded-lg border border-(--line) bg-(--bg) px-2 py-1 text-sm"
        value={level}
        onChange={(event) => configure(event.target.value as PermissionMode)}
      >
        <option value="default">Ask, unless a rule allows it</option>
        <option value="acceptEdits">Allow edits</option>
        <option value="fullAuto">Allow everything that is not denied</option>
      </select>
      <GrantList
        title="Allowed in this thread"
        grants={grants}
        onRevoke={(what) => void send({ type: 'revoke', ...what })}
      />
      {project.found !== undefined && (
        <GrantList
          title="Always allowed in this project"
          scope={project.found.resource}
          grants={project.found.project}
          onRevoke={(what) =>
            void client.send({ type: 'revoke', scope: 'resource', ...what }).receipt.then(project.reload)
          }
        />
      )}
      {isNone(grants) && isNone(project.found?.project ?? NO_GRANTS) && (
        <p className="mt-2 text-sm text-(--soft)">Nothing is allowed beyond the rules.</p>
      )}
    </Section>
  )
}

function isNone({ categories, tools }: Grants): boolean {
  return tools.length + categories.length === 0
}

interface GrantListProps {
  readonly title: string
  /** Where it counts, if that is more than this thread. */
  readonly scope?: string
  readonly grants: Grants
  readonly onRevoke: (what: { readonly tool: string } | { readonly category: ToolCategory }) => void
}

function GrantList({ grants, onRevoke, scope, title }: GrantListProps): ReactNode {
  const { categories, tools } = grants
  if (isNone(grants)) return null
  return (
    <>
      <h4 className="mt-3 text-sm font-medium">{title}</h4>
      {scope !== undefined && <p className="text-xs break-all text-(--soft)">{scope}</p>}
      <ul aria-label={title} className="mt-1 space-y-1 text-sm">
        {tools.map((tool) => (
          <Grant key={tool} what={tool} onRevoke={() => onRevoke({ tool })} />
        ))}
        {categories.map((category) => (
          <Grant key={category} what={`every ${category}`} onRevoke={() => onRevoke({ category })} />
        ))}
      </ul>
    </>
  )
}

function Conversation({ client, onDelete }: { readonly client: Client; readonly onDelete: () => void }): ReactNode {
  return (
    <Section title="Keep or share">
      <div className="flex flex-wrap gap-2">
        <Button onClick={() => goTo({ view: 'replay', thread: client.getState().thread })}>Replay</Button>
        {EXPORT_FORMATS.map((format) => (
          <Button
            key={format}
            aria-label={`Export as ${EXPORT_NAMES[format]}`}
            onClick={() => void exportThread(client, format)}
          >
            {EXPORT_NAMES[format]}
          </Button>
        ))}
        <Button kind="danger" onClick={onDelete}>
          Delete…
        </Button>
      </div>
    </Section>
  )
}

function Grant({ onRevoke, what }: { readonly what: string; readonly onRevoke: () => unknown }): ReactNode {
  return (
    <li className="flex items-center gap-2">
      <span className="min-w-0 flex-1 break-all">{what}</span>
      <Button aria-label={`Revoke ${what}`} onClick={onRevoke}>
        Revoke
      </Button>
    </li>
  )
}
