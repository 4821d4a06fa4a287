import { useCallback, useEffect, useRef, useState } from 'react'
import type { Client } from '@inspan/client'
import type { WireMessage } from '@inspan/protocol/wire'
import { shownMessages } from './shown-messages.ts'

export interface OlderMessages {
  readonly messages: readonly WireMessage[]
  readonly isLoading: boolean
  readonly load: () => void
}

/** Messages before the window that the client follows, fetched page by page as somebody scrolls up. */
export function useOlderMessages(client: Client, thread: string, firstId: string | undefined): OlderMessages {
  const [messages, setMessages] = useState<readonly WireMessage[]>([])
  const [isLoading, setLoading] = useState(false)
  const cursor = useRef<number | null | undefined>(undefined)
  useEffect(() => {
    cursor.current = undefined
    setMessages([])
  }, [thread])
  const load = useCallback(() => {
    if (isLoading || cursor.current === null || thread === '' || firstId === undefined) return
    setLoading(true)
    const before = cursor.current
    client.routes
      .messages(thread, { limit: 100, ...(before === undefined ? {} : { before }) })
      .then(({ before: next, messages: page }) => {
        cursor.current = next
        const fresh = shownMessages(page)
        // The first page may overlap with the window.
        const end = fresh.findIndex(({ id }) => id === firstId)
        setMessages((known) => [...(end < 0 ? fresh : fresh.slice(0, end)), ...known])
      })
      .catch(() => undefined)
      .finally(() => setLoading(false))
  }, [client, firstId, isLoading, thread])
  return { messages, isLoading, load }
}
