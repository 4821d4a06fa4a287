import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { Memory, Workspace } from '@inspan/core'
import { connect, type Client } from '@inspan/client'
import { ServerBench } from './server.fixture.ts'
import { stateWhere } from './client-state.fixture.ts'

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'inspan-server-files-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** A server whose agent writes `b.txt` and changes `a.txt` in its first run, and says something in its second. */
async function writingBench(t: TestContext): Promise<{ bench: ServerBench; root: string }> {
  const root = folder(t)
  writeFileSync(join(root, 'a.txt'), 'one\n')
  const write = (path: string, content: string): object => ({ name: 'write_file', input: { path, content } })
  const script = [
    { toolCalls: [{ name: 'read_file', input: { path: 'a.txt' } }] },
    { toolCalls: [write('a.txt', 'two\n'), write('b.txt', 'new\n')] },
    { text: 'Written.' },
    { text: 'Hello.' },
  ] as Parameters<typeof ServerBench.start>[0]
  const bench = await ServerBench.start(script, {
    harness: {
      workspace: new Workspace({ root, checkpoints: { folder: folder(t) } }),
      permissions: { categories: { read: 'allow', edit: 'allow' } },
    },
  })
  return { bench, root }
}

async function say(client: Client, prompt: string): Promise<void> {
  const { runId } = await client.send({ type: 'submit', prompt }).receipt
  await stateWhere(client, ({ head }) => head.lastRun?.runId === runId)
}

describe('the files that a thread changed', () => {
  it('are listed with their contents and differences', async (t) => {
    const { bench } = await writingBench(t)
    await using _bench = bench
    const client = await connect({ url: bench.url, token: bench.token })
    assert.deepEqual(await client.routes.changedFiles(client.getState().thread), [])
    await say(client, 'Write')
    assert.deepEqual(await client.routes.changedFiles(client.getState().thread), [
      {
        path: 'a.txt',
        status: 'changed',
        before: 'one\n',
        after: 'two\n',
        diff: '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n',
      },
      {
        path: 'b.txt',
        status: 'created',
        after: 'new\n',
        diff: '--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+new\n',
      },
    ])
    await client.close()
  })

  it('are restored by `rewind`; a dry run puts what would change into the state', async (t) => {
    const { bench, root } = await writingBench(t)
    await using _bench = bench
    const client = await connect({ url: bench.url, token: bench.token })
    await say(client, 'Write')
    await say(client, 'Hi')
    const messageId = client.getState().messages[0]?.id ?? ''
    const report = { restored: ['a.txt'], removed: ['b.txt'], conflicts: [], notCovered: [] }

    const dry = await client.send({ type: 'rewind', messageId, dryRun: true }).receipt
    assert.deepEqual([dry.status, dry.result], ['done', report])
    assert.deepEqual(client.getState().rewind, { messageId, scope: 'files', dryRun: true, report })
    assert.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'two\n')

    const done = await client.send({ type: 'rewind', messageId }).receipt
    assert.equal(done.status, 'done')
    assert.deepEqual(client.getState().rewind, { messageId, scope: 'files', dryRun: false, report })
    assert.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'one\n')
    assert.equal(existsSync(join(root, 'b.txt')), false)
    assert.equal(
      client.getState().messages.some(({ content }) => content === 'Hello.'),
      true,
      'the conversation stays',
    )
    await client.close()
  })

  it('go back together with the conversation with the scope `both`', async (t) => {
    const { bench, root } = await writingBench(t)
    await using _bench = bench
    const client = await connect({ url: bench.url, token: bench.token })
    await say(client, 'Write')
    await say(client, 'Hi')
    const { messages } = client.getState()
    assert.ok(messages.length > 2)
    const receipt = await client.send({ type: 'rewind', messageId: messages[0]?.id ?? '', scope: 'both' }).receipt
    assert.equal(receipt.status, 'done')
    const after = await stateWhere(client, ({ messages: left }) => left.length === 0)
    assert.equal(after.rewind?.dryRun, false)
    assert.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'one\n')
    await client.close()
  })

  it('files that a person changed since are listed by a question, and restored when it is answered', async (t) => {
    const { bench, root } = await writingBench(t)
    await using _bench = bench
    const client = await connect({ url: bench.url, token: bench.token })
    await say(client, 'Write')
    writeFileSync(join(root, 'a.txt'), 'mine\n')
    const messageId = client.getState().messages[0]?.id ?? ''
    await client.send({ type: 'rewind', messageId, dryRun: true }).receipt
    const { report } = client.getState().rewind ?? {}
    assert.deepEqual((report as { conflicts: string[] }).conflicts, ['a.txt'])
    const asked = await client.send({ type: 'rewind', messageId }).receipt
    const { waitId = '' } = (asked.result ?? {}) as { waitId?: string }
    assert.equal(readFileSync(join(root, 'b.txt'), 'utf8'), 'new\n')
    const answer = { type: 'answer', waitId, decision: 'answer', value: 'overwrite' } as const
    assert.equal((await client.send(answer).receipt).status, 'done')
    assert.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'one\n')
    assert.equal(existsSync(join(root, 'b.txt')), false)
    await client.close()
  })
})

describe('the memory of a thread', () => {
  it('is shown with its thresholds and what is not observed yet', async () => {
    await using bench = await ServerBench.start([{ text: 'A long answer about many things.' }], {
      harness: {
        memory: new Memory({ observationalMemory: { model: 'none/at-all' } }),
        omConfig: { defaultObservationThreshold: 5000, defaultReflectionThreshold: 7000 },
      },
    })
    const client = await connect({ url: bench.url, token: bench.token })
    await say(client, 'Tell me')
    const memory = await client.routes.memory(client.getState().thread)
    assert.deepEqual(
      [memory?.generation, memory?.coversTo, memory?.threshold, memory?.reflectionThreshold],
      [0, 0, 5000, 7000],
    )
    assert.ok((memory?.pendingTokens ?? 0) > 0)
    await client.close()
  })

  it('is null without one', async () => {
    await using bench = await ServerBench.start([])
    const client = await connect({ url: bench.url, token: bench.token })
    assert.equal(await client.routes.memory(client.getState().thread), null)
    const { usage, waits } = await client.routes.limits(client.getState().thread)
    assert.deepEqual(waits, [])
    assert.ok('own' in usage)
    await client.close()
  })
})
