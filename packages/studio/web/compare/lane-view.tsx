import { useMemo, type ReactNode } from 'react'
import type { Client } from '@inspan/client'
import { useHarness } from '@inspan/client/react'
import { NestedContext, splitNested } from '../nested.ts'
import { Markdown } from '../parts/markdown.tsx'
import { ToolCard } from '../views/tool-card.tsx'
import { WaitCard } from '../views/waits.tsx'

/** What one agent does, as it does it. */
export function LaneView({ client, isReadOnly }: { readonly client: Client; readonly isReadOnly: boolean }): ReactNode {
  const { state, send } = useHarness(client, ({ error, messages, pendingApprovals, thread }) => ({
    error,
    messages,
    pendingApprovals,
    thread,
  }))
  const { byCall, top } = useMemo(() => splitNested(state.messages), [state.messages])
  const nested = useMemo(
    () => ({ client, thread: state.thread, messages: () => client.getState().messages, byCall }),
    [byCall, client, state.thread],
  )
  return (
    <div className="max-h-[60vh] flex-1 overflow-y-auto p-3 text-sm" tabIndex={0} role="log" aria-label="What it does">
      <NestedContext value={nested}>
        {top
          .filter(({ role }) => role !== 'user')
          .map(({ content, id, toolCalls = [] }) => (
            <div key={id}>
              {content !== '' && <Markdown text={content} />}
              {toolCalls.map((call) => (
                <ToolCard key={call.id} call={call} />
              ))}
            </div>
          ))}
      </NestedContext>
      {!isReadOnly &&
        (state.pendingApprovals ?? []).map((wait) => (
          <WaitCard key={wait.waitId} client={client} thread={state.thread} wait={wait} send={send} />
        ))}
      {state.error !== undefined && <p className="text-(--bad)">{state.error}</p>}
    </div>
  )
}
