import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codex } from '../codex/agent.ts'
import { claudeCode } from './agent.ts'

/** Capabilities can be described without the CLI. */
const NOWHERE = { env: { PATH: '' } }

for (const [name, agent] of [
  ['Claude Code', claudeCode],
  ['Codex', codex],
] as const) {
  test(`${name} is live when somebody can answer, and describes what it can do in each case`, async () => {
    const steerOf = async (options: Parameters<typeof agent>[0]): Promise<string> =>
      (await agent({ ...NOWHERE, ...options }).describe()).steer
    assert.equal(await steerOf({}), 'inject')
    assert.equal(await steerOf({ canAnswer: false }), 'none')
    assert.equal(await steerOf({ transport: 'print' }), 'none')
    assert.equal(await steerOf({ transport: 'live', canAnswer: false }), 'inject')
    assert.notEqual((await agent({ ...NOWHERE, transport: 'live' }).describe()).governs, 'none')
    assert.equal((await agent({ ...NOWHERE, transport: 'print' }).describe()).governs, 'none')
  })
}
