import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { Client } from '@inspan/client'
import { useHarness } from '@inspan/client/react'
import type { WireMessage } from '@inspan/protocol/wire'
import { shownMessages } from './shown-messages.ts'

export interface OlderMessages {
  readonly messages: readonly WireMessage[]
  readonly hasMore: boolean
  readonly load: () => void
  readonly loadAll: () => void
}

const PAGE = 100
const LARGE_PAGE = 1000
/** A thread with fewer messages than this is in the window as a whole. */
const FEW = 20

/** Messages before the window that the client follows, fetched page by page as somebody scrolls up. */
export function useOlderMessages(client: Client): OlderMessages {
  const { state } = useHarness(client, ({ head, messages, thread }) => ({
    thread,
    rewrittenAt: head.rewrittenAt,
    firstId: messages[0]?.id,
    isShort: messages.length < FEW,
  }))
  const { firstId, isShort, rewrittenAt, thread } = state
  const [found, setFound] = useState<{ readonly messages: readonly WireMessage[]; readonly isWhole: boolean }>(NONE)
  const [isReading, setReading] = useState(false)
  const reader = useRef<AbortController | undefined>(undefined)
  const cursor = useRef<number | null | undefined>(undefined)
  /** Whether the pages have passed the window. */
  const isPast = useRef(false)
  useEffect(() => {
    // Another thread, another window after a reconnect, or messages that are gone.
    cursor.current = undefined
    isPast.current = false
    setFound(NONE)
    setReading(false)
    return () => reader.current?.abort()
  }, [thread, firstId, rewrittenAt])
  const read = useCallback(
    async (isAll: boolean) => {
      if (isReading || cursor.current === null || thread === '' || firstId === undefined) return
      const { signal } = (reader.current = new AbortController())
      setReading(true)
      try {
        do {
          const before: number | undefined = cursor.current
          const limit = isAll ? LARGE_PAGE : PAGE
          const page = await client.routes.messages(thread, { limit, ...(before === undefined ? {} : { before }) })
          // Read after a rewind or an erasure that the client has yet to hear of: it starts again then.
          if (signal.aborted || page.rewrittenAt !== rewrittenAt) return
          cursor.current = page.before
          const fresh = shownMessages(page.messages)
          // The first pages overlap with the window.
          const end = isPast.current ? fresh.length : fresh.findIndex(({ id }) => id === firstId)
          isPast.current ||= end >= 0
          const older = fresh.slice(0, Math.max(0, end))
          setFound(({ messages }) => ({ messages: [...older, ...messages], isWhole: page.before === null }))
          if (!isAll && older.length > 0) break
        } while (cursor.current !== null)
      } catch {
        // Whoever scrolls again tries again.
      } finally {
        if (!signal.aborted) setReading(false)
      }
    },
    [client, firstId, isReading, rewrittenAt, thread],
  )
  return useMemo(
    () => ({
      messages: found.messages,
      hasMore: !found.isWhole && !isShort,
      load: () => void read(false),
      loadAll: () => void read(true),
    }),
    [found, isShort, read],
  )
}

const NONE = { messages: [], isWhole: false } as const
