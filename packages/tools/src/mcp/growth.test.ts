/** What a server sends takes time and memory in proportion to its size. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { GROWTH_LIMIT, memoryGrowth, timeGrowth, type MakeWork } from '@inspan/testing'
import { McpBench, misbehaving } from './mcp-bench.fixture.ts'

const SHAPES: readonly string[] = ['word ', '\u001b[31m', '{"a":', '"\\', '\n', '<a>', '\u{1f600}']

async function assertLinear(make: MakeWork, what: string): Promise<void> {
  const [time, memory] = [await timeGrowth(make), await memoryGrowth(make)]
  assert.ok(time <= GROWTH_LIMIT, `${what}: the time grows ${time.toFixed(1)} times`)
  assert.ok(memory <= GROWTH_LIMIT, `${what}: the memory grows ${memory.toFixed(1)} times`)
}

suite('ten times as much from a server takes at most twelve times the time and memory', () => {
  test('the text of a result', async () => {
    await using bench = await McpBench.ready({ a: misbehaving('sized') })
    for (const text of SHAPES) {
      const times = Math.ceil(200_000 / text.length)
      const call = (factor: number): Promise<unknown> => bench.call('a_change', { text, times: times * factor })
      assert.ok(JSON.stringify(await call(10)).length > 2_000_000, 'the whole text came')
      await assertLinear((factor) => () => call(factor), JSON.stringify(text))
    }
  })

  test('the blocks of a result', async () => {
    await using bench = await McpBench.ready({ a: misbehaving('sized') })
    const call = (factor: number): Promise<unknown> => bench.call('a_change', { text: 'word', blocks: 2_000 * factor })
    assert.ok(JSON.stringify(await call(10)).length > 20_000 * 4, 'all blocks came')
    await assertLinear((factor) => () => call(factor), 'blocks')
  })

  test('the tools of a server', async () => {
    const discovered = async (count: number): Promise<McpBench> => {
      await using bench = await McpBench.ready({ a: misbehaving(`tools-${count}`) })
      assert.equal(bench.info('a')?.tools?.length, count)
      return bench
    }
    await assertLinear((factor) => () => discovered(300 * factor), 'tools')
  })
})
