import { useCallback, useEffect, useState } from 'react'
import type { Client, ThreadSummary } from '@inspan/client'

export interface ThreadSearch {
  readonly list: readonly ThreadSummary[]
  /** False until the server has answered. */
  readonly isRead: boolean
  readonly search: string
  readonly setSearch: (text: string) => void
  /** Whether there are more than the list shows. */
  readonly hasMore: boolean
  readonly loadMore: () => void
  readonly reload: () => void
}

const NONE: readonly ThreadSummary[] = []
const PAGE = 100

/** The threads that match the search. Read again when `signal` changes. */
export function useThreads(client: Client, signal: string): ThreadSearch {
  const [found, setFound] = useState<{ list: readonly ThreadSummary[]; hasMore: boolean } | undefined>(undefined)
  const [search, setSearch] = useState('')
  const [most, setMost] = useState(PAGE)
  const [reloads, setReloads] = useState(0)
  useEffect(() => {
    let isCurrent = true
    const timer = setTimeout(() => {
      firstThreads(client, search, most).then(
        (threads) => isCurrent && setFound(threads),
        () => undefined,
      )
    }, 150)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [client, most, search, signal, reloads])
  return {
    list: found?.list ?? NONE,
    isRead: found !== undefined,
    search,
    setSearch: useCallback((text: string) => {
      setSearch(text)
      setMost(PAGE)
    }, []),
    hasMore: found?.hasMore === true,
    loadMore: () => setMost(most + PAGE),
    reload: () => setReloads((count) => count + 1),
  }
}

async function firstThreads(
  client: Client,
  search: string,
  most: number,
): Promise<{ list: readonly ThreadSummary[]; hasMore: boolean }> {
  const list: ThreadSummary[] = []
  let cursor: string | null | undefined
  while (cursor !== null && list.length < most) {
    const page = await client.routes.threads({
      limit: PAGE,
      ...(search === '' ? {} : { search }),
      ...(cursor === undefined ? {} : { cursor }),
    })
    list.push(...page.threads)
    cursor = page.next
  }
  return { list, hasMore: cursor !== null }
}
