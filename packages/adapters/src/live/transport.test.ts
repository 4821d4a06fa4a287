import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { clis } from '../clis.ts'
import { acp, claudeCode, cline, codex, goose, kiloCode, opencode, pi, type AcpOptions } from '../index.ts'

const LEVELS = ['read-only', 'edit'] as const

suite('a level of permissions', () => {
  for (const [name, agent] of Object.entries({ claudeCode, cline, codex, goose, kiloCode, opencode })) {
    test(`is refused if nothing would enforce it: ${name}`, () => {
      for (const permissions of LEVELS) {
        assert.throws(
          () => agent({ permissions }),
          (error) => InspanError.is(error, 'unsupported') && /by rules, or .*transport: 'print'/.test(error.message),
        )
        assert.doesNotThrow(() => agent({ permissions, transport: 'print' }))
        assert.doesNotThrow(() => agent({ permissions, canAnswer: false }))
      }
      assert.doesNotThrow(() => agent({ permissions: 'full' }))
    })
  }

  test('is refused by an agent that is always live', () => {
    for (const permissions of LEVELS) {
      const options: AcpOptions & { permissions: string } = { command: 'agent', permissions }
      assert.throws(() => acp(options), /`permissions` of .* has to be one of full/)
    }
  })

  test('is accepted by Pi, where it chooses the tools', () => {
    for (const permissions of LEVELS) assert.doesNotThrow(() => pi({ permissions }))
  })

  test('is refused by the list of clis as well, once an agent of it is used', async () => {
    const live = clis.flatMap(({ profile, live }) => (live === undefined ? [] : [{ id: profile.id, live }]))
    const refusing = live.filter(({ id }) => id !== 'pi')
    assert.equal(refusing.length, 6)
    for (const { live: make } of refusing) {
      await assert.rejects(
        async () => make({ permissions: 'read-only' }).describe(),
        (error) => InspanError.is(error, 'unsupported'),
      )
    }
  })
})
