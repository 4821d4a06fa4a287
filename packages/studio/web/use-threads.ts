import { useEffect, useState } from 'react'
import type { Client, ThreadSummary } from '@inspan/client'

export interface ThreadSearch {
  readonly list: readonly ThreadSummary[]
  /** False until the server has answered. */
  readonly isRead: boolean
  readonly search: string
  readonly setSearch: (text: string) => void
  readonly reload: () => void
}

const NONE: readonly ThreadSummary[] = []

/** The threads that match the search. Read again when `signal` changes. */
export function useThreads(client: Client, signal: string): ThreadSearch {
  const [list, setList] = useState<readonly ThreadSummary[] | undefined>(undefined)
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
  return {
    list: list ?? NONE,
    isRead: list !== undefined,
    search,
    setSearch,
    reload: () => setReloads((count) => count + 1),
  }
}
