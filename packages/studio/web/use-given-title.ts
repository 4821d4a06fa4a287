import { useEffect, useState } from 'react'
import type { Client } from '@inspan/client'
import { useHarness } from '@inspan/client/react'

/** The title that the shown thread was given before anything was said in it: it is not in its state. */
export function useGivenTitle(client: Client): string | null {
  const { state } = useHarness(client, ({ head, thread }) => ({ thread, isNamed: head.title !== null }))
  const { isNamed, thread } = state
  const [given, setGiven] = useState<string | null>(null)
  useEffect(() => {
    let isCurrent = true
    setGiven(null)
    if (isNamed || thread === '') return
    client.routes.thread(thread).then(
      ({ title }) => isCurrent && setGiven(title),
      // It is shown as untitled.
      () => undefined,
    )
    return () => {
      isCurrent = false
    }
  }, [client, isNamed, thread])
  return given
}
