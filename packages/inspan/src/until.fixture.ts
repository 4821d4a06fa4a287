import type { Client, ClientState } from '@inspan/client'

/** Resolves when the state of a client fulfils a condition. */
export function until(client: Client, isTrue: (state: ClientState) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (isTrue(client.getState())) resolve()
    }
    client.subscribe(look)
    look()
  })
}
