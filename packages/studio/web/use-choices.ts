import { useEffect, useState } from 'react'
import type { Client, ModeInfo } from '@inspan/client'

export interface Choices {
  readonly modes: readonly ModeInfo[]
  readonly models: readonly string[]
}

/** The modes and models of the server. */
export function useChoices(client: Client): Choices {
  const [modes, setModes] = useState<readonly ModeInfo[]>([])
  const [models, setModels] = useState<readonly string[]>([])
  useEffect(() => {
    client.routes.modes().then(
      (found) => setModes(found.modes),
      () => undefined,
    )
    client.routes.models().then(
      (found) => setModels(found.flatMap(({ id }) => (typeof id === 'string' ? [id] : []))),
      () => undefined,
    )
  }, [client])
  return { modes, models }
}
