import { ArrowDown, ArrowUp, X } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Client } from '@inspan/client'
import { useHarness } from '@inspan/client/react'
import type { Part } from '@inspan/protocol'

/** Messages that are sent when the run is over. */
export function Queue({ client }: { readonly client: Client }): ReactNode {
  const { state: queue, send } = useHarness(client, ({ head }) => head.queue)
  const items = [...queue]
  if (items.length === 0) return null
  return (
    <ol aria-label="Queued messages" className="mb-2 space-y-1">
      {items.map((item, index) => (
        <li key={item.id} className="flex items-center gap-2 rounded-lg bg-(--panel) px-3 py-1 text-sm">
          <span className="min-w-0 flex-1 truncate">{textOf(item.parts)}</span>
          {index > 0 && (
            <button
              aria-label="Send earlier"
              title="Send earlier"
              onClick={() => send({ type: 'queue-move', itemId: item.id, before: items[index - 1]?.id ?? null })}
            >
              <ArrowUp size={14} />
            </button>
          )}
          {index < items.length - 1 && (
            <button
              aria-label="Send later"
              title="Send later"
              onClick={() => send({ type: 'queue-move', itemId: item.id, before: items[index + 2]?.id ?? null })}
            >
              <ArrowDown size={14} />
            </button>
          )}
          <button
            aria-label="Remove from the queue"
            title="Remove from the queue"
            onClick={() => send({ type: 'queue-remove', itemId: item.id })}
          >
            <X size={14} />
          </button>
        </li>
      ))}
    </ol>
  )
}

export function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join(' ')
}
