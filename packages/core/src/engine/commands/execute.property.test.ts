/**
 * Random commands, each sent until it has a result, while the process dies again and again: every command happened
 * exactly once, or was rejected and did not happen.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import type { FaultPoints } from '@inspan/protocol/driver'
import type { CommandKey } from '@inspan/protocol/store'
import type { CommandResult } from '@inspan/protocol/wire'
import { scriptedModel } from '@inspan/testing'
import * as fc from 'fast-check'
import { MemoryStore } from '../../stores/memory-store.ts'
import { recordsAfter } from '../log/load-state.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { createThread } from '../threads/threads.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import { timeOrderedId } from '../../common/time-ordered-id.ts'
import type { ThreadCommand } from './thread-command.ts'

/** Dies at one write: just before it, or just after it, when nobody has heard of it yet. */
class Deadly implements FaultPoints {
  readonly #at: number
  readonly #point: string
  #count = 0

  constructor(at: number, isAfter: boolean) {
    this.#at = at
    this.#point = isAfter ? 'append.after' : 'append.before'
  }

  async reach(point: string): Promise<void> {
    if (point !== this.#point || this.#count++ !== this.#at) return
    throw new InspanError('io', 'The process died.')
  }
}

type Made = (text: string) => ThreadCommand

const KINDS: readonly Made[] = [
  (text) => ({ type: 'submit', prompt: text }),
  (text) => ({ type: 'follow-up', message: text }),
  (text) => ({ type: 'steer', message: text }),
  (text) => ({ type: 'rename', title: text }),
  (text) => ({ type: 'fork', title: text }),
  (text) => ({ type: 'mode', mode: text }),
  () => ({ type: 'cancel' }),
  (text) => ({ type: 'queue-remove', itemId: text }),
  (text) => ({ type: 'rewind', messageId: text, scope: 'conversation' }),
]

interface Play {
  readonly commands: readonly ThreadCommand[]
  readonly deaths: readonly { readonly at: number; readonly isAfter: boolean }[]
}

const play: fc.Arbitrary<Play> = fc.record({
  commands: fc
    .array(fc.constantFrom(...KINDS), { minLength: 1, maxLength: 6 })
    .map((kinds) => kinds.map((make, index) => make(`text ${index}`))),
  deaths: fc.array(fc.record({ at: fc.nat({ max: 4 }), isAfter: fc.boolean() }), { maxLength: 6 }),
})

/** A thread whose process may die. The next one finds what is in the store. */
class Mortal {
  readonly store = new MemoryStore()
  readonly #deaths: Play['deaths'][number][]
  readonly #owners: ProcessOwner[] = []
  runtime: ThreadRuntime | undefined

  constructor(deaths: Play['deaths']) {
    this.#deaths = [...deaths]
  }

  async open(): Promise<ThreadRuntime> {
    const owner = await ProcessOwner.register(this.store)
    this.#owners.push(owner)
    const status = await this.store.getStream('thread')
    if (status?.owner !== null && status?.owner !== undefined) {
      await this.store.takeOver('thread', owner.id, status.epoch)
    }
    const death = this.#deaths.shift()
    const answers = Array.from({ length: 50 }, () => ({ text: 'Fine.' }))
    this.runtime = await ThreadRuntime.open({
      store: this.store,
      owner,
      thread: 'thread',
      agents: { native: { driver: nativeDriver({ id: 'native', model: scriptedModel(answers) }) } },
      ...(death === undefined ? {} : { faults: new Deadly(death.at, death.isAfter) }),
    })
    return this.runtime
  }

  /** Sends a command until somebody knows what became of it. */
  async send(command: ThreadCommand, key: CommandKey): Promise<CommandResult> {
    for (let attempt = 0; attempt < 20; attempt++) {
      try {
        this.runtime ??= await this.open()
        return await this.runtime.execute(command, key)
      } catch {
        const dead = this.runtime
        this.runtime = undefined
        await dead?.close().catch(() => undefined)
      }
    }
    assert.fail('The command never had a result.')
  }

  async close(): Promise<void> {
    await this.runtime?.close().catch(() => undefined)
    for (const owner of this.#owners) await owner.close()
  }
}

/** Counts how often a command had its effect, by the text it brought along. */
async function effectsOf(store: MemoryStore, command: ThreadCommand): Promise<number | undefined> {
  const bodies = (await Array.fromAsync(recordsAfter(store, 'thread', 0))).map(({ body }) => body)
  const text = (value: unknown): boolean => JSON.stringify([value]).includes(JSON.stringify(textOf(command)))
  switch (command.type) {
    case 'submit':
    case 'follow-up':
    case 'steer':
      // As a message at once, or queued and a message later.
      return bodies.some((body) => body.type === 'queue.added' && text(body.item.parts))
        ? bodies.filter((body) => body.type === 'queue.added' && text(body.item.parts)).length
        : bodies.filter((body) => body.type === 'message.added' && text(body.parts)).length
    case 'rename':
      return bodies.filter((body) => body.type === 'config.changed' && text(body.title)).length
    case 'mode':
      return bodies.filter((body) => body.type === 'config.changed' && text(body.mode)).length
    case 'fork':
      return (await store.listThreads({})).items.filter(({ title }) => title === textOf(command)).length
    default:
      return undefined
  }
}

function textOf(command: ThreadCommand): string {
  const { message, mode, prompt, title } = command as {
    message?: string
    mode?: string
    prompt?: string
    title?: string
  }
  return prompt ?? message ?? title ?? mode ?? ''
}

suite('commands that are sent again while processes die at any write', () => {
  test('each happen exactly once, or are rejected and do not happen', async () => {
    await fc.assert(
      fc.asyncProperty(play, async ({ commands, deaths }) => {
        const mortal = new Mortal(deaths)
        await createThread(mortal.store, { id: 'thread', resourceId: 'test' })
        const sent = commands.map((command) => ({
          command,
          key: { principal: 'ann', clientId: 'page', commandId: timeOrderedId() },
        }))
        const results: CommandResult[] = []
        for (const { command, key } of sent) results.push(await mortal.send(command, key))
        for (const [index, { command, key }] of sent.entries()) {
          const again = await mortal.send(command, key)
          const known = results[index]
          assert.ok(known !== undefined)
          assert.equal(again.status, known.status, `${command.type} has the same outcome when it is sent again`)
          const effects = await effectsOf(mortal.store, command)
          if (effects !== undefined) assert.equal(effects, known.status === 'rejected' ? 0 : 1, command.type)
        }
        assert.deepEqual((await mortal.store.listCommands({ state: 'accepted' })).items, [])
        await mortal.close()
      }),
      { numRuns: 60 },
    )
  })
})
