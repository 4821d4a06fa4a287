import { useCallback, useRef, useSyncExternalStore } from 'react'
import type { Command } from '@inspan/protocol/wire'
import type { Client, SentCommand } from './client.ts'
import type { ClientState } from './client-state.ts'
import { selected, type Kept } from './select.ts'

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
  const last = useRef<Kept<ClientState, Selected> | undefined>(undefined)
  const subscribe = useCallback((listener: () => void) => client.subscribe(listener), [client])
  const read = (): Selected => {
    last.current = selected(client.getState(), select, last.current)
    return last.current.selected
  }
  return useSyncExternalStore(subscribe, read, read)
}
