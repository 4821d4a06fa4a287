import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { startProvider } from '@inspan/testing'
import { until } from '../until.fixture.ts'
import { Serving } from './serving.fixture.ts'

suite('inspan serve in one of several project folders', { timeout: 120_000 }, () => {
  test('answers what waits in another one, whose agent then works there', async () => {
    const call = { name: 'write_file', input: { path: 'made.txt', content: 'over there' } }
    await using provider = await startProvider([{ toolCalls: [call] }, { text: 'Made.' }])
    const env = { ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: `${provider.url}/v1` }
    const args = ['--model', 'anthropic/claude-sonnet-4-5']
    await using there = await Serving.start({ env, args })
    await there.client.send({ type: 'submit', prompt: 'Write' }).receipt
    await until(there.client, ({ pendingApprovals = [] }) => pendingApprovals.length > 0)
    // Its process dies: whoever answers has to go on with the run.
    await there.kill('SIGKILL')

    await using here = await Serving.start({ env, args, sharing: there })
    const { elsewhere, threads } = await here.client.routes.overview()
    assert.deepEqual(threads, [])
    const [waiting] = elsewhere
    assert.deepEqual([waiting?.project, waiting?.canOpen], [there.folder, true])
    const [wait] = waiting?.pendingApprovals ?? []
    const thread = waiting?.id ?? ''
    await here.client.open(thread)
    await here.client.send({ type: 'approve', toolCallId: wait?.toolCallId ?? '', thread }).receipt
    await until(here.client, ({ head }) => head.lastRun !== null)
    assert.equal(here.client.getState().head.lastRun?.outcome, 'complete')
    assert.equal(readFileSync(join(there.folder, 'made.txt'), 'utf8'), 'over there')
    assert.equal(existsSync(join(here.folder, 'made.txt')), false)
  })
})
