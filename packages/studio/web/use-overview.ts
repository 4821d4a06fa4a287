import { useCallback, useEffect, useState } from 'react'
import type { Client, Overview, ThreadOverview } from '@inspan/client'

const EVERY_MS = 3000

export interface OverviewState {
  /** Undefined until the server has answered. */
  readonly threads: readonly ThreadOverview[] | undefined
  /** What waits, runs or is recent in other projects. */
  readonly elsewhere: readonly ThreadOverview[]
  readonly reload: () => void
}

/** Everything that waits, runs or is recent. Read again when `signal` changes, and every few seconds. */
export function useOverview(client: Client, signal: string): OverviewState {
  const [found, setFound] = useState<Overview | undefined>(undefined)
  const [reloads, setReloads] = useState(0)
  const reload = useCallback(() => setReloads((count) => count + 1), [])
  useEffect(() => {
    let isCurrent = true
    const read = (): void => {
      client.routes.overview().then(
        (overview) => isCurrent && setFound(overview),
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
  return { threads: found?.threads, elsewhere: found?.elsewhere ?? [], reload }
}
