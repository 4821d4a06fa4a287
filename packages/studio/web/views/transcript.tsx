import { useEffect, useRef, type ReactNode } from 'react'
import { VList, type VListHandle } from 'virtua'
import type { Client } from '@inspan/client'
import { useHarness } from '@inspan/client/react'
import { useOlderMessages } from '../use-older-messages.ts'
import { Message } from './message.tsx'

/** The conversation. Only what is on the screen is in the document, so that long threads scroll smoothly. */
export function Transcript({
  client,
  onOpen,
}: {
  readonly client: Client
  readonly onOpen: (thread: string) => void
}): ReactNode {
  const { state } = useHarness(client, ({ messages, thread }) => ({ messages, thread }))
  const older = useOlderMessages(client, state.thread, state.messages[0]?.id)
  const list = useRef<VListHandle>(null)
  const isAtEnd = useRef(true)
  const all = [...older.messages, ...state.messages]
  const last = state.messages.at(-1)
  useEffect(() => {
    if (isAtEnd.current) list.current?.scrollToIndex(all.length - 1, { align: 'end' })
  }, [all.length, last])
  useEffect(() => {
    isAtEnd.current = true
  }, [state.thread])
  if (all.length === 0) {
    return (
      <div className="flex flex-1 items-center justify-center p-6 text-center text-(--soft)">
        <p>Nothing was said here yet. Write what is to be done.</p>
      </div>
    )
  }
  const onScroll = (offset: number): void => {
    const handle = list.current
    if (handle === null) return
    isAtEnd.current = handle.scrollSize - handle.viewportSize - offset < 40
    if (offset < 200) older.load()
  }
  return (
    <section aria-label="Conversation" className="min-h-0 flex-1">
      <VList ref={list} shift={older.isLoading} onScroll={onScroll} className="h-full">
        {all.map((message) => (
          <Message key={message.id} client={client} message={message} onOpen={onOpen} />
        ))}
      </VList>
    </section>
  )
}
