import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InspanError } from '@inspan/protocol'
import type { CommandKey } from '@inspan/protocol/store'
import type { Command, CommandResult } from '@inspan/protocol/wire'
import { createTool, nativeDriver, runnableTool } from '@inspan/agent'
import { scriptedModel, type ModelTurn } from '@inspan/testing'
import { z } from 'zod'
import { createThread } from '../threads/threads.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import type { RuntimeAgents } from '../turns/active-run.ts'
import { timeOrderedId } from '../../common/time-ordered-id.ts'
import { executePending } from './pending.ts'

const key = (commandId = timeOrderedId()): CommandKey => ({ principal: 'ann', clientId: 'page', commandId })

const note = createTool({
  id: 'note',
  description: 'Writes a note.',
  inputSchema: z.object({ text: z.string() }),
  execute: async () => 'noted',
})

const NOTES: ModelTurn = { toolCalls: [{ name: 'note', input: { text: 'x' } }] }

function agentsOf(...turns: ModelTurn[]): RuntimeAgents {
  return {
    native: {
      driver: nativeDriver({ id: 'native', model: scriptedModel(turns) }),
      tools: [runnableTool(note)],
    },
  }
}

function runIdOf(result: CommandResult): string {
  assert.ok(result.status === 'started', JSON.stringify(result))
  return result.runId
}

