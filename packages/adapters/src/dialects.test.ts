import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dialects, liveDialects } from './dialects.ts'
import { Normalizer } from './launch/normalize.ts'

const line = (note: object): string => JSON.stringify({ at: 1, note })

describe('a recording can be read', () => {
  for (const { id } of new Set([...dialects, ...liveDialects])) {
    it(`reads a recording of ${id}`, () => {
      const normalizer = new Normalizer({ dialects, liveDialects })
      assert.deepEqual(normalizer.line(line({ run: { harness: id } })), [])
      const [warning] = normalizer.line(line({ warning: { message: 'careful' } }))
      assert.equal(warning?.type === 'warning' && warning.message, 'careful')
    })
  }
})

it('print output is never taken for live output', () => {
  const normalizer = new Normalizer({ dialects, liveDialects, harness: 'codex-app-server' })
  assert.throws(() => normalizer.line('{}'), /no coding agent "codex-app-server"/)
})
