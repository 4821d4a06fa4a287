import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { MCPServerConfig } from '@inspan/protocol/chat'
import { isSameServer, reconnectionOf } from './server-config.ts'

const REMOTE = { type: 'remote', url: 'http://127.0.0.1:9/mcp' } as const
const LOCAL = { type: 'stdio', command: 'node', args: ['a', 'b'], env: { A: '1' } } as const

suite('reconnecting', () => {
  test('has documented defaults, and setting one of them leaves the others', () => {
    const defaults = {
      maxRetries: 2,
      initialReconnectionDelay: 1000,
      maxReconnectionDelay: 30_000,
      reconnectionDelayGrowFactor: 1.5,
    }
    assert.deepEqual(reconnectionOf(REMOTE), defaults)
    assert.deepEqual(reconnectionOf({ ...REMOTE, reconnectionOptions: { maxRetries: 7 } }), {
      ...defaults,
      maxRetries: 7,
    })
  })
})

suite('a server', () => {
  test('is the same only if everything that reaches it is', () => {
    const url = new URL(REMOTE.url)
    const same: [MCPServerConfig, MCPServerConfig][] = [
      [REMOTE, { ...REMOTE, url }],
      [REMOTE, { ...REMOTE, enabled: true, headers: {}, reconnectionOptions: { maxRetries: 2 } }],
      [
        { ...LOCAL, args: [...LOCAL.args] },
        { ...LOCAL, args: [...LOCAL.args], enabled: true },
      ],
    ]
    for (const [a, b] of same) assert.ok(isSameServer(a, b))
    const local = { ...LOCAL, args: [...LOCAL.args] }
    const other: [MCPServerConfig, MCPServerConfig][] = [
      [REMOTE, local],
      [REMOTE, { ...REMOTE, url: `${REMOTE.url}/other` }],
      [REMOTE, { ...REMOTE, headers: { a: '1' } }],
      [REMOTE, { ...REMOTE, timeout: 1 }],
      [REMOTE, { ...REMOTE, enabled: false }],
      [REMOTE, { ...REMOTE, reconnectionOptions: { maxRetries: 3 } }],
      [local, { ...local, command: 'bun' }],
      [local, { ...local, args: ['b', 'a'] }],
      [local, { ...local, env: { A: '2' } }],
      [local, { ...local, timeout: 1 }],
    ]
    for (const [a, b] of other) assert.ok(!isSameServer(a, b), JSON.stringify(b))
  })
})
