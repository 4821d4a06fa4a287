import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { HarnessEvent } from '@inspan/protocol/harness'
import { HarnessBench } from '../harness.fixture.ts'

const MODES = [{ id: 'plan' }, { id: 'build', defaultModelId: 'x/builder' }]

function told(bench: HarnessBench): HarnessEvent[] {
  return bench.events.filter(({ type }) => type !== 'display_state_changed' && type !== 'thread_created')
}

suite('choices are reported by events', () => {
  test('a mode and its model, also without a thread', async () => {
    await using bench = new HarnessBench([], { modes: MODES })
    await bench.harness.session.mode.switch({ modeId: 'build' })
    assert.deepEqual(told(bench), [
      { type: 'mode_changed', modeId: 'build', previousModeId: 'plan' },
      { type: 'model_changed', modelId: 'x/builder', scope: 'thread', modeId: 'build' },
    ])
  })

  for (const scope of ['thread', 'global'] as const) {
    for (const where of ['in a thread', 'without one'] as const) {
      test(`a model, and how far it goes: ${scope}, ${where}`, async () => {
        await using bench = new HarnessBench([], { modes: MODES })
        if (where === 'in a thread') await bench.harness.createThread()
        await bench.harness.session.model.switch({ modelId: 'x/other', scope })
        assert.deepEqual(told(bench), [{ type: 'model_changed', modelId: 'x/other', scope, modeId: 'plan' }])
      })
    }
  }

  test('a model of a mode that is not the current one', async () => {
    await using bench = new HarnessBench([], { modes: MODES })
    await bench.harness.createThread()
    await bench.harness.session.model.switch({ modelId: 'x/other', modeId: 'build' })
    assert.deepEqual(told(bench), [{ type: 'model_changed', modelId: 'x/other', scope: 'thread', modeId: 'build' }])
    assert.equal(bench.harness.session.model.get(), '')
  })

  test('models of memory and of subagents', async () => {
    await using bench = new HarnessBench([])
    const { om, subagents } = bench.harness.session
    await om.observer.switchModel({ modelId: 'x/observer' })
    await om.reflector.switchModel({ modelId: 'x/reflector' })
    await subagents.model.set({ modelId: 'x/all' })
    await subagents.model.set({ modelId: 'x/explorer', agentType: 'explore' })
    assert.deepEqual(told(bench), [
      { type: 'om_model_changed', role: 'observer', modelId: 'x/observer' },
      { type: 'om_model_changed', role: 'reflector', modelId: 'x/reflector' },
      { type: 'subagent_model_changed', modelId: 'x/all', scope: 'thread' },
      { type: 'subagent_model_changed', modelId: 'x/explorer', scope: 'thread', agentType: 'explore' },
    ])
  })

  test('entering a thread reports what holds there', async () => {
    await using bench = new HarnessBench([], { modes: MODES })
    const { harness } = bench
    const first = await harness.createThread()
    await harness.session.mode.switch({ modeId: 'build' })
    const second = await harness.createThread()
    await harness.session.mode.switch({ modeId: 'plan' })
    await harness.session.model.switch({ modelId: 'x/planner' })
    bench.events.length = 0
    await harness.switchThread({ threadId: first.id })
    assert.deepEqual(told(bench), [
      { type: 'mode_changed', modeId: 'build', previousModeId: 'plan' },
      { type: 'model_changed', modelId: 'x/builder', scope: 'thread', modeId: 'build' },
      { type: 'thread_changed', threadId: first.id, previousThreadId: second.id },
    ])
  })
})

suite('the status of the workspace is reported by events', () => {
  test('from its beginning to its end, with its name', async () => {
    const bench = new HarnessBench([], { workspace: { id: 'w1', name: 'Desk', init: () => undefined } })
    await bench.harness.init()
    await bench.harness.destroy()
    assert.deepEqual(told(bench), [
      { type: 'workspace_status_changed', status: 'initializing' },
      { type: 'workspace_status_changed', status: 'ready' },
      { type: 'workspace_ready', workspaceId: 'w1', workspaceName: 'Desk' },
      { type: 'workspace_status_changed', status: 'destroying' },
      { type: 'workspace_status_changed', status: 'destroyed' },
    ])
  })

  test('events name a workspace without a name by its id', async () => {
    await using bench = new HarnessBench([], { workspace: { id: 'w1', init: () => undefined } })
    await bench.harness.init()
    assert.deepEqual(bench.all('workspace_ready'), [
      { type: 'workspace_ready', workspaceId: 'w1', workspaceName: 'w1' },
    ])
  })

  test('events report a workspace that could not be made ready or ended, and why', async () => {
    const error = new Error('no disk')
    const fails = (): never => {
      throw error
    }
    await using bench = new HarnessBench([], { workspace: { init: fails } })
    await bench.harness.init()
    assert.deepEqual(told(bench), [
      { type: 'workspace_status_changed', status: 'initializing' },
      { type: 'workspace_status_changed', status: 'error', error },
      { type: 'workspace_error', error },
    ])
    const stuck = new HarnessBench([], { workspace: { init: () => undefined, destroy: fails } })
    await stuck.harness.init()
    stuck.events.length = 0
    await assert.rejects(stuck.harness.destroyWorkspace(), /could not be ended: no disk/)
    assert.deepEqual(told(stuck).slice(0, 3), [
      { type: 'workspace_status_changed', status: 'destroying' },
      { type: 'workspace_error', error },
      { type: 'workspace_status_changed', status: 'destroyed' },
    ])
  })
})
