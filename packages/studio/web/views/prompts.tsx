import type { ReactNode } from 'react'
import { VList } from 'virtua'
import type { Client } from '@inspan/client'
import { useHarness } from '@inspan/client/react'
import { jumpTo } from '../jump.ts'
import { Button } from '../parts/button.tsx'
import { Section } from '../parts/section.tsx'
import type { OlderMessages } from '../use-older-messages.ts'

const ROW_PX = 24
const MOST_ROWS = 9

/** Everything that was asked in the thread, to jump to. */
export function Prompts({ client, older }: { readonly client: Client; readonly older: OlderMessages }): ReactNode {
  const { state: messages } = useHarness(client, (state) => state.messages)
  const prompts = [...older.messages, ...messages].filter(({ content, role }) => role === 'user' && content !== '')
  if (prompts.length === 0) return null
  return (
    <Section title="Prompts">
      <VList
        data={prompts}
        itemSize={ROW_PX}
        style={{ height: Math.min(prompts.length, MOST_ROWS) * ROW_PX }}
        className="-mx-1 text-sm"
      >
        {({ content, id }) => (
          <button
            key={id}
            className="block h-6 w-full truncate rounded px-1 text-left hover:bg-(--bg)"
            onClick={() => jumpTo(id)}
          >
            {content}
          </button>
        )}
      </VList>
      {older.hasMore && (
        <Button className="mt-1" onClick={older.loadAll}>
          Load earlier prompts
        </Button>
      )}
    </Section>
  )
}
