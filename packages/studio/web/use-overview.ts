import { useCallback, useEffect, useState } from 'react'
import type { Client, ThreadOverview } from '@inspan/client'

const EVERY_MS = 3000

export interface Overview {
  /** Undefined until the server has answered. */
  readonly threads: readonly ThreadOverview[] | undefined
  readonly reload: () => void
}

/** Everything that waits, runs or is recent. Read again when `signal` changes, and every few seconds. */
export function useOverview(client: Client, signal: string): Overview {
  const [threads, setThreads] = useState<readonly ThreadOverview[] | undefined>(undefined)
  const [reloads, setReloads] = useState(0)
  const reload = useCallback(() => setReloads((count) => count + 1), [])
  useEffect(() => {
    let isCurrent = true
    const read = (): void => {
      client.routes.overview().then(
        (found) => isCurrent && setThreads(found),
        // The bar at the top says that the server cannot be reached.
        () => undefined,
      )
    }
    const soon = setTimeout(read, 100)
    const timer = setInterval(read, EVERY_MS)
    return () => {
      isCurrent = false
      clearTimeout(soon)
      clearInterval(timer)
    }
  }, [client, signal, reloads])
  return { threads, reload }
}
