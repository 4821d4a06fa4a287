import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Agent, createTool, Harness, MemoryStore } from '@inspan/core'
import { serve } from '@inspan/server'
import { scriptedModel } from '@inspan/testing'
import { connect } from '../connect.ts'
import type { Client } from '../client.ts'
import { comparisonTable, exportComparison, type Comparison } from './export-comparison.ts'
import { runLane } from './run-lane.ts'

type Script = Parameters<typeof scriptedModel>[0]

async function withClient<T>(script: Script, use: (client: Client) => Promise<T>): Promise<T> {
  const write = createTool({ id: 'write_file', description: 'Writes.', category: 'edit', execute: () => 'written' })
  const agent = new Agent({ id: 'me', model: scriptedModel(script), tools: [write] })
  const harness = new Harness({ id: 'lanes', agent, storage: new MemoryStore(), modes: [{ id: 'build' }] })
  const server = await serve({ harness })
  const client = await connect({ transport: server.transport() })
  try {
    return await use(client)
  } finally {
    await client.close()
    await server.close()
    await harness.destroy()
  }
}

const WRITE = { toolCalls: [{ name: 'write_file', input: { path: 'a.txt', content: 'x' } }] }

suite('a lane', () => {
  test('reports what its agent said and used, and that its call was declined', async () => {
    const script = [WRITE, { text: 'Then not.', usage: { inputTokens: 11, outputTokens: 3 } }]
    const report = await withClient(script, (client) =>
      runLane(client, { name: 'one', prompt: 'Write', declineWith: 'This comparison is read-only.' }),
    )
    assert.equal(report.status, 'complete')
    assert.equal(report.answer, 'Then not.')
    assert.equal(report.outputTokens, 3)
    assert.deepEqual(report.files, [])
  })

  test('names the files that were written', async () => {
    const report = await withClient([WRITE, { text: 'Done.' }], async (client) => {
      await client.send({ type: 'configure', config: { permissionMode: 'acceptEdits' } }).receipt
      return runLane(client, { name: 'one', prompt: 'Write' })
    })
    assert.deepEqual(report.files, ['a.txt'])
  })

  test('waits for a person unless it is set to decline, and ends when it is cancelled', async () => {
    const ended = new AbortController()
    const seen: string[] = []
    const report = await withClient([WRITE], (client) =>
      runLane(client, {
        name: 'one',
        prompt: 'Write',
        signal: ended.signal,
        onReport: ({ status }) => {
          seen.push(status)
          if (status === 'blocked') ended.abort()
        },
      }),
    )
    assert.ok(seen.includes('blocked'))
    assert.equal(report.status, 'aborted')
  })

  test('explains why a run failed', async () => {
    const report = await withClient([{ error: { status: 400, message: 'no such model' } }], (client) =>
      runLane(client, { name: 'one', prompt: 'Go' }),
    )
    assert.equal(report.status, 'error')
    assert.match(report.error ?? '', /no such model/)
  })
})

suite('an exported comparison', () => {
  const comparison: Comparison = {
    prompt: 'Fix it',
    lanes: [
      {
        name: '=cmd|x',
        thread: 't1',
        status: 'complete',
        durationMs: 1500,
        inputTokens: 10,
        outputTokens: 2,
        costUsd: 0.5,
        estimatedUsd: 0.5,
        files: ['a.ts'],
        commands: [{ command: 'npm test', exitCode: 1 }],
        answer: 'Done, "really".',
        diff: '+```\n+code\n',
      },
    ],
  }

  test('has a table with time, tokens, cost, files, commands and exit', () => {
    const [row] = comparisonTable(comparison).rows
    assert.deepEqual(row, ['=cmd|x', '1.5 s', '10', '2', '$0.5000 estimated', '1', '1 (1 failed)', 'complete'])
  })

  test('is no formula in CSV', () => {
    const [, row] = exportComparison(comparison, 'csv').split('\r\n')
    assert.equal(row, "'=cmd|x,complete,1500,10,2,0.5,0.5,1,1,1,t1,")
  })

  test('cannot be broken out of in Markdown', () => {
    const text = exportComparison(comparison, 'markdown')
    assert.match(text, /\| =cmd\\\|x \|/)
    assert.match(text, /````diff\n\+```\n\+code\n````/)
    assert.match(text, /- `npm test` \(exit 1\)/)
  })

  test('is the comparison itself in JSON', () => {
    assert.deepEqual(JSON.parse(exportComparison(comparison, 'json')), comparison)
  })
})
