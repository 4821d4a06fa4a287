import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createTool } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import { ForeignAgent, runs, type Act } from '../../engine/foreign-agent.fixture.ts'
import { HarnessBench } from '../harness.fixture.ts'

/** A tool that ends when the test says so. */
function slowTool(): { tool: ReturnType<typeof createTool>; started: Promise<void>; finish: () => void } {
  const started = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const tool = createTool({
    id: 'work',
    description: 'Works.',
    execute: async () => {
      started.resolve()
      await ended.promise
      return 'worked'
    },
  })
  return { tool, started: started.promise, finish: () => ended.resolve() }
}

/** Repeats its input, and does not end by itself. */
const speaksOn: Act = async function* ({ input }) {
  yield { type: 'step-start', stepIndex: 0 }
  yield { type: 'text-delta', text: JSON.stringify(input) }
  await new Promise(() => undefined)
}

const WORK = { toolCalls: [{ id: 'w1', name: 'work' }] }
const FREE = { tools: { work: 'allow' } } as const

/** A harness that was aborted while a call of "One" waited: "Two" was steered into it, and `followUp` was queued. */
async function abortedBench(followUp: string): Promise<HarnessBench> {
  const paint = createTool({ id: 'paint', description: 'Paints.', execute: () => 'painted' })
  const bench = new HarnessBench([{ toolCalls: [{ name: 'paint' }] }, { text: 'Yes.', repeat: true }], {
    tools: { paint },
  })
  const { harness } = bench
  const asked = bench.next('tool_approval_required')
  const sent = harness.sendMessage({ content: 'One' })
  await asked
  const steering = bench.next('info')
  const steered = harness.steer({ content: 'Two' })
  await steering
  // Comes after the steered messages.
  await harness.followUp({ content: followUp })
  await harness.abort()
  await Promise.all([sent, steered])
  return bench
}

