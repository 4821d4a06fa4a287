import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import { scriptedModel } from '@inspan/testing'
import { Emitter } from '../../common/emitter.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import type { LogEntry } from './thread-log.ts'

const WORDS = Array.from({ length: 300 }, (_, index) => `word ${index} `)

async function speaking(): Promise<RuntimeBench> {
  const model = scriptedModel([{ reasoning: 'Hm.', text: WORDS }])
  return RuntimeBench.open({ native: { driver: nativeDriver({ id: 'native', model }) } })
}

/** Returns a short text for an entry, without its state. */
function shortOf(entry: LogEntry): string {
  if (entry.kind === 'delta') return `~ ${entry.event.type} ${'text' in entry.event ? entry.event.text : ''}`
  return `${entry.record.seq} ${entry.record.body.type}`
}

/** Blocks the event loop, as a listener that computes something does. */
function compute(): void {
  const end = performance.now() + 1
  while (performance.now() < end);
}

suite('a slow listener', () => {
  test('a slow listener that awaits something holds nobody up, receives everything in order, and may end long after', async () => {
    await using bench = await speaking()
    const gate = Promise.withResolvers<void>()
    const begun: string[] = []
    const ended: string[] = []
    const heard: string[] = []
    const work: Promise<void>[] = []
    bench.runtime.onEntry((entry) => {
      begun.push(shortOf(entry))
      const done = gate.promise.then(() => void ended.push(shortOf(entry)))
      work.push(done)
      return done
    })
    bench.runtime.onEntry((entry) => void heard.push(shortOf(entry)))
    const run = await bench.submit('Speak.', { agentId: 'native' })
    // The gate is still shut: if anybody waited for the slow listener, the run would never end.
    assert.equal(await run.done, 'complete')
    assert.deepEqual(ended, [])
    gate.resolve()
    await Promise.all(work)
    assert.ok(heard.length > WORDS.length)
    assert.deepEqual(begun, heard)
    assert.deepEqual(ended, heard)
  })

  test('a slow listener that computes changes nothing about what others receive, nor about what is written', async () => {
    await using bench = await speaking()
    const before: string[] = []
    const after: string[] = []
    const frames: number[] = []
    bench.runtime.onEntry((entry) => void before.push(shortOf(entry)))
    bench.runtime.onEntry(compute)
    bench.runtime.onEntry((entry) => void after.push(shortOf(entry)))
    bench.runtime.onFrame(compute)
    bench.runtime.onFrame(({ seq }) => void frames.push(seq))
    assert.equal(await (await bench.submit('Speak.', { agentId: 'native' })).done, 'complete')
    assert.deepEqual(after, before)
    assert.equal(after.filter((entry) => entry.startsWith('~ text-delta')).length, WORDS.length)
    assert.deepEqual(
      frames,
      [...frames].sort((a, b) => a - b),
    )
    const [said] = await bench.bodies('text-delta')
    assert.equal(said?.text, WORDS.join(''))
  })
})

suite('a listener that takes itself away while it is called', () => {
  test('is not called again, and nobody else misses anything of a running answer', async () => {
    await using bench = await speaking()
    const once: string[] = []
    const heard: string[] = []
    const other: string[] = []
    const stop = bench.runtime.onEntry((entry) => {
      once.push(shortOf(entry))
      if (entry.kind === 'delta') stop()
    })
    bench.runtime.onEntry((entry) => void heard.push(shortOf(entry)))
    bench.runtime.onEntry((entry) => void other.push(shortOf(entry)))
    assert.equal(await (await bench.submit('Speak.', { agentId: 'native' })).done, 'complete')
    assert.equal(once.filter((entry) => entry.startsWith('~')).length, 1)
    assert.deepEqual(heard.slice(0, once.length), once)
    assert.deepEqual(other, heard)
    assert.ok(heard.length > WORDS.length)
  })

  test('a listener that removes another one: the other receives this event, and no later one', () => {
    const heard: string[] = []
    const emitter = new Emitter<number>((error) => assert.fail(String(error)))
    const stopFirst = emitter.subscribe((value) => {
      heard.push(`first ${value}`)
      stopFirst()
      stopSecond()
    })
    const stopSecond = emitter.subscribe((value) => void heard.push(`second ${value}`))
    emitter.subscribe((value) => void heard.push(`third ${value}`))
    emitter.emit(1)
    emitter.emit(2)
    assert.deepEqual(heard, ['first 1', 'second 1', 'third 1', 'third 2'])
  })
})
