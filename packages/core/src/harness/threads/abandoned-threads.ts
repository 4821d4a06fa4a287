import { MAX_PAGE, type ThreadInfo } from '@inspan/protocol/store'
import { itemsOf } from '../../common/items-of.ts'
import { isDead, readStreamState } from '../../engine/index.ts'
import type { HarnessCore } from '../harness-core.ts'

/** Finds the threads in which a process died during a run of this harness. Opens none. */
export async function* abandonedThreads(core: HarnessCore): AsyncGenerator<ThreadInfo> {
  const { config, store } = core
  for await (const owner of itemsOf((from) => store.listOwners({ limit: MAX_PAGE, ...from }))) {
    if (!isDead(owner, core.now())) continue
    for await (const { stream } of itemsOf((from) => store.listOwned({ owner: owner.id, limit: MAX_PAGE, ...from }))) {
      const info = await store.getThread(stream)
      if (info === null) continue
      const { run } = (await readStreamState(store, stream)).head
      if (run !== null && run.door === config.id) yield info
    }
  }
}