suite('a command', () => {
  test('starts a run, and returns the stored outcome when it is sent again', async () => {
    await using bench = await RuntimeBench.open(agentsOf({ text: 'Hi.' }))
    const submit: Command = { type: 'submit', prompt: 'Hello' }
    const sent = key()
    const first = await bench.runtime.execute(submit, sent)
    await bench.runtime.outcome(runIdOf(first))
    assert.deepEqual(await bench.runtime.execute({ prompt: 'Hello', type: 'submit' }, sent), first)
    assert.equal((await bench.bodies('run.started')).length, 1)
    const row = await bench.store.getCommand(sent)
    assert.deepEqual([row?.state, row?.outcome, row?.body], ['done', first, null])
    const started = (await bench.records()).find(({ body }) => body.type === 'run.started')
    assert.ok((row?.seq ?? 0) >= (started?.seq ?? Infinity), 'the outcome is stored with the run')
  })

  test('sent twice at the same time is carried out once', async () => {
    await using bench = await RuntimeBench.open(agentsOf({ text: 'Hi.' }))
    const sent = key()
    const submit: Command = { type: 'submit', prompt: 'Hello' }
    const [one, other] = await Promise.all([bench.runtime.execute(submit, sent), bench.runtime.execute(submit, sent)])
    assert.deepEqual(one, other)
    await bench.runtime.outcome(runIdOf(one))
    assert.equal((await bench.bodies('run.started')).length, 1)
  })

  test('with the id of another one is a conflict, and one that is too old has expired', async () => {
    await using bench = await RuntimeBench.open(agentsOf({ text: 'Hi.' }))
    const sent = key()
    await bench.runtime.execute({ type: 'rename', title: 'One' }, sent)
    assert.deepEqual(await bench.runtime.execute({ type: 'rename', title: 'Two' }, sent), { status: 'conflict' })
    assert.equal(bench.runtime.state.head.title, 'One')
    const old = await bench.runtime.execute(
      { type: 'rename', title: 'Old' },
      key('00000000-0001-7000-8000-000000000000'),
    )
    assert.deepEqual(old, { status: 'expired' })
    assert.equal(bench.runtime.state.head.title, 'One')
  })

  test('a command that does not fit is rejected, and stays rejected', async () => {
    await using bench = await RuntimeBench.open(agentsOf({ text: 'Hi.' }))
    const sent = key()
    const refused = await bench.runtime.execute({ type: 'approve', toolCallId: 'nothing' }, sent)
    assert.ok(refused.status === 'rejected' && refused.reason === 'unknown-id' && refused.message?.includes('nothing'))
    assert.deepEqual((await bench.store.getCommand(sent))?.outcome, { status: 'rejected', reason: 'unknown-id' })
    assert.deepEqual(await bench.runtime.execute({ type: 'approve', toolCallId: 'nothing' }, sent), {
      status: 'rejected',
      reason: 'unknown-id',
    })
    const without = await bench.runtime.execute({ type: 'queue-remove', itemId: 'nothing' })
    assert.ok(without.status === 'rejected' && without.reason === 'unknown-id')
    for (const type of ['files', 'both'] as const) {
      await bench.runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'x' }], messageId: type })
      await bench.runtime.idle()
      const rewind = await bench.runtime.execute({ type: 'rewind', messageId: type, scope: type }, key())
      assert.ok(rewind.status === 'rejected' && rewind.reason === 'unsupported')
    }
    const opened = await bench.runtime.execute({ type: 'resume', sessionId: 's', prompt: 'x' })
    assert.ok(opened.status === 'rejected' && opened.reason === 'unsupported')
  })

  test('is refused if the thread is not as its sender saw it', async () => {
    await using bench = await RuntimeBench.open(agentsOf(NOTES, { text: 'Done.' }))
    const runId = runIdOf(await bench.runtime.execute({ type: 'submit', prompt: 'Go', expect: { runId: null } }))
    await bench.wait()
    const reasonOf = async (command: Command): Promise<string> => {
      const result = await bench.runtime.execute(command)
      return result.status === 'rejected' ? result.reason : result.status
    }
    assert.equal(await reasonOf({ type: 'cancel', expect: { runId: 'another' } }), 'wrong-run')
    assert.equal(await reasonOf({ type: 'steer', message: 'x', expect: { runId: null } }), 'wrong-run')
    assert.equal(await reasonOf({ type: 'rename', title: 'x', expect: { headMessageId: 'other' } }), 'wrong-anchor')
    const newest = [...bench.runtime.state.messages].at(-1)?.id ?? null
    assert.equal(await reasonOf({ type: 'rename', title: 'x', expect: { runId, headMessageId: newest } }), 'done')
  })

  test('answers an approval once, by its call or by its wait', async () => {
    await using bench = await RuntimeBench.open(agentsOf(NOTES, { text: 'Done.' }))
    const runId = runIdOf(await bench.runtime.execute({ type: 'submit', prompt: 'Go' }, key()))
    const wait = await bench.wait()
    const approve: Command = { type: 'approve', toolCallId: wait.subject.toolCallId ?? '' }
    const sent = key()
    assert.deepEqual(await bench.runtime.execute(approve, sent), { status: 'done' })
    assert.equal(await bench.runtime.outcome(runId), 'complete')
    assert.deepEqual(await bench.runtime.execute(approve, sent), { status: 'done' })
    const late = await bench.runtime.execute({ type: 'answer', waitId: wait.id, decision: 'decline' }, key())
    assert.ok(late.status === 'rejected' && late.reason === 'already-answered')
    assert.equal((await bench.store.getWait('thread', wait.id))?.answeredBy, 'ann')
  })

  test('cancels the run of its time, and no later one when it is sent again', async () => {
    await using bench = await RuntimeBench.open(agentsOf(NOTES, NOTES))
    await bench.runtime.execute({ type: 'submit', prompt: 'Go' })
    await bench.wait()
    const sent = key()
    assert.deepEqual(await bench.runtime.execute({ type: 'cancel' }, sent), { status: 'done' })
    assert.equal(bench.runtime.state.head.lastRun?.outcome, 'aborted')
    const next = runIdOf(await bench.runtime.execute({ type: 'submit', prompt: 'Again' }))
    await bench.wait()
    assert.deepEqual(await bench.runtime.execute({ type: 'cancel' }, sent), { status: 'done' })
    assert.equal(bench.runtime.state.head.run?.runId, next)
    await bench.restart()
    assert.deepEqual(await bench.runtime.execute({ type: 'cancel' }, key()), { status: 'done' })
    assert.equal(bench.runtime.state.head.run, null, 'a parked run is cancelled too')
    assert.deepEqual(await bench.runtime.execute({ type: 'cancel' }, key()), { status: 'done' })
  })

  test('edits, moves and removes queued messages', async () => {
    await using bench = await RuntimeBench.open(agentsOf(NOTES))
    await bench.runtime.execute({ type: 'submit', prompt: 'Go' })
    await bench.wait()
    const ids: string[] = []
    for (const message of ['a', 'b', 'c', 'd']) {
      const queued = await bench.runtime.execute({ type: 'follow-up', message }, key())
      assert.ok(queued.status === 'queued')
      ids.push(queued.itemId)
    }
    const [a = '', b = '', c = ''] = ids
    const texts = (): string[] =>
      [...bench.runtime.state.head.queue].map(({ parts: [part] }) => (part?.type === 'text' ? part.text : ''))
    await bench.runtime.execute({ type: 'queue-edit', itemId: b, message: 'B' }, key())
    assert.deepEqual(texts(), ['a', 'B', 'c', 'd'])
    await bench.runtime.execute({ type: 'queue-move', itemId: c, before: a }, key())
    assert.deepEqual(texts(), ['c', 'a', 'B', 'd'])
    await bench.runtime.execute({ type: 'queue-move', itemId: a, before: null }, key())
    await bench.runtime.execute({ type: 'queue-remove', itemId: b }, key())
    assert.deepEqual(texts(), ['c', 'd', 'a'])
    await bench.restart()
    assert.deepEqual(texts(), ['c', 'd', 'a'], 'also after a restart')
  })

  test('configures, sets mode and model, renames and revokes', async () => {
    await using bench = await RuntimeBench.open(agentsOf({ text: 'Hi.' }))
    const { runtime } = bench
    await runtime.configure({ grants: { tools: ['note', 'shell'], categories: ['read'] } })
    await runtime.execute({ type: 'revoke', tool: 'note' }, key())
    assert.deepEqual(runtime.state.head.grants, { tools: ['shell'], categories: ['read'] })
    await runtime.execute({ type: 'revoke' }, key())
    assert.deepEqual(runtime.state.head.grants, { tools: [], categories: [] })
    await runtime.execute({ type: 'mode', mode: 'plan' }, key())
    await runtime.execute({ type: 'model', model: 'openai/gpt' }, key())
    await runtime.execute({ type: 'rename', title: 'A title' }, key())
    const config = { permissionMode: 'fullAuto', maxTurns: 3, agent: 'native' } as const
    await runtime.execute({ type: 'configure', config }, key())
    const { agentId, mode, model, settings, title, yolo } = runtime.state.head
    assert.deepEqual([mode, model, title, yolo, agentId], ['plan', 'openai/gpt', 'A title', true, 'native'])
    assert.equal(settings.get('maxTurns'), 3)
    await runtime.execute({ type: 'configure', config: { permissionMode: 'acceptEdits' } }, key())
    assert.deepEqual([runtime.state.head.yolo, runtime.state.head.rules.categories], [false, { edit: 'allow' }])
  })

  test('forks into a thread whose id follows from the key', async () => {
    await using bench = await RuntimeBench.open(agentsOf({ text: 'One.' }, { text: 'Two.' }))
    for (const prompt of ['1', '2'])
      await bench.runtime.outcome(runIdOf(await bench.runtime.execute({ type: 'submit', prompt })))
    const { items } = await bench.store.listMessages(bench.runtime.state.head.lineage, { order: 'oldest' })
    const sent = key()
    const forked = await bench.runtime.execute({ type: 'fork', messageId: items[1]?.id ?? '', title: 'F' }, sent)
    assert.ok(forked.status === 'done' && forked.thread !== undefined)
    assert.deepEqual(
      await bench.runtime.execute({ type: 'fork', messageId: items[1]?.id ?? '', title: 'F' }, sent),
      forked,
    )
    const info = await bench.store.getThread(forked.thread)
    assert.equal(info?.title, 'F')
    assert.equal(info?.forkedFrom?.thread, 'thread')
    assert.equal((await bench.store.listThreads({})).items.length, 2)
    const whole = await bench.runtime.execute({ type: 'fork' })
    assert.ok(whole.status === 'done' && whole.thread !== undefined)
  })

  test('rewinds the conversation, and the files where they are kept', async () => {
    const asked: unknown[] = []
    await using bench = await RuntimeBench.open(agentsOf({ text: 'One.' }, { text: 'Two.' }), {
      files: {
        rewind: async (to) => {
          asked.push(to)
          return { report: { changed: ['a.txt'] }, checkpointId: 'cp' }
        },
      },
    })
    for (const prompt of ['1', '2'])
      await bench.runtime.outcome(runIdOf(await bench.runtime.execute({ type: 'submit', prompt })))
    const list = async (): Promise<string[]> =>
      (await bench.store.listMessages(bench.runtime.state.head.lineage, { order: 'oldest' })).items.map(({ id }) => id)
    const [one, answer, two = ''] = await list()
    const dry = await bench.runtime.execute({ type: 'rewind', messageId: two, scope: 'both', dryRun: true }, key())
    assert.deepEqual(dry, { status: 'done', result: { changed: ['a.txt'] } })
    assert.equal((await list()).length, 4)
    const sent = key()
    const rewind: Command = { type: 'rewind', messageId: two, scope: 'both' }
    assert.deepEqual(await bench.runtime.execute(rewind, sent), { status: 'done', result: { changed: ['a.txt'] } })
    assert.deepEqual(await list(), [one, answer])
    assert.deepEqual(await bench.runtime.execute(rewind, sent), { status: 'done' }, 'the report is not stored')
    assert.deepEqual((await bench.bodies('rewind'))[0]?.files, { checkpointId: 'cp' })
    assert.equal(asked.length, 2)
  })

  test('deletes the thread together with its outcome', async () => {
    await using bench = await RuntimeBench.open(agentsOf(NOTES))
    await bench.runtime.execute({ type: 'submit', prompt: 'Go' })
    await bench.wait()
    const sent = key()
    assert.deepEqual(await bench.runtime.execute({ type: 'delete' }, sent), { status: 'done' })
    assert.equal(await bench.store.getThread('thread'), null)
    assert.deepEqual((await bench.store.getCommand(sent))?.outcome, { status: 'done' })
    assert.deepEqual(await bench.runtime.execute({ type: 'delete' }, sent), { status: 'done' })
  })

  test('a command of an unknown type or with an invalid key is refused with a clear message', async () => {
    await using bench = await RuntimeBench.open(agentsOf())
    const unknown = await bench.runtime.execute({ type: 'explode' } as unknown as Command)
    assert.ok(unknown.status === 'rejected' && unknown.reason === 'invalid')
    const bad = bench.runtime.execute({ type: 'cancel' }, { principal: 'ann' } as unknown as CommandKey)
    await assert.rejects(bad, (error) => InspanError.is(error, 'invalid-input'))
  })
})

