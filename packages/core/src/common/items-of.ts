import type { Page } from '@inspan/protocol/store'

/** Yields the items of a list. The next page is read when somebody asks for more. */
export async function* itemsOf<T>(read: (from: { readonly cursor?: string }) => Promise<Page<T>>): AsyncGenerator<T> {
  let cursor: string | null = null
  do {
    const page: Page<T> = await read(cursor === null ? {} : { cursor })
    yield* page.items
    cursor = page.next
  } while (cursor !== null)
}
