import { MAX_PAGE, type Page, type PageRequest, type ThreadInfo } from '@inspan/protocol/store'
import { isDead, readStreamState } from '../../engine/index.ts'
import type { HarnessCore } from '../harness-core.ts'

/** Finds the threads in which a process died during a run of this harness. Opens none. */
export async function* abandonedThreads(core: HarnessCore): AsyncGenerator<ThreadInfo> {
  const { config, store } = core
  for await (const owner of all((page) => store.listOwners(page))) {
    if (!isDead(owner, core.now())) continue
    for await (const { stream } of all((page) => store.listOwned({ owner: owner.id, ...page }))) {
      const info = await store.getThread(stream)
      if (info === null) continue
      const { run } = (await readStreamState(store, stream)).head
      if (run !== null && run.door === config.id) yield info
    }
  }
}

async function* all<T>(read: (page: PageRequest) => Promise<Page<T>>): AsyncGenerator<T> {
  let cursor: string | null = null
  do {
    const page: Page<T> = await read({ limit: MAX_PAGE, ...(cursor === null ? {} : { cursor }) })
    yield* page.items
    cursor = page.next
  } while (cursor !== null)
}
