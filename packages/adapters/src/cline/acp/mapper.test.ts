import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { clineHabits } from './mapper.ts'

describe('Cline over ACP: standard error', () => {
  it('what its library and its log say of themselves is no warning', () => {
    assert.equal(clineHabits.noise?.('[acp] listening'), 'notice')
    assert.equal(clineHabits.noise?.('DeprecationWarning: AI SDK Warning (x): use y'), 'notice')
    assert.equal(clineHabits.noise?.('    at run (file.js:1:2)'), 'stack-trace')
  })

  it('everything else is: also what its log says of errors', () => {
    for (const line of ['[acp] failed to read', '[acp] Error: no key', 'out of memory'])
      assert.equal(clineHabits.noise?.(line), undefined)
  })
})
