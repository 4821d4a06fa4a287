import type { Client, ClientState } from '@inspan/client'

/** Resolves with the first state of a client that is as wanted. */
export async function stateWhere(client: Client, holds: (state: ClientState) => boolean): Promise<ClientState> {
  if (holds(client.getState())) return client.getState()
  return new Promise((resolve) => {
    const stop = client.subscribe((state) => {
      if (!holds(state)) return
      stop()
      resolve(state)
    })
  })
}
