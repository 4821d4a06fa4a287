import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { AgentEvent } from '@inspan/protocol'
import type { Append, Member, Membership } from '@inspan/protocol/store'
import { MemoryStore } from '@inspan/stores'
import { ForeignAgent } from '../foreign-agent.fixture.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'

/** A store that machines share. Once the line is cut, nothing that is written is ever answered. */
class SharedStore extends MemoryStore {
  readonly members: Member[] = []
  readonly isWaitedFor = Promise.withResolvers<void>()
  readonly #mended = Promise.withResolvers<void>()
  #isCut = false

  async join(member: Member): Promise<Membership> {
    this.members.push(member)
    return { isDead: () => false, leave: async () => undefined }
  }

  cut(): void {
    this.#isCut = true
  }

  mend(): void {
    this.#isCut = false
    this.#mended.resolve()
  }

  override async append(append: Append): Promise<number> {
    if (this.#isCut) {
      this.isWaitedFor.resolve()
      await this.#mended.promise
    }
    return super.append(append)
  }
}

suite('a process that is cut off from the store it shares', { timeout: 60_000 }, () => {
  test('ends the program of its run when it counts as dead, even while a write hangs', async () => {
    const store = new SharedStore()
    const begun = Promise.withResolvers<void>()
    const works = async function* (): AsyncGenerator<AgentEvent> {
      yield { type: 'step-start', stepIndex: 0 }
      begun.resolve()
      await new Promise(() => undefined)
    }
    const agent = new ForeignAgent('cli', [works])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } }, { store })
    const handle = await bench.submit('Go.', { agentId: 'cli' })
    await begun.promise
    store.cut()
    const written = bench.runtime.record([{ type: 'note', kind: 'info', text: 'Hangs.' }]).catch(() => undefined)
    await store.isWaitedFor.promise
    for (const member of store.members) member.onLost()
    await bench.until(() => agent.closed === agent.opened)
    assert.equal(await handle.done, 'interrupted')
    store.mend()
    await written
  })
})
