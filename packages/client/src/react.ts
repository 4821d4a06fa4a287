import { useCallback, useRef, useSyncExternalStore } from 'react'
import type { Command } from '@inspan/protocol/wire'
import type { Client, SentCommand } from './client.ts'
import type { ClientState } from './client-state.ts'

export interface UsedHarness<Selected> {
  readonly state: Selected
  readonly send: (command: Command) => SentCommand
}

/**
 * Returns the state of a client and `send`. With a selector, the component renders again only when the selected part
 * changes; parts that did not change keep their identity.
 */
export function useHarness(client: Client): UsedHarness<ClientState>
export function useHarness<Selected>(client: Client, select: (state: ClientState) => Selected): UsedHarness<Selected>
export function useHarness<Selected>(
  client: Client,
  select?: (state: ClientState) => Selected,
): UsedHarness<Selected | ClientState> {
  const state = useSelected<Selected | ClientState>(client, select ?? ((whole) => whole))
  const send = useCallback((command: Command) => client.send(command), [client])
  return { state, send }
}

function useSelected<Selected>(client: Client, select: (state: ClientState) => Selected): Selected {
  const last = useRef<{ state: ClientState; selected: Selected } | undefined>(undefined)
  const subscribe = useCallback((listener: () => void) => client.subscribe(listener), [client])
  const read = (): Selected => {
    const state = client.getState()
    if (last.current?.state === state) return last.current.selected
    const selected = select(state)
    const kept =
      last.current !== undefined && isEqual(last.current.selected, selected) ? last.current.selected : selected
    last.current = { state, selected: kept }
    return kept
  }
  return useSyncExternalStore(subscribe, read, read)
}

/** Also true for two lists or objects whose entries are the same: selectors often build a new one around them. */
function isEqual(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false
  const [a, b] = [one as Record<string, unknown>, other as Record<string, unknown>]
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && Object.is(a[key], b[key]))
  )
}
