import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { InspanError } from '@inspan/protocol'
import { HarnessBench } from '../harness.fixture.ts'

const CHILD = fileURLToPath(new URL('unawaited-calls.fixture.ts', import.meta.url))

suite('a call that fails', () => {
  test(
    'a call that nobody awaits reports its failure by an event, and the process lives',
    { timeout: 240_000 },
    async () => {
      // Rejects when the process ended because of a rejection.
      const { stdout } = await promisify(execFile)(process.execPath, [CHILD], { timeout: 200_000 })
      const told = JSON.parse(stdout) as string[]
      assert.deepEqual(told.slice(0, 7).sort(), [
        'invalid-input',
        'invalid-input',
        'invalid-input',
        'invalid-input',
        'invalid-input',
        'not-found',
        'not-found',
      ])
      const further = told.slice(7, 32)
      assert.deepEqual([...new Set(further)].sort(), ['No.', 'invalid-input', 'misuse', 'not-found'])
      assert.deepEqual(told.slice(32), ['invalid-input', 'The lock is stuck.'])
    },
  )

  test('rejects for whoever awaits it, and is reported to the others', async () => {
    await using bench = new HarnessBench([])
    const rejected = await bench.harness.steer({ content: '' }).catch((error: unknown) => error)
    assert.ok(InspanError.is(rejected, 'invalid-input'))
    assert.deepEqual(
      bench.all('error').map(({ error, errorType }) => [error, errorType]),
      [[rejected, 'invalid-input']],
    )
  })
})
