import { useEffect, useLayoutEffect, useMemo, useRef, type ReactNode } from 'react'
import { VList, type VListHandle } from 'virtua'
import type { Client } from '@inspan/client'
import { useHarness } from '@inspan/client/react'
import { onJump } from '../jump.ts'
import { NestedContext, splitNested } from '../nested.ts'
import type { OlderMessages } from '../use-older-messages.ts'
import { useEnd } from '../use-end.ts'
import { Message } from './message.tsx'

interface TranscriptProps {
  readonly client: Client
  readonly older: OlderMessages
  readonly onOpen: (thread: string) => void
}

/** The conversation. Only what is on the screen is in the document, so that long threads scroll smoothly. */
export function Transcript({ client, older, onOpen }: TranscriptProps): ReactNode {
  const { state } = useHarness(client, ({ messages, thread }) => ({ messages, thread }))
  const list = useRef<VListHandle>(null)
  const { byCall, top } = useMemo(
    () => splitNested([...older.messages, ...state.messages]),
    [older.messages, state.messages],
  )
  const end = useEnd(list, top.length)
  const { isFollowed } = end
  const nested = useMemo(
    () => ({ client, thread: state.thread, messages: () => client.getState().messages, byCall }),
    [client, state.thread, byCall],
  )
  const actions = useMemo(() => ({ client, onOpen }), [client, onOpen])
  const last = state.messages.at(-1)
  const shown = useRef({ firstId: top[0]?.id, thread: state.thread })
  // Older messages come in at the top: what is looked at must not move.
  const isPrepended = shown.current.thread === state.thread && shown.current.firstId !== top[0]?.id
  useLayoutEffect(() => {
    shown.current = { firstId: top[0]?.id, thread: state.thread }
  }, [top, state.thread])
  const lastPrompt = state.messages.findLast(({ role }) => role === 'user')?.id
  useEffect(() => {
    // Whoever says something wants to see the answer.
    isFollowed.current = true
  }, [state.thread, lastPrompt])
  useEffect(() => {
    if (isFollowed.current) list.current?.scrollToIndex(top.length - 1, { align: 'end' })
  }, [top.length, last])
  useEffect(
    () =>
      onJump((messageId) => {
        const index = top.findIndex(({ id }) => id === messageId)
        if (index < 0) return
        isFollowed.current = false
        list.current?.scrollToIndex(index, { align: 'start' })
      }),
    [top],
  )
  if (top.length === 0) {
    return (
      <div className="flex flex-1 items-center justify-center p-6 text-center text-(--soft)">
        <p>Nothing was said here yet. Write what should be done.</p>
      </div>
    )
  }
  const onScroll = (offset: number): void => {
    end.onScroll()
    if (offset < 200) older.load()
  }
  return (
    <section ref={end.frame} aria-label="Conversation" className="min-h-0 flex-1">
      <NestedContext value={nested}>
        <VList ref={list} data={top} shift={isPrepended} onScroll={onScroll} className="h-full" tabIndex={0}>
          {(message) => <Message key={message.id} message={message} actions={actions} />}
        </VList>
      </NestedContext>
    </section>
  )
}
