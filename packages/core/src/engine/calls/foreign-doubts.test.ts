import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { NO_RULES, type AgentEvent } from '@inspan/protocol'
import type { Host, ToolCallRequest } from '@inspan/protocol/driver'
import { createPolicy } from '../../policy/index.ts'
import { ForeignAgent, runs, type Act } from '../foreign-agent.fixture.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'

const allowed = {
  policy: createPolicy({
    rules: { ...NO_RULES, tools: { execute_command: 'allow', Bash: 'allow', edit_file: 'allow' } },
  }),
}

const make = (toolCallId: string): ToolCallRequest => ({
  toolCallId,
  toolName: 'execute_command',
  args: { command: 'make' },
  category: 'execute',
  cwd: '/project',
})

/** A call that is allowed, begins and never ends. */
function begins(begun: () => void, decide: (host: Host) => void = (host) => void host.decide(make('c1'))): Act {
  return async function* (_turn, host) {
    const { toolCallId, toolName, args } = make('c1')
    yield { type: 'step-start', stepIndex: 0 }
    yield { type: 'tool-call', toolCallId, toolName, args }
    decide(host)
    begun()
    await new Promise(() => undefined)
  }
}

async function interrupted(
  then: (agent: () => ForeignAgent) => readonly Act[],
  first: (begun: () => void) => Act = begins,
): Promise<{ agent: ForeignAgent; bench: RuntimeBench }> {
  const begun = Promise.withResolvers<void>()
  const agent: ForeignAgent = new ForeignAgent('cli', [first(begun.resolve), ...then(() => agent)])
  const bench = await RuntimeBench.open({ cli: { driver: agent } }, allowed)
  await bench.submit('go', { agentId: 'cli' })
  await begun.promise
  await bench.runtime.change((log) => log.flush())
  await bench.restart()
  assert.equal(bench.runtime.state.head.lastRun?.outcome, 'interrupted')
  return { agent, bench }
}

