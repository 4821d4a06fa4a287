import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { MCPServerConfig } from '@inspan/protocol/chat'
import { McpBench, misbehaving } from './mcp-bench.fixture.ts'

const failing = async (server: MCPServerConfig): Promise<[unknown, string]> => {
  await using bench = await McpBench.ready({ bad: server, good: misbehaving('well') })
  const info = bench.info('bad')
  assert.deepEqual([info?.status, bench.info('good')?.status], ['error', 'connected'])
  const failed = bench.events.find(({ type }) => type === 'mcp-server-discovery-failed')
  assert.deepEqual(failed !== undefined && 'errorDetail' in failed && failed.errorDetail, info?.errorDetail)
  return [info?.errorDetail, info?.error ?? '']
}

suite('a server that', () => {
  test('hangs is dropped after its timeout, and the others work', async () => {
    const [detail] = await failing({ ...misbehaving('hang'), timeout: 1_000 })
    assert.deepEqual(detail, { category: 'connect-timeout', retriable: true })
  })

  test('hangs in a call is dropped after the time for calls', async () => {
    await using bench = await McpBench.ready({ bad: misbehaving('hang-call') }, { callTimeout: 50 })
    await assert.rejects(bench.call('bad_change'), /did not answer within 50 ms/)
  })

  test('ends at once is described without paths', async () => {
    const [detail, message] = await failing(misbehaving('die'))
    assert.deepEqual(detail, { category: 'transport-eof', retriable: true })
    assert.doesNotMatch(message, /home|fixture/)
  })

  test('ends when it is asked for its revision is connected as an older one', async () => {
    await using bench = await McpBench.ready({ old: misbehaving('exit-on-probe') })
    assert.equal(bench.info('old')?.status, 'connected')
  })

  test('prints text to its standard output is understood nevertheless', async () => {
    await using bench = await McpBench.ready({ a: misbehaving('talk') })
    assert.equal(bench.info('a')?.status, 'connected')
  })

  test('lists something that is no tool has a protocol error', async () => {
    const [detail] = await failing(misbehaving('bad-list'))
    assert.deepEqual(detail, { category: 'protocol-error', retriable: false })
  })

  test('returns something else than it declared has failed, and the model learns of it', async () => {
    await using bench = await McpBench.ready({ a: misbehaving('lie') })
    const wrong = await bench.call('a_number')
    assert.ok('result' in wrong && wrong.isError === true)
    assert.match(JSON.stringify(wrong.result), /does not match the schema it declares/)
    const broken = await bench.call('a_broken')
    assert.ok('result' in broken && broken.isError === true)
  })

  test('declares a schema with a pattern that backtracks without end stops nobody', async () => {
    await using bench = await McpBench.ready({ a: misbehaving('lie') })
    const endless = await bench.call('a_endless')
    const result = 'The tool declares a schema for its result that takes too long to check.'
    assert.deepEqual(endless, { result, isError: true })
  })

  test('sends 100 MB is cut off', async () => {
    await using bench = await McpBench.ready({ a: misbehaving('huge') })
    await assert.rejects(bench.call('a_change'), /MCP server "a"/)
    await bench.until(() => bench.info('a')?.status === 'error')
  })

  test('does not exist is an error of the configuration', async () => {
    const [detail, message] = await failing({ type: 'stdio', command: '/nowhere/at/all/server' })
    assert.deepEqual(detail, { category: 'config-error', retriable: false })
    assert.doesNotMatch(message, /nowhere\/at/)
  })

  test('is configured wrongly reports what is wrong', async () => {
    const [detail, message] = await failing({ type: 'remote', url: 'ftp://example.com' })
    assert.deepEqual(detail, { category: 'config-error', retriable: false })
    assert.match(message, /http/)
    const [, command] = await failing({ type: 'stdio' } as unknown as MCPServerConfig)
    assert.match(command, /has no `command`/)
  })
})
