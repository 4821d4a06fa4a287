import { useEffect, useState } from 'react'
import type { Client, ThreadGrants } from '@inspan/client'
import { useHarness } from '@inspan/client/react'

export interface ProjectGrantsState {
  /** Undefined until the server has answered. */
  readonly found: ThreadGrants | undefined
  readonly reload: () => void
}

/** What is always allowed in all threads of the project. Read again when something was answered in this thread. */
export function useProjectGrants(client: Client): ProjectGrantsState {
  const [found, setFound] = useState<ThreadGrants | undefined>(undefined)
  const [reloads, setReloads] = useState(0)
  const { state: waits } = useHarness(client, (state) =>
    (state.pendingApprovals ?? []).map(({ waitId }) => waitId).join(),
  )
  useEffect(() => {
    let isCurrent = true
    client.routes.grants(client.getState().thread).then(
      (grants) => isCurrent && setFound(grants),
      // The bar at the top says that the server cannot be reached.
      () => undefined,
    )
    return () => {
      isCurrent = false
    }
  }, [client, reloads, waits])
  return { found, reload: () => setReloads((count) => count + 1) }
}
