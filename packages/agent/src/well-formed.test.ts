import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { wellFormed } from './well-formed.ts'

const CUT = '🦊'.slice(0, 1)

suite('well-formed texts', () => {
  test('take the place of those that were cut inside a surrogate pair, wherever they are', () => {
    const given = { text: `a${CUT}`, list: [{ [`k${CUT}`]: [CUT] }], count: 1, none: null }
    assert.deepEqual(wellFormed(given), { text: 'a\ufffd', list: [{ 'k\ufffd': ['\ufffd'] }], count: 1, none: null })
  })

  test('stay the same value if nothing was cut, with bytes and addresses as they are', () => {
    const given = { text: '🦊', data: new Uint8Array([1]), url: new URL('https://example.com/'), list: [{ a: 'b' }] }
    assert.equal(wellFormed(given), given)
    const partly = { data: given.data, url: given.url, text: CUT }
    const { data, url } = wellFormed(partly)
    assert.equal(data, given.data)
    assert.equal(url, given.url)
  })

  test('can be made of any JSON, and a second repair changes nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.string({ unit: 'binary' }), (value, text) => {
        const given = { value, text: text.slice(0, 1) }
        const once = wellFormed(given)
        assert.ok(!/\\ud[89a-f]/i.test(JSON.stringify(once)))
        assert.equal(wellFormed(once), once)
      }),
    )
  })
})
