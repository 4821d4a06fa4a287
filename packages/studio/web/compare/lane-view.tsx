import type { ReactNode } from 'react'
import type { Client } from '@inspan/client'
import { useHarness } from '@inspan/client/react'
import { Markdown } from '../parts/markdown.tsx'
import { ToolCard } from '../views/tool-card.tsx'
import { WaitCard } from '../views/waits.tsx'

/** What one agent does, as it does it. */
export function LaneView({ client, isReadOnly }: { readonly client: Client; readonly isReadOnly: boolean }): ReactNode {
  const { state, send } = useHarness(client, ({ error, messages, pendingApprovals }) => ({
    error,
    messages,
    pendingApprovals,
  }))
  return (
    <div className="max-h-[60vh] flex-1 overflow-y-auto p-3 text-sm" tabIndex={0} role="log" aria-label="What it does">
      {state.messages
        .filter(({ role }) => role !== 'user')
        .map(({ content, id, toolCalls = [] }) => (
          <div key={id}>
            {content !== '' && <Markdown text={content} />}
            {toolCalls.map((call) => (
              <ToolCard key={call.id} call={call} />
            ))}
          </div>
        ))}
      {!isReadOnly &&
        (state.pendingApprovals ?? []).map((wait) => (
          <WaitCard key={wait.waitId} client={client} thread={client.getState().thread} wait={wait} send={send} />
        ))}
      {state.error !== undefined && <p className="text-(--bad)">{state.error}</p>}
    </div>
  )
}
