import type { Page, PageRequest } from '@inspan/protocol/store'

/** Yields the items of a list, which is read page by page as far as the caller goes. */
export async function* allItems<T>(
  read: (from: Pick<PageRequest, 'cursor'>) => Promise<Page<T>>,
): AsyncGenerator<T, void> {
  for await (const items of allPages(read)) yield* items
}

export async function* allPages<T>(
  read: (from: Pick<PageRequest, 'cursor'>) => Promise<Page<T>>,
): AsyncGenerator<readonly T[], void> {
  let cursor: string | null = null
  do {
    const page: Page<T> = await read(cursor === null ? {} : { cursor })
    yield page.items
    cursor = page.next
  } while (cursor !== null)
}
