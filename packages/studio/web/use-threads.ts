import { useEffect, useState } from 'react'
import type { Client, ThreadSummary } from '@inspan/client'

export interface ThreadSearch {
  readonly list: readonly ThreadSummary[]
  readonly search: string
  readonly setSearch: (text: string) => void
  readonly reload: () => void
}

/** The threads that match the search. Read again when `signal` changes. */
export function useThreads(client: Client, signal: string): ThreadSearch {
  const [list, setList] = useState<readonly ThreadSummary[]>([])
  const [search, setSearch] = useState('')
  const [reloads, setReloads] = useState(0)
  useEffect(() => {
    let isCurrent = true
    const timer = setTimeout(() => {
      client.routes.threads({ limit: 100, ...(search === '' ? {} : { search }) }).then(
        ({ threads }) => isCurrent && setList(threads),
        () => undefined,
      )
    }, 150)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [client, search, signal, reloads])
  return { list, search, setSearch, reload: () => setReloads((count) => count + 1) }
}