suite('an accepted command', () => {
  test('is carried out by the process that opens the thread, in the order of admission', async () => {
    await using bench = await RuntimeBench.open(agentsOf({ text: 'Hi.' }))
    await bench.runtime.close()
    const titles = ['One', 'Two', 'Three']
    const keys = titles.map(() => key())
    for (const [index, title] of titles.entries()) {
      await bench.store.admitCommand({
        key: keys[index] ?? key(),
        bodyHash: title,
        target: 'thread',
        body: { type: 'rename', title },
        at: Date.now(),
      })
    }
    await bench.restart()
    assert.equal(bench.runtime.state.head.title, 'Three')
    assert.deepEqual(
      (await bench.bodies('config.changed')).map(({ title }) => title),
      titles,
    )
    assert.deepEqual((await bench.store.listCommands({ state: 'accepted' })).items, [])
  })

  test('is found by a sweep; one for a thread that is gone is rejected', async () => {
    await using bench = await RuntimeBench.open(agentsOf({ text: 'Hi.' }))
    await createThread(bench.store, { id: 'other', resourceId: 'test' })
    const gone = key()
    for (const [target, each] of [
      ['thread', key()],
      ['other', key()],
      ['gone', gone],
    ] as const) {
      const body = { type: 'rename', title: 'x' }
      await bench.store.admitCommand({ key: each, bodyHash: 'h', target, body, at: Date.now() })
    }
    const opened: string[] = []
    await executePending(bench.store, async (thread) => {
      opened.push(thread)
      if (thread === 'thread') await bench.runtime.executePending()
    })
    assert.deepEqual(opened, ['thread', 'other'])
    assert.deepEqual((await bench.store.getCommand(gone))?.outcome, { status: 'rejected', reason: 'unknown-id' })
    assert.equal(bench.runtime.state.head.title, 'x')
  })

  test('an accepted command that fails for no known reason is tried three times, then rejected', async () => {
    const broken = { rewind: async () => Promise.reject(new TypeError('broken')) }
    await using bench = await RuntimeBench.open(agentsOf({ text: 'One.' }), { files: broken })
    await bench.runtime.outcome(runIdOf(await bench.runtime.execute({ type: 'submit', prompt: '1' })))
    const { items } = await bench.store.listMessages(bench.runtime.state.head.lineage, { order: 'oldest' })
    const sent = key()
    const rewind: Command = { type: 'rewind', messageId: items[0]?.id ?? '' }
    for (let n = 0; n < 2; n++) {
      await assert.rejects(bench.runtime.execute(rewind, sent), /broken/)
      assert.equal((await bench.store.getCommand(sent))?.state, 'accepted')
    }
    const given = await bench.runtime.execute(rewind, sent)
    assert.ok(given.status === 'rejected' && given.reason === 'failed')
  })
})
