import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once, EventEmitter } from 'node:events'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { InspanError } from '@inspan/protocol'
import { HarnessBench } from '../harness.fixture.ts'
import { Heartbeats } from './heartbeats.ts'

function beats(failures: string[] = []): Heartbeats {
  return new Heartbeats((id, error) => failures.push(`${id}: ${error.message}`))
}

suite('a heartbeat', () => {
  test('runs at once and then again and again', async () => {
    const heartbeats = beats()
    const events = new EventEmitter()
    let runs = 0
    await heartbeats.register({ id: 'sync', intervalMs: 1, handler: () => void (++runs === 3 && events.emit('third')) })
    assert.equal(runs, 1)
    // The handler's own timer does not keep the process alive, so something else has to.
    const alive = setInterval(() => undefined, 1000)
    await once(events, 'third')
    clearInterval(alive)
    await heartbeats.stop()
  })

  test('waits for its first interval when it is not to run at once', async () => {
    const heartbeats = beats()
    let runs = 0
    await heartbeats.register({ id: 'sync', intervalMs: 60_000, immediate: false, handler: () => void runs++ })
    assert.equal(runs, 0)
    await heartbeats.stop()
    assert.equal(runs, 0)
  })

  test('never runs twice at once, and may finish when it is stopped', async () => {
    const heartbeats = beats()
    const gate = Promise.withResolvers<void>()
    const log: string[] = []
    await heartbeats.register({
      id: 'slow',
      intervalMs: 1,
      handler: async () => {
        log.push('begin')
        await gate.promise
        log.push('end')
      },
      shutdown: () => void log.push('shutdown'),
    })
    await new Promise((resolve) => setTimeout(resolve, 20))
    assert.deepEqual(log, ['begin'])
    const stopped = heartbeats.remove('slow')
    gate.resolve()
    await stopped
    assert.deepEqual(log, ['begin', 'end', 'shutdown'])
    assert.deepEqual(heartbeats.ids, [])
  })

  test('a heartbeat that fails is reported and continues; so is a shutdown that fails', async () => {
    const failures: string[] = []
    const heartbeats = beats(failures)
    const events = new EventEmitter()
    let runs = 0
    await heartbeats.register({
      id: 'bad',
      intervalMs: 1,
      handler: () => {
        if (++runs === 2) events.emit('second')
        throw new Error(`run ${runs}`)
      },
      shutdown: async () => {
        throw new Error('no end')
      },
    })
    const alive = setInterval(() => undefined, 1000)
    if (runs < 2) await once(events, 'second')
    clearInterval(alive)
    await heartbeats.remove('bad')
    assert.deepEqual(failures.slice(0, 2), ['bad: run 1', 'bad: run 2'])
    assert.equal(failures.at(-1), 'bad: no end')
  })

  test('replaces the one with its id, which is shut down first', async () => {
    const heartbeats = beats()
    const log: string[] = []
    const handler = (name: string) => ({
      id: 'same',
      intervalMs: 60_000,
      handler: () => void log.push(name),
      shutdown: () => void log.push(`${name} down`),
    })
    await heartbeats.register(handler('a'))
    await heartbeats.register(handler('b'))
    await heartbeats.stop()
    assert.deepEqual(log, ['a', 'a down', 'b', 'b down'])
  })

  for (const intervalMs of [0, -1, Number.NaN, Infinity, '5' as never]) {
    test(`with the interval ${String(intervalMs)} is refused`, async () => {
      const refused = (error: unknown): boolean =>
        InspanError.is(error, 'invalid-input') && error.message.includes('`intervalMs`')
      const handler = { id: 'x', intervalMs, handler: () => undefined }
      await assert.rejects(beats().register(handler), refused)
      assert.throws(() => new HarnessBench([], { heartbeatHandlers: [handler] }), refused)
    })
  }

  test('waits for an interval that is longer than a timer can be', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const timers = t.mock.method(globalThis, 'setTimeout', globalThis.setTimeout)
    const heartbeats = beats()
    const longest = 2 ** 31 - 1
    let runs = 0
    await heartbeats.register({ id: 'rare', intervalMs: longest + 10, immediate: false, handler: () => void runs++ })
    t.mock.timers.tick(longest)
    t.mock.timers.tick(9)
    assert.equal(runs, 0)
    t.mock.timers.tick(1)
    assert.equal(runs, 1)
    assert.ok(timers.mock.calls.every((call) => Number(call.arguments[1]) <= longest))
    await heartbeats.stop()
  })

  for (const how of ['remove', 'stop', 'register'] as const) {
    test(`may end itself with ${how}, and wait for it`, async () => {
      const heartbeats = beats()
      const log: string[] = []
      const over = Promise.withResolvers<void>()
      await heartbeats.register({
        id: 'once',
        intervalMs: 60_000,
        handler: async () => {
          await Promise.resolve()
          if (how === 'register')
            await heartbeats.register({ id: 'once', intervalMs: 60_000, handler: () => undefined })
          else await heartbeats[how]('once')
          log.push('ended')
          over.resolve()
        },
        shutdown: () => void log.push('shutdown'),
      })
      await over.promise
      assert.deepEqual(log, ['shutdown', 'ended'])
      await heartbeats.stop()
    })
  }

  test('may destroy its harness, and wait for it', async () => {
    const over = Promise.withResolvers<void>()
    const bench: HarnessBench = new HarnessBench([], {
      heartbeatHandlers: [
        { id: 'last', intervalMs: 60_000, handler: () => bench.harness.destroy().then(over.resolve, over.reject) },
      ],
    })
    await bench.harness.init()
    await over.promise
    await bench.harness.destroy()
  })

  test('does not keep the process alive', () => {
    const module = fileURLToPath(new URL('heartbeats.ts', import.meta.url))
    const program = `const { Heartbeats } = await import(${JSON.stringify(module)})
      await new Heartbeats(() => {}).register({ id: 'x', intervalMs: 3600000, handler() {} })`
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      timeout: 200_000,
      encoding: 'utf8',
    })
    assert.equal(status, 0, stderr)
  })
})