suite('what is said to an agent', () => {
  test('a message makes a thread when there is none', async () => {
    await using bench = new HarnessBench([{ text: 'Yes.' }])
    await bench.harness.sendMessage({ content: 'There?' })
    assert.equal(bench.all('thread_created').length, 1)
    assert.ok(bench.harness.session.thread.isSet())
  })

  test('a run that fails is reported by events, and the promise resolves', async () => {
    await using bench = new HarnessBench([{ error: { status: 400, message: 'no such thing' } }])
    await bench.harness.sendMessage({ content: 'Hi' })
    assert.match(bench.all('error')[0]?.error.message ?? '', /no such thing/)
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'error')
  })

  test('an answer cut off at the limit is an error to those who look on', async () => {
    await using bench = new HarnessBench([{ text: 'Half', finishReason: 'length' }])
    await bench.harness.sendMessage({ content: 'Hi' })
    assert.equal(bench.all('error')[0]?.errorType, 'length')
    assert.equal(bench.all('message_end').at(-1)?.message.stopReason, 'error')
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'error')
  })

  test('a message without content is refused', async () => {
    await using bench = new HarnessBench([])
    await assert.rejects(bench.harness.sendMessage({ content: '' }), (error) => InspanError.is(error, 'invalid-input'))
    assert.equal(bench.harness.session.thread.getId(), null)
  })

  test('a message whose content is no text is refused, and the next is answered', async () => {
    await using bench = new HarnessBench([{ text: 'Yes.' }])
    for (const wrong of [{}, { content: 5 }, { content: null }, undefined]) {
      const refused = (error: unknown): boolean =>
        InspanError.is(error, 'invalid-input') && error.message.includes('`content`')
      await assert.rejects(bench.harness.sendMessage(wrong as never), refused)
      await assert.rejects(bench.harness.steer(wrong as never), refused)
      await assert.rejects(bench.harness.followUp(wrong as never), refused)
    }
    await bench.harness.sendMessage({ content: 'Hi' })
    assert.deepEqual(bench.harness.session.displayState.get().currentMessage?.content, [{ type: 'text', text: 'Yes.' }])
  })

  test('an invalid file is refused by its position, and the next message is answered', async () => {
    await using bench = new HarnessBench([{ text: 'Yes.' }])
    const png = { data: 'aGk=', mediaType: 'image/png' }
    const cases: readonly (readonly [files: unknown, field: string])[] = [
      ['a.png', '`files`'],
      [[png, null], '`files[1]`'],
      [[{}], '`files[0].mediaType`'],
      [[{ ...png, mediaType: 7 }], '`files[0].mediaType`'],
      [[{ ...png, data: 5 }], '`files[0].data`'],
      [[{ ...png, filename: 9 }], '`files[0].filename`'],
    ]
    for (const [files, field] of cases) {
      await assert.rejects(
        bench.harness.sendMessage({ content: 'Look.', files: files as never }),
        (error) => InspanError.is(error, 'invalid-input') && error.message.includes(field),
      )
    }
    await bench.harness.sendMessage({ content: 'Look.', files: [png] })
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'complete')
  })

  test('a message during a run is delivered in it, before the next step', async () => {
    const { finish, started, tool } = slowTool()
    await using bench = new HarnessBench([WORK, { text: 'Heard.' }], { tools: { work: tool }, permissions: FREE })
    const first = bench.harness.sendMessage({ content: 'Begin' })
    await started
    const second = bench.harness.sendMessage({ content: 'Mind the gap' })
    await bench.next('info')
    finish()
    await Promise.all([first, second])
    assert.equal(bench.all('agent_start').length, 1)
    assert.equal(bench.all('info')[0]?.steered, 'injected')
    assert.match(bench.model.requestBodies[1] ?? '', /Mind the gap/)
  })

  test('steer is delivered in the run', async () => {
    const { finish, started, tool } = slowTool()
    await using bench = new HarnessBench([WORK, { text: 'Heard.' }], { tools: { work: tool }, permissions: FREE })
    const first = bench.harness.sendMessage({ content: 'Begin' })
    await started
    const steered = bench.harness.steer({ content: 'Focus on security' })
    await bench.next('info')
    finish()
    await Promise.all([first, steered])
    assert.equal(bench.all('agent_end').length, 1)
    assert.match(bench.model.requestBodies[1] ?? '', /Focus on security/)
  })

  test('a message sent while an approval is awaited is delivered once it is given', async () => {
    const { finish, tool } = slowTool()
    await using bench = new HarnessBench([WORK, { text: 'Heard.' }], { tools: { work: tool } })
    const asked = bench.next('tool_approval_required')
    const first = bench.harness.sendMessage({ content: 'Begin' })
    await asked
    const second = bench.harness.sendMessage({ content: 'And be quick' })
    await bench.next('info')
    finish()
    await bench.harness.session.respondToToolApproval({ decision: 'approve' })
    await Promise.all([first, second])
    assert.equal(bench.all('agent_start').length, 1)
    assert.match(bench.model.requestBodies[1] ?? '', /And be quick/)
  })

  test('an agent that cannot receive messages is stopped and started again, and an event reports that', async () => {
    const foreign = new ForeignAgent('foreign', [speaksOn, speaksOn], { steer: 'none' })
    await using bench = new HarnessBench([], { modes: [{ id: 'a', agent: foreign }] })
    const begun = bench.next('message_update')
    const first = bench.harness.sendMessage({ content: 'Begin' })
    await begun
    const again = bench.next('message_update', ({ message }) => JSON.stringify(message).includes('Otherwise'))
    const second = bench.harness.steer({ content: 'Otherwise' })
    await again
    await first
    assert.deepEqual(
      bench.all('info').flatMap((event) => event.steered ?? []),
      ['restarted'],
    )
    assert.equal(bench.all('agent_end')[0]?.reason, 'aborted')
    await bench.harness.abort()
    await second
  })

  test('is delivered to a program that can receive it, and an event reports that', async () => {
    const foreign = new ForeignAgent('foreign', [speaksOn])
    await using bench = new HarnessBench([], { modes: [{ id: 'a', agent: foreign }] })
    const begun = bench.next('message_update')
    const first = bench.harness.sendMessage({ content: 'Begin' })
    await begun
    const said = bench.next('info')
    const second = bench.harness.steer({ content: 'Otherwise' })
    assert.equal((await said).steered, 'injected')
    assert.equal(foreign.steered.length, 1)
    await bench.harness.abort()
    await Promise.all([first, second])
  })

  test('is kept for a program that waits, also when it cannot be asked what it can do', async () => {
    const foreign: ForeignAgent = new ForeignAgent('foreign', [runs(() => foreign, 'make')])
    await using bench = new HarnessBench([], { modes: [{ id: 'a', agent: foreign }] })
    const asked = bench.next('tool_approval_required')
    const first = bench.harness.sendMessage({ content: 'Begin' })
    await asked
    foreign.describe = () => Promise.reject(new Error('It is not installed any more.'))
    const second = bench.harness.steer({ content: 'Otherwise' })
    await bench.harness.session.respondToToolApproval({ decision: 'approve' })
    await Promise.all([first, second])
    assert.deepEqual(bench.all('error'), [])
    assert.match(JSON.stringify([foreign.steered, foreign.turns]), /Otherwise/)
  })

  test('a follow-up waits for the end of the run and is then sent', async () => {
    const { finish, started, tool } = slowTool()
    await using bench = new HarnessBench([WORK, { text: 'One.' }, { text: 'Two.' }], {
      tools: { work: tool },
      permissions: FREE,
    })
    const first = bench.harness.sendMessage({ content: 'Begin' })
    await started
    await bench.harness.followUp({ content: 'Then this' })
    assert.equal(bench.harness.session.followUps.count(), 1)
    assert.deepEqual(bench.harness.session.followUps.list()[0]?.content, 'Then this')
    assert.equal(bench.harness.session.displayState.get().queuedFollowUps, 1)
    const second = bench.next('agent_start')
    finish()
    await first
    await second
    await bench.next('agent_end')
    assert.deepEqual(
      bench.all('follow_up_queued').map(({ count }) => count),
      [1, 0],
    )
    assert.match(bench.model.requestBodies[2] ?? '', /Then this/)
  })

  for (const before of ['sendMessage', 'steer', 'followUp'] as const) {
    test(`a follow-up right after ${before}, which nobody awaits, waits for the run that it begins`, async () => {
      await using bench = new HarnessBench([{ text: 'One.' }, { text: 'Two.' }])
      const ended = bench.next('agent_end', () => bench.model.calls === 2)
      void bench.harness[before]({ content: 'First' })
      void bench.harness.followUp({ content: 'Then' })
      await ended
      const messages = await bench.harness.session.thread.listActiveMessages()
      assert.deepEqual(
        messages.flatMap(({ content }) => content),
        ['First', 'One.', 'Then', 'Two.'].map((text) => ({ type: 'text', text })),
      )
    })
  }

  test('a follow-up without a run is sent at once', async () => {
    await using bench = new HarnessBench([{ text: 'Yes.' }])
    await bench.harness.followUp({ content: 'Now' })
    assert.equal(bench.model.calls, 1)
    assert.ok(bench.harness.session.followUps.isEmpty())
  })

  test('a queued follow-up can be withdrawn', async () => {
    const { finish, started, tool } = slowTool()
    await using bench = new HarnessBench([WORK, { text: 'One.' }], { tools: { work: tool }, permissions: FREE })
    const first = bench.harness.sendMessage({ content: 'Begin' })
    await started
    await bench.harness.followUp({ content: 'Not this' })
    await bench.harness.session.followUps.clear()
    finish()
    await first
    assert.equal(bench.model.calls, 2)
  })
})

