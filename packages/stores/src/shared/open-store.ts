import type { Store } from '@inspan/protocol/store'

/** Opens a store. One that does not open is closed, because the caller gets no store to close. */
export async function openStore<Opened extends Pick<Store, 'close' | 'open'>>(store: Opened): Promise<Opened> {
  try {
    await store.open()
  } catch (error) {
    await store.close()
    throw error
  }
  return store
}
