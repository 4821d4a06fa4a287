import { useEffect, useState } from 'react'
import type { Client, ModeInfo } from '@inspan/client'
import type { JsonObject } from '@inspan/protocol'

export interface Choices {
  readonly modes: readonly ModeInfo[]
  /** The models that there is a key for. */
  readonly models: readonly string[]
  /** What the server knows about models, also those without a key. */
  readonly facts: ReadonlyMap<string, ShownModelFacts>
}

export interface ShownModelFacts {
  /** In tokens. */
  readonly contextWindow?: number
  /** US dollars for a million tokens. */
  readonly price?: { readonly [kind in 'input' | 'output' | 'cacheRead' | 'cacheWrite']?: number }
}

/** The modes and models of the server. */
export function useChoices(client: Client): Choices {
  const [modes, setModes] = useState<readonly ModeInfo[]>([])
  const [listed, setListed] = useState<Pick<Choices, 'models' | 'facts'>>({ models: [], facts: new Map() })
  useEffect(() => {
    client.routes.modes().then(
      (found) => setModes(found.modes),
      () => undefined,
    )
    client.routes.models().then(
      (found) => setListed(read(found)),
      () => undefined,
    )
  }, [client])
  return { modes, ...listed }
}

function read(found: readonly JsonObject[]): Pick<Choices, 'models' | 'facts'> {
  const facts = new Map<string, ShownModelFacts>()
  const models: string[] = []
  for (const { contextWindow, hasApiKey, id, price } of found) {
    if (typeof id !== 'string') continue
    facts.set(id, {
      ...(typeof contextWindow === 'number' ? { contextWindow } : {}),
      ...(typeof price === 'object' && price !== null ? { price: price as NonNullable<ShownModelFacts['price']> } : {}),
    })
    if (hasApiKey !== false) models.push(id)
  }
  return { models, facts }
}
