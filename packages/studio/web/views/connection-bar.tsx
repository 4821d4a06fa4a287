import { X } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import type { Client } from '@inspan/client'
import { useHarness } from '@inspan/client/react'
import { withAdvice } from '@inspan/protocol/internal'
import { Button } from '../parts/button.tsx'

interface ConnectionBarProps {
  readonly client: Client
  /** Only then what went wrong in it is of interest. */
  readonly isThreadShown: boolean
}

/** Says when the page is not up to date, and which commands were refused or are not settled. */
export function ConnectionBar({ client, isThreadShown }: ConnectionBarProps): ReactNode {
  const [dismissed, setDismissed] = useState<string | undefined>(undefined)
  const { state } = useHarness(client, ({ connection, error, head, pending, problem, refused }) => ({
    connection,
    error,
    cause: head.lastRun?.error,
    pending,
    problem,
    refusal: refused.at(-1),
  }))
  const { cause, connection, error, pending, problem, refusal } = state
  return (
    <div aria-live="polite">
      {connection !== 'open' && (
        <Bar>
          {connection === 'closed' ? 'Disconnected.' : 'Reconnecting…'} {problem} What you see may be old.
        </Bar>
      )}
      {isThreadShown && error !== undefined && <Bar isBad>{withAdvice(error, cause)}</Bar>}
      {refusal?.message !== undefined && refusal.id !== dismissed && (
        <Bar isBad>
          Not done: {refusal.message}{' '}
          <button
            className="align-text-bottom"
            aria-label="Dismiss"
            title="Dismiss"
            onClick={() => setDismissed(refusal.id)}
          >
            <X size={16} />
          </button>
        </Bar>
      )}
      {pending
        .filter((command) => 'isOld' in command && command.isOld === true)
        .map(({ command, id }) => (
          <Bar key={id}>
            From an earlier visit, not known to be done: {command.type}{' '}
            <Button onClick={() => client.confirm(id)}>Send</Button>{' '}
            <Button onClick={() => client.discard(id)}>Forget</Button>
          </Bar>
        ))}
    </div>
  )
}

function Bar({ children, isBad = false }: { readonly children: ReactNode; readonly isBad?: boolean }): ReactNode {
  return (
    <p
      className={`border-b border-(--line) bg-(--panel) px-4 py-1.5 text-sm ${isBad ? 'text-(--bad)' : 'text-(--soft)'}`}
    >
      {children}
    </p>
  )
}