suite('a call that a foreign program was allowed to make and that was interrupted', () => {
  test('is asked about once in later runs, although a rule allows it', async () => {
    const { agent, bench } = await interrupted((self) => [
      runs(self, 'make', 'c2'),
      runs(self, 'make', 'c3'),
      runs(self, 'make all', 'c4'),
    ])
    await using _ = bench
    const handle = await bench.submit('again', { agentId: 'cli' })
    const wait = await bench.wait()
    assert.deepEqual(wait.subject.args, { command: 'make' })
    assert.deepEqual(agent.journal, [])
    await bench.runtime.answer(wait.id, { decision: 'approve' })
    assert.equal(await handle.done, 'complete')
    assert.equal(await (await bench.submit('once more', { agentId: 'cli' })).done, 'complete')
    assert.equal(await (await bench.submit('other', { agentId: 'cli' })).done, 'complete')
    assert.deepEqual(agent.journal, ['make', 'make', 'make all'], 'asked once')
  })

  test('is asked about again when it was declined', async () => {
    const { agent, bench } = await interrupted((self) => [runs(self, 'make', 'c2'), runs(self, 'make', 'c3')])
    await using _ = bench
    for (const decision of ['decline', 'approve'] as const) {
      const handle = await bench.submit('again', { agentId: 'cli' })
      await bench.runtime.answer((await bench.wait()).id, { decision })
      await handle.done
    }
    assert.deepEqual(agent.journal, ['make'])
  })

  test('is not asked about when it is another one, or under yolo', async () => {
    const { agent, bench } = await interrupted((self) => [runs(self, 'make all', 'c2'), runs(self, 'make', 'c3')])
    await using _ = bench
    assert.equal(await (await bench.submit('other', { agentId: 'cli' })).done, 'complete')
    await bench.runtime.configure({ yolo: true })
    assert.equal(await (await bench.submit('again', { agentId: 'cli' })).done, 'complete')
    assert.deepEqual(agent.journal, ['make all', 'make'])
  })

  test('is asked about when the program asked before it said what it calls', async () => {
    const early = (begun: () => void): Act =>
      async function* (_turn, host) {
        const { toolCallId, toolName, args } = make('c1')
        host.decide(make('c1'))
        yield { type: 'step-start', stepIndex: 0 }
        yield { type: 'tool-call', toolCallId, toolName, args }
        yield { type: 'text-delta', text: 'Making.' }
        begun()
        await new Promise(() => undefined)
      }
    const { bench } = await interrupted((self) => [runs(self, 'make', 'c2')], early)
    await using _ = bench
    await bench.submit('again', { agentId: 'cli' })
    assert.deepEqual((await bench.wait()).subject.args, { command: 'make' })
  })

  test('is asked about under every name and for every part that rules were asked about, and once for all of them', async () => {
    const forms = (toolCallId: string): ToolCallRequest[] => [
      make(toolCallId),
      { ...make(toolCallId), toolName: 'Bash' },
      { ...make(toolCallId), toolName: 'edit_file', args: { path: 'a' } },
    ]
    const verdicts: string[][] = []
    const looks = (toolCallId: string): Act =>
      async function* (_turn, host): AsyncGenerator<AgentEvent> {
        verdicts.push(forms(toolCallId).map((call) => host.decide(call).policy))
        yield { type: 'step-start', stepIndex: 0 }
        if (verdicts.at(-1)?.includes('ask') === true) {
          const { toolName, args } = make(toolCallId)
          const subject = { agentId: 'cli', toolCallId, toolName, args }
          await host.ask({
            id: toolCallId,
            kind: 'approval',
            subject,
            description: 'make',
            payload: { cwd: '/project' },
          })
        }
        yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
      }
    const { bench } = await interrupted(
      () => [looks('c2'), looks('c3')],
      (begun) => begins(begun, (host) => forms('c1').forEach((call) => host.decide(call))),
    )
    await using _ = bench
    const handle = await bench.submit('again', { agentId: 'cli' })
    await bench.runtime.answer((await bench.wait()).id, { decision: 'approve' })
    await handle.done
    await (
      await bench.submit('once more', { agentId: 'cli' })
    ).done
    assert.deepEqual(verdicts, [
      ['ask', 'ask', 'ask'],
      ['allow', 'allow', 'allow'],
    ])
  })

  test('is not taken for begun while one of the names it goes by is asked about', async () => {
    const asks: Act = async function* (_turn, host) {
      const { toolCallId, toolName, args } = make('c1')
      yield { type: 'step-start', stepIndex: 0 }
      yield { type: 'tool-call', toolCallId, toolName, args }
      host.decide(make('c1'))
      host.decide({ ...make('c1'), toolName: 'unknown' })
      const subject = { agentId: 'cli', toolCallId, toolName, args }
      await host.ask({ id: 'w', kind: 'approval', subject, description: 'make', payload: { cwd: '/project' } })
    }
    const agent = new ForeignAgent('cli', [asks])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } }, allowed)
    await bench.submit('go', { agentId: 'cli' })
    await bench.wait()
    await bench.runtime.idle()
    assert.equal(bench.runtime.state.head.run?.status, 'parked')
    assert.deepEqual(await bench.bodies('call.started'), [])
  })

  test('is asked about when the program itself broke off', async () => {
    const breaks: Act = async function* (_turn, host) {
      const { toolCallId, toolName, args } = make('c1')
      yield { type: 'step-start', stepIndex: 0 }
      yield { type: 'tool-call', toolCallId, toolName, args }
      host.decide(make('c1'))
      throw new Error('The program has crashed.')
    }
    const agent: ForeignAgent = new ForeignAgent('cli', [breaks, runs(() => agent, 'make', 'c2')])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } }, allowed)
    assert.equal(await (await bench.submit('go', { agentId: 'cli' })).done, 'error')
    await bench.submit('again', { agentId: 'cli' })
    assert.deepEqual((await bench.wait()).subject.args, { command: 'make' })
  })

  test('is in doubt also when somebody had approved it, and rules allow it later', async () => {
    const begun = Promise.withResolvers<void>()
    const asks: Act = async function* (_turn, host) {
      const { toolCallId, toolName, args } = make('c1')
      const subject = { agentId: 'cli', toolCallId, toolName, args }
      // The approval is asked for before the call is reported.
      await host.ask({ id: 'w', kind: 'approval', subject, description: 'make', payload: { cwd: '/project' } })
      yield { type: 'step-start', stepIndex: 0 }
      yield { type: 'tool-call', toolCallId, toolName, args }
      yield { type: 'text-delta', text: 'Making.' }
      begun.resolve()
      await new Promise(() => undefined)
    }
    const agent: ForeignAgent = new ForeignAgent('cli', [asks, runs(() => agent, 'make', 'c2')])
    await using bench = await RuntimeBench.open({ cli: { driver: agent } })
    await bench.submit('go', { agentId: 'cli' })
    await bench.runtime.answer((await bench.wait()).id, { decision: 'approve' })
    await begun.promise
    await bench.runtime.change((log) => log.flush())
    await bench.restart(allowed)
    await bench.submit('again', { agentId: 'cli' })
    assert.deepEqual((await bench.wait()).subject.args, { command: 'make' })
  })
})
