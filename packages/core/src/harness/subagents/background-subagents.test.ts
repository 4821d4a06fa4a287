import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createTool } from '@inspan/agent'
import { rootLineage } from '@inspan/protocol/log'
import { MemoryStore } from '@inspan/stores'
import { benchOf, call, paint, USAGE } from './subagent-bench.fixture.ts'

const LATER = { background: true }

/** A tool that ends when the test says so. */
function gated(): { tools: { wait: ReturnType<typeof createTool> }; open: () => void } {
  const gate = Promise.withResolvers<string>()
  const wait = createTool({ id: 'wait', description: 'Waits.', category: 'read', execute: () => gate.promise })
  return { tools: { wait }, open: () => gate.resolve('waited') }
}

const WAITING = { toolCalls: [{ id: 'w', name: 'wait' }], usage: USAGE }
const ALLOWED = { permissions: { tools: { wait: 'allow' } } } as const

suite('a subagent in the background', () => {
  test('does not hold up its parent, which is notified of the result in a run of its own', async () => {
    const { open, tools } = gated()
    const storage = new MemoryStore()
    const { bench } = benchOf(
      [{ toolCalls: [call('c1', 'Look.', LATER)] }, { text: 'I go on.' }, { text: 'It saw a door.' }],
      [WAITING, { text: 'A door.', usage: USAGE }],
      { definition: { tools }, config: { ...ALLOWED, storage } },
    )
    await using _ = bench
    const { session } = bench.harness
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.equal(bench.model.calls, 2)
    assert.match(bench.model.requestBodies[1] ?? '', /works in the background/)
    assert.deepEqual(
      [...bench.all('subagent_start')].map(({ background }) => background),
      [true],
    )
    assert.equal(bench.all('subagent_end').length, 0)
    const shown = session.displayState.get().activeSubagents.get('c1')
    assert.deepEqual([shown?.status, shown?.background], ['running', true], 'shown although the run is over')

    const over = bench.next('agent_end')
    open()
    await over
    assert.equal(bench.model.calls, 3)
    assert.match(bench.model.requestBodies[2] ?? '', /<notification[^>]*>.*has finished.*Look\..*A door\./)
    assert.deepEqual(
      bench.types().filter((type) => /^(agent_start|agent_end|subagent_start|subagent_end)$/.test(type)),
      ['agent_start', 'subagent_start', 'agent_end', 'subagent_end', 'agent_start', 'agent_end'],
    )
    const ended = await storage.latestRecord(rootLineage(session.thread.requireId()), 'child.ended', 1_000)
    assert.ok(ended?.body.type === 'child.ended' && ended.body.usage?.totalTokens === 30)
  })

  test('is delivered by the run at work, if there is one', async () => {
    const { open, tools } = gated()
    const storage = new MemoryStore()
    const permissions = { tools: { wait: 'allow', own: 'allow' } } as const
    const own = createTool({
      id: 'own',
      description: 'Ends when the subagent has.',
      category: 'read',
      execute: async () => {
        open()
        const lineage = rootLineage(bench.harness.session.thread.requireId())
        while ((await storage.latestRecord(lineage, 'queue.added', 1_000)) === null) await setImmediate()
        return 'over'
      },
    })
    const { bench } = benchOf(
      [{ toolCalls: [call('c1', 'Look.', LATER)] }, { toolCalls: [{ id: 'o', name: 'own' }] }, { text: 'Heard.' }],
      [WAITING, { text: 'A door.' }],
      { definition: { tools }, config: { storage, tools: { own }, permissions } },
    )
    await using _ = bench
    await bench.harness.sendMessage({ content: 'Go.', untilIdle: true })
    assert.match(bench.model.requestBodies[2] ?? '', /A door\./)
    assert.equal(bench.model.calls, 3, 'in the same run')
  })

  test('several work at once, and each is reported once', async () => {
    const { bench } = benchOf(
      [
        { toolCalls: [call('c1', 'One.', LATER), call('c2', 'Two.', LATER), call('c3', 'Three.', LATER)] },
        { text: 'On.', repeat: true },
      ],
      [{ text: 'Seen.', repeat: true }],
    )
    await using _ = bench
    const all = bench.next('subagent_end', () => bench.all('subagent_end').length === 3)
    await bench.harness.sendMessage({ content: 'Go.', untilIdle: true })
    await all
    const told = (): number => bench.model.requestBodies.at(-1)?.match(/has finished/g)?.length ?? 0
    while (told() < 3 || bench.harness.session.run.isRunning()) await setImmediate()
    assert.equal(told(), 3)
  })

  test('asks the root although no run is open there', async () => {
    const journal: unknown[] = []
    const { bench } = benchOf(
      [{ toolCalls: [call('c1', 'Paint.', LATER)] }, { text: 'On.', repeat: true }],
      [{ toolCalls: [{ id: 'p', name: 'paint' }] }, { text: 'Painted.' }],
      { definition: { tools: { paint: paint(journal) } } },
    )
    await using _ = bench
    const { session } = bench.harness
    const required = bench.next('tool_approval_required')
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.equal((await required).subagent?.task, 'Paint.')
    await bench.harness.sendMessage({ content: 'Something else.' })
    assert.equal(session.displayState.get().pendingApprovals.length, 1, 'another run does not take it back')
    const ended = bench.next('subagent_end')
    await session.respondToToolApproval({ decision: 'approve' })
    assert.equal((await ended).result, 'Painted.')
    assert.equal(journal.length, 1)
  })

  test('is ended by an abort, and nobody is notified', async () => {
    const { tools } = gated()
    const { bench } = benchOf([{ toolCalls: [call('c1', 'Look.', LATER)] }, { text: 'Half', hang: true }], [WAITING], {
      definition: { tools },
      config: ALLOWED,
    })
    await using _ = bench
    const working = Promise.all([bench.next('subagent_tool_start'), bench.next('text')])
    const sent = bench.harness.sendMessage({ content: 'Go.' })
    await working
    await bench.harness.session.abort()
    await sent
    assert.equal(bench.all('subagent_end')[0]?.isError, true)
    assert.equal(bench.model.calls, 2)
  })

  test('is ended by an abort also when its parent has no run any more', async () => {
    const { tools } = gated()
    const { bench } = benchOf([{ toolCalls: [call('c1', 'Look.', LATER)] }, { text: 'On.' }], [WAITING], {
      definition: { tools },
      config: ALLOWED,
    })
    await using _ = bench
    const working = bench.next('subagent_tool_start')
    await bench.harness.sendMessage({ content: 'Go.' })
    await working
    await bench.harness.session.abort()
    assert.equal(bench.all('subagent_end')[0]?.isError, true)
    assert.equal(bench.model.calls, 2)
  })

  test('continues after a restart and is reported once', async () => {
    const storage = new MemoryStore()
    const journal: unknown[] = []
    const definition = { tools: { paint: paint(journal) } }
    const first = benchOf(
      [{ toolCalls: [call('c1', 'Paint.', LATER)] }, { text: 'On.' }],
      [{ toolCalls: [{ id: 'p', name: 'paint' }] }],
      { definition, config: { storage } },
    )
    const asked = first.bench.next('tool_approval_required')
    await first.bench.harness.sendMessage({ content: 'Go.', requestContext: { colour: 'red' } })
    await asked
    await first.bench.harness.destroy()

    const second = benchOf([{ text: 'Heard.', repeat: true }], [{ text: 'Painted.' }], {
      definition,
      config: { storage },
    })
    await using bench = second.bench
    await bench.harness.selectOrCreateThread()
    assert.equal(bench.all('tool_approval_required').length, 1)
    const over = bench.next('agent_end')
    await bench.harness.session.respondToToolApproval({ decision: 'approve' })
    await over
    assert.deepEqual(journal, ['red'])
    assert.match(bench.model.requestBodies[0] ?? '', /Painted\./)
    await bench.harness.session.thread.switch({ threadId: bench.harness.session.thread.requireId() })
    assert.equal(bench.model.calls, 1)
  })

  test('cannot be started by a subagent', async () => {
    const { bench } = benchOf(
      [{ toolCalls: [call('c1', 'Go down.')] }, { text: 'Done.' }],
      [{ toolCalls: [call('d1', 'Further.', LATER)] }, { text: 'Alone, then.' }],
      { definition: { allowedHarnessTools: ['subagent'] } },
    )
    await using _ = bench
    await bench.harness.sendMessage({ content: 'Go.' })
    const [refused] = bench.all('subagent_tool_end')
    assert.match(JSON.stringify(refused?.subToolResult), /cannot start others in the background/)
  })
})