suite('abort', () => {
  test('ends the run, its call and the promise', async () => {
    const { started, tool } = slowTool()
    await using bench = new HarnessBench([WORK, { text: 'Again.' }], { tools: { work: tool }, permissions: FREE })
    const sent = bench.harness.sendMessage({ content: 'Begin' })
    await started
    await bench.harness.abort()
    await sent
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'aborted')
    assert.equal(bench.all('tool_end')[0]?.isError, true)
    assert.equal(bench.harness.session.displayState.get().isRunning, false)
    await bench.harness.sendMessage({ content: 'Again' })
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'complete')
  })

  test('settles a call that waits for approval', async () => {
    await using bench = new HarnessBench([{ toolCalls: [{ id: 'w1', name: 'work' }] }], {
      tools: { work: slowTool().tool },
    })
    const asked = bench.next('tool_approval_required')
    const sent = bench.harness.sendMessage({ content: 'Begin' })
    await asked
    await bench.harness.abort()
    await sent
    assert.equal(bench.all('tool_end')[0]?.isError, true)
    assert.deepEqual(bench.harness.session.displayState.get().pendingApprovals, [])
  })

  test('loses no message: what was said before it comes before what is said next', async () => {
    await using bench = await abortedBench('Four')
    const { harness } = bench
    await harness.sendMessage({ content: 'Three' })
    const said = (await harness.session.thread.listActiveMessages()).filter(({ role }) => role === 'user')
    assert.deepEqual(
      said.slice(0, 3).map(({ content }) => content),
      ['One', 'Two', 'Three'].map((text) => [{ type: 'text', text }]),
    )
    assert.match(bench.model.requestBodies[1] ?? '', /Two.*Three/)
  })

  test('delivers an undelivered message once, also when two more are sent at once', async () => {
    await using bench = await abortedBench('Last')
    const { harness } = bench
    const last = bench.next('message_end', ({ message }) => JSON.stringify(message.content).includes('Last'))
    await Promise.all(['Three', 'Four'].map((content) => harness.sendMessage({ content })))
    await last
    const said = (await harness.session.thread.listActiveMessages()).filter(({ role }) => role === 'user')
    assert.deepEqual(
      said.map(({ content }) => content),
      ['One', 'Two', 'Three', 'Four', 'Last'].map((text) => [{ type: 'text', text }]),
    )
  })

  test('settles a tool that waits for an answer', async () => {
    await using bench = new HarnessBench([{ toolCalls: [{ id: 'q1', name: 'ask_user', input: { question: 'Why?' } }] }])
    await bench.harness.sendMessage({ content: 'Begin' })
    assert.ok(bench.harness.session.suspensions.hasPending())
    await bench.harness.abort()
    assert.ok(!bench.harness.session.suspensions.hasPending())
    assert.equal(bench.all('tool_end')[0]?.isError, true)
  })

  test('right after a message ends the run that it begins, with or without a thread', async () => {
    const { tool } = slowTool()
    await using bench = new HarnessBench([{ ...WORK, repeat: true }], { tools: { work: tool }, permissions: FREE })
    for (const content of ['First', 'Second']) {
      const sent = bench.harness.sendMessage({ content })
      await bench.harness.abort()
      await sent
      assert.equal(bench.harness.session.displayState.get().isRunning, false)
    }
    assert.deepEqual(
      bench.all('agent_end').map(({ reason }) => reason),
      ['aborted', 'aborted'],
    )
  })

  test('while the input of a call streams in: what never became a call does not begin', async () => {
    await using bench = new HarnessBench([{ toolCalls: [{ id: 'w1', name: 'work', input: { a: 1 } }] }], {
      tools: { work: slowTool().tool },
      permissions: FREE,
    })
    bench.harness.subscribe(({ type }) => (type === 'tool_input_start' ? bench.harness.abort() : undefined))
    await bench.harness.sendMessage({ content: 'Begin' })
    assert.equal(bench.all('tool_input_end').length, 1)
    assert.deepEqual([bench.all('tool_start'), bench.all('tool_end')], [[], []])
    assert.equal(bench.harness.session.displayState.get().activeTools.get('w1')?.status, 'error')
  })

  test('without a run does nothing', async () => {
    await using bench = new HarnessBench([])
    await bench.harness.abort()
    assert.deepEqual(bench.types(), [])
  })
})
