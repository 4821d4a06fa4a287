import type { Client, ClientState } from '@inspan/client'

/** Resolves with the first state of the client for which this holds, the present one included. */
export function until(client: Client, holds: (state: ClientState) => boolean): Promise<ClientState> {
  return new Promise((resolve) => {
    let stop = (): void => undefined
    const check = (state: ClientState): void => {
      if (!holds(state)) return
      stop()
      resolve(state)
    }
    stop = client.subscribe(check)
    check(client.getState())
  })
}
