import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Agent, createTool, type RequestContext, type ToolContext } from '@inspan/agent'
import { scriptedModel } from '@inspan/testing'
import { HarnessBench } from '../harness.fixture.ts'
import type { HarnessRequestContext } from './request-context.ts'

const CALL = { toolCalls: [{ id: 'c1', name: 'look' }] }

/** A tool that looks at the `harness` entry of its request context. */
function looking(look: (harness: HarnessRequestContext) => unknown): ReturnType<typeof createTool> {
  return createTool({
    id: 'look',
    description: 'Looks.',
    execute: async (_input, { requestContext }: ToolContext) => {
      await look(requestContext?.get('harness') as HarnessRequestContext)
      return 'seen'
    },
  })
}

suite('what a tool finds of the harness in its request context', () => {
  test('a tool finds the resource, the thread, and what it may do', async () => {
    const seen: unknown[] = []
    const workspace = { id: 'w', init: () => undefined }
    const look = looking(async (harness) => {
      const { harnessId, resourceId, session, state, threadId } = harness
      seen.push(harnessId, resourceId, threadId, session.modeId, session.modelId, state, harness.workspace)
      await harness.setState({ colour: 'red' })
      const before = await harness.updateState(({ colour }) => ({ updates: { colour: 'blue' }, result: colour }))
      seen.push(before, harness.getState(), session.state.get(), harness.state)
      seen.push(harness.getSubagentModelId({ agentType: 'explore' }), harness.getSubagentModelId())
      harness.emitEvent({ type: 'info', message: 'Looked.' })
    })
    const model = scriptedModel([CALL, { text: 'Done.' }])
    await using bench = new HarnessBench([], {
      id: 'house',
      resourceId: 'ada',
      resolveModel: () => model,
      workspace,
      initialState: { yolo: true, colour: 'green' },
      tools: { look },
    })
    const { harness } = bench
    await harness.session.model.switch({ modelId: 'a/main' })
    await harness.session.subagents.model.set({ modelId: 'a/one', agentType: 'explore' })
    await harness.session.subagents.model.set({ modelId: 'a/two' })
    await harness.sendMessage({ content: 'Go.' })
    const threadId = harness.session.thread.getId()
    assert.deepEqual(seen, [
      'house',
      'ada',
      threadId,
      'build',
      'a/main',
      { colour: 'green' },
      workspace,
      'red',
      { colour: 'blue' },
      { colour: 'blue' },
      { colour: 'green' },
      'a/one',
      'a/two',
    ])
    assert.deepEqual(bench.all('info'), [{ type: 'info', message: 'Looked.' }])
    assert.deepEqual(harness.session.state.get(), { colour: 'blue' })
  })

  test('a signal that is aborted with the run', async () => {
    const got = Promise.withResolvers<AbortSignal | undefined>()
    const look = looking(({ abortSignal }) => {
      got.resolve(abortSignal)
      return new Promise((resolve) => abortSignal?.addEventListener('abort', resolve, { once: true }))
    })
    await using bench = new HarnessBench([CALL], { initialState: { yolo: true }, tools: { look } })
    const sent = bench.harness.sendMessage({ content: 'Go.' })
    const signal = await got.promise
    assert.equal(signal?.aborted, false)
    await bench.harness.abort()
    await sent
    assert.equal(signal?.aborted, true)
  })
})

suite('what functions find that make something for a request', () => {
  test('is what its caller gave, as it was given, and the harness', async () => {
    const seen: [string, ...unknown[]][] = []
    const service = { ask: () => 'blue' }
    const note = (what: string, { requestContext }: { requestContext: RequestContext }): void => {
      const { session, state, threadId, workspace } = requestContext.get('harness') as HarnessRequestContext
      const isGiven = requestContext.get('service') === service
      seen.push([what, isGiven, session.modeId, state, threadId !== null, workspace?.id])
    }
    const model = scriptedModel([{ text: 'Yes.' }])
    const agent = new Agent({
      id: 'agent',
      model: (context) => {
        note('model', context)
        return model
      },
      instructions: (context) => {
        note('instructions', context)
        return 'Be brief.'
      },
      tools: (context) => {
        note('tools of the agent', context)
        return {}
      },
    })
    await using bench = new HarnessBench([], {
      agent,
      initialState: { colour: 'green' },
      tools: (context) => {
        note('tools', context)
        return {}
      },
      workspace: (context) => {
        note('workspace', context)
        return { id: 'made' }
      },
    })
    await bench.harness.sendMessage({ content: 'Go.', requestContext: { service } })
    const expected = (what: string, workspace: string | undefined) =>
      [what, true, 'build', { colour: 'green' }, true, workspace] as const
    const firsts = new Map(seen.map((each) => [each[0], each]))
    assert.deepEqual(seen[0], expected('workspace', undefined))
    for (const what of ['tools of the agent', 'tools', 'instructions', 'model']) {
      assert.deepEqual(firsts.get(what), expected(what, 'made'))
    }
  })

  test('is the session where no run asks', async () => {
    const look = ({ requestContext }: { requestContext: RequestContext }): { id: string } => {
      const { resourceId, session, state, threadId } = requestContext.get('harness') as HarnessRequestContext
      return { id: JSON.stringify([requestContext.get('user'), resourceId, session.modeId, state, threadId]) }
    }
    await using bench = new HarnessBench([], { initialState: { colour: 'green' }, memory: look, workspace: look })
    const { harness } = bench
    const expected = { id: JSON.stringify(['ada', 'bench', 'build', { colour: 'green' }, null]) }
    assert.deepEqual(await harness.resolveWorkspace({ requestContext: { user: 'ada' } }), expected)
    assert.deepEqual(await harness.getResolvedMemory({ user: 'ada' }), expected)
  })
})

suite('the workspace', () => {
  test('the workspace that was given is ended by destroyWorkspace; one that a function makes is not', async () => {
    const ended: string[] = []
    const made = { id: 'made', destroy: () => void ended.push('made') }
    await using fixed = new HarnessBench([], { workspace: { id: 'given', destroy: () => void ended.push('given') } })
    await using dynamic = new HarnessBench([], { workspace: () => made })
    await fixed.harness.init()
    assert.equal(await dynamic.harness.resolveWorkspace(), made)
    await fixed.harness.destroyWorkspace()
    await dynamic.harness.destroyWorkspace()
    assert.deepEqual(ended, ['given'])
    assert.deepEqual([fixed.harness.isWorkspaceReady(), fixed.harness.getWorkspace()], [false, undefined])
    assert.equal(dynamic.harness.getWorkspace(), made)
  })
})
