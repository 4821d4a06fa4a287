import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Client } from '@inspan/client'
import { useHarness } from '@inspan/client/react'
import { Button } from '../parts/button.tsx'
import { allowNotifications, canNotify } from '../notify.ts'

/** Tasks, usage, what is always allowed, and the prompts of the thread to jump between. */
export function Details({ client, onClose }: { readonly client: Client; readonly onClose: () => void }): ReactNode {
  const { state, send } = useHarness(client, ({ head }) => ({
    tasks: head.tasks,
    grants: head.grants,
    usage: head.usage,
    isYolo: head.yolo,
  }))
  const { grants, isYolo, tasks, usage } = state
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
      <Section title="Usage">
        <dl className="grid grid-cols-2 text-sm">
          <dt className="text-(--soft)">Input tokens</dt>
          <dd>{(usage.own.inputTokens ?? 0).toLocaleString()}</dd>
          <dt className="text-(--soft)">Output tokens</dt>
          <dd>{(usage.own.outputTokens ?? 0).toLocaleString()}</dd>
          <dt className="text-(--soft)">Context of the last step</dt>
          <dd>{(usage.lastStep.totalTokens ?? 0).toLocaleString()}</dd>
          {usage.own.costUsd !== undefined && usage.own.costUsd > 0 && (
            <>
              <dt className="text-(--soft)">Cost</dt>
              <dd>${usage.own.costUsd.toFixed(4)}</dd>
            </>
          )}
        </dl>
      </Section>
      <Section title="Permissions">
        <label className="block text-sm">
          <span className="sr-only">Permissions</span>
          <select
            className="w-full rounded-lg border border-(--line) bg-(--bg) px-2 py-1"
            value={isYolo ? 'fullAuto' : 'default'}
            onChange={(event) =>
              send({
                type: 'configure',
                config: { permissionMode: event.target.value as 'default' | 'acceptEdits' | 'fullAuto' },
              })
            }
          >
            <option value="default">Ask by the rules</option>
            <option value="acceptEdits">Allow edits</option>
            <option value="fullAuto">Allow everything that is not denied</option>
          </select>
        </label>
        <ul className="mt-2 space-y-1 text-sm">
          {grants.tools.map((tool) => (
            <li key={tool} className="flex items-center gap-2">
              <span className="flex-1">Always allowed: {tool}</span>
              <Button onClick={() => send({ type: 'revoke', tool })}>Revoke</Button>
            </li>
          ))}
          {grants.categories.map((category) => (
            <li key={category} className="flex items-center gap-2">
              <span className="flex-1">Always allowed: every {category}</span>
              <Button onClick={() => send({ type: 'revoke', category })}>Revoke</Button>
            </li>
          ))}
        </ul>
      </Section>
      {canNotify() && <Button onClick={() => void allowNotifications()}>Notify me when something waits</Button>}
    </aside>
  )
}

function Section({ children, title }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  return (
    <section className="mb-5">
      <h3 className="mb-1 text-xs font-semibold tracking-wide text-(--soft) uppercase">{title}</h3>
      {children}
    </section>
  )
}
