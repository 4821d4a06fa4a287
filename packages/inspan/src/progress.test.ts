import assert from 'node:assert/strict'
import { suite, test, type TestContext } from 'node:test'
import { Progress } from './progress.ts'

function watched(t: TestContext, isTty = true) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  const written: string[] = []
  return { written, progress: new Progress({ isTty }, (text) => written.push(text)) }
}

suite('progress', () => {
  test('is shown after a second, kept up to date, and removed at the end', (t) => {
    const { progress, written } = watched(t)
    progress.show('one of 3')
    t.mock.timers.tick(999)
    assert.deepEqual(written, [])
    t.mock.timers.tick(1)
    assert.deepEqual(written, ['\r\x1b[Kone of 3'])
    progress.show('two of 3')
    progress.show('three of 3')
    t.mock.timers.tick(200)
    assert.deepEqual(written.slice(1), ['\r\x1b[Kthree of 3'])
    progress[Symbol.dispose]()
    assert.deepEqual(written.slice(2), ['\r\x1b[K'])
    t.mock.timers.tick(5000)
    assert.equal(written.length, 3)
  })

  test('is not shown for what is over within a second, and never where there is no terminal', (t) => {
    const { progress, written } = watched(t)
    progress.show('quick')
    t.mock.timers.tick(900)
    progress[Symbol.dispose]()
    t.mock.timers.tick(5000)
    const silent = new Progress({ isTty: false }, (text) => written.push(text))
    silent.show('slow')
    silent.showNow('slower')
    t.mock.timers.tick(5000)
    silent[Symbol.dispose]()
    assert.deepEqual(written, [])
  })

  test('is shown at once before work that blocks the process', (t) => {
    const { progress, written } = watched(t)
    progress.showNow('Copying …')
    assert.deepEqual(written, ['\r\x1b[KCopying …'])
  })

  test('makes room for what is printed, and comes back after another second of silence', (t) => {
    const { progress, written } = watched(t)
    progress.show('Working …')
    t.mock.timers.tick(1000)
    progress.hide()
    assert.deepEqual(written, ['\r\x1b[KWorking …', '\r\x1b[K'])
    progress.show('Working …')
    t.mock.timers.tick(999)
    assert.equal(written.length, 2)
    t.mock.timers.tick(1)
    assert.equal(written.length, 3)
  })
})
