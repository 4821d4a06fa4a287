import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { Sightings, type Look } from './sightings.ts'

const at = (ms: number): Look => ({ askedAt: ms, answeredAt: ms })
const one = (beat: number, isLocked: boolean, ageMs = 0) => [{ owner: 'a', beat, ageMs, isLocked }]

suite('watching owners', () => {
  test('an owner whose counter stands still for 700 ms without its lock is dead', () => {
    const sightings = new Sightings()
    sightings.look(one(1, false), at(0))
    assert.deepEqual(sightings.look(one(1, false), at(699)), [])
    assert.equal(sightings.isDead('a'), false)
    assert.deepEqual(sightings.look(one(1, false), at(700)), ['a'])
    assert.equal(sightings.isDead('a'), true)
  })

  test('counts from when the counter was raised, not from when that was seen', () => {
    const sightings = new Sightings()
    sightings.look(one(1, true), at(0))
    sightings.look(one(2, false, 250), at(300))
    assert.deepEqual(sightings.look(one(2, false, 699), at(749)), [])
    assert.deepEqual(sightings.look(one(2, false, 700), at(750)), ['a'])
  })

  test('does not believe the clock of the database further back than its own last look, nor into the future', () => {
    const sightings = new Sightings()
    sightings.look(one(1, true), at(0))
    sightings.look(one(2, false, 60_000), at(300))
    assert.deepEqual(sightings.look(one(2, false, 60_399), at(699)), [])
    assert.deepEqual(sightings.look(one(2, false, 60_400), at(700)), ['a'])
    sightings.look(one(3, false, -60_000), at(1000))
    assert.deepEqual(sightings.look(one(3, false, -59_301), at(1699)), [])
    assert.deepEqual(sightings.look(one(3, false, -59_300), at(1700)), ['a'])
    // One that was never seen before may have been raised at any time.
    const others = new Sightings()
    others.look(one(7, false, 5000), at(100))
    assert.deepEqual(others.look(one(7, false, 5699), at(799)), [])
  })

  test('an owner that holds its lock has 6 seconds', () => {
    const sightings = new Sightings()
    sightings.look(one(1, true), at(0))
    assert.deepEqual(sightings.look(one(1, true), at(5999)), [])
    assert.deepEqual(sightings.look(one(1, true), at(6000)), ['a'])
  })

  test('an owner that has not beaten yet is still connecting: it has 6 seconds as well', () => {
    const sightings = new Sightings()
    sightings.look(one(0, false), at(0))
    assert.equal(sightings.nextDeath(), undefined)
    assert.deepEqual(sightings.look(one(0, false), at(5999)), [])
    assert.deepEqual(sightings.look(one(0, false), at(6000)), ['a'])
  })

  test('is reported dead once, and alive again when its counter moves', () => {
    const sightings = new Sightings()
    sightings.look(one(1, false), at(0))
    assert.deepEqual(sightings.look(one(1, false), at(800)), ['a'])
    assert.deepEqual(sightings.look(one(1, false), at(900)), [])
    assert.deepEqual(sightings.dead(), ['a'])
    sightings.look(one(2, true), at(1000))
    assert.equal(sightings.isDead('a'), false)
  })

  test('counts from the first answer to the last question: slow answers prove nothing', () => {
    const sightings = new Sightings()
    sightings.look(one(1, false), { askedAt: 0, answeredAt: 650 })
    assert.deepEqual(sightings.look(one(1, false), { askedAt: 1300, answeredAt: 9000 }), [])
    assert.deepEqual(sightings.look(one(1, false), { askedAt: 1350, answeredAt: 9100 }), ['a'])
  })

  test('sightings from before a broken connection prove nothing', () => {
    const sightings = new Sightings()
    sightings.look(one(1, false), at(0))
    sightings.clear()
    assert.deepEqual(sightings.look(one(1, false), at(5000)), [])
    assert.deepEqual(sightings.look(one(1, false), at(5700)), ['a'])
  })

  test('names the time of the next possible death', () => {
    const sightings = new Sightings()
    sightings.look(one(1, true), at(0))
    assert.equal(sightings.nextDeath(), undefined)
    sightings.look(one(1, false), at(300))
    assert.equal(sightings.nextDeath(), 700)
  })

  test('an owner that beats every 300 ms is never dead, however this process looks at it', () => {
    const pause = fc.integer({ min: 0, max: 20_000 })
    const look = fc.record({ pause, asking: fc.integer({ min: 0, max: 3000 }), isLocked: fc.boolean() })
    fc.assert(
      fc.property(fc.array(look, { maxLength: 50 }), fc.integer({ min: 0, max: 300 }), (looks, phase) => {
        const sightings = new Sightings()
        let now = 0
        for (const { asking, isLocked, pause: before } of looks) {
          const askedAt = now + before
          const answeredAt = askedAt + asking
          // The database answers somewhere between question and answer.
          const beat = Math.floor((askedAt + asking / 2 + phase) / 300)
          assert.deepEqual(sightings.look(one(beat, isLocked), { askedAt, answeredAt }), [])
          now = answeredAt
        }
      }),
    )
  })
})
