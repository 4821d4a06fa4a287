import { Agent, createTool } from '@inspan/agent'
import type { JsonValue } from '@inspan/protocol'
import { toWireEvent, type HarnessDisplayState } from '@inspan/protocol/harness'
import { SqliteStore } from '@inspan/stores'
import { scriptedModel, type ScriptedModel } from '@inspan/testing'
import { Harness } from '../harness.ts'
import type { Session } from '../session.ts'

export interface Opened {
  readonly harness: Harness
  readonly session: Session
  readonly model: ScriptedModel
  readonly storage: SqliteStore
}

/** Opens the same harness and session in any process. */
export async function openSession(url: string, script: Parameters<typeof scriptedModel>[0]): Promise<Opened> {
  const model = scriptedModel(script)
  const storage = new SqliteStore({ url })
  const paint = createTool({ id: 'paint', description: 'Paints.', category: 'edit', execute: () => 'painted' })
  const harness = new Harness({
    id: 'killed',
    storage,
    agent: new Agent({ id: 'agent', model, tools: { paint } }),
    resolveModel: () => model,
    modes: [{ id: 'plan', transitionsTo: 'build' }, { id: 'build' }, { id: 'review', transitionsTo: 'build' }],
  })
  return { harness, session: await harness.createSession({ resourceId: 'ada', id: 'web' }), model, storage }
}

/** Returns everything that a session shows and knows, as JSON. */
export async function knownTo(session: Session): Promise<JsonValue> {
  const displayState: HarnessDisplayState = session.displayState.get()
  const known = {
    display: toWireEvent({ type: 'display_state_changed', displayState }),
    thread: session.thread.getId(),
    mode: session.mode.get(),
    model: session.model.get(),
    forPlan: session.model.resolveForMode({ modeId: 'plan' }),
    state: session.state.get(),
    rules: session.permissions.getRules(),
    grants: session.getGrants(),
    usage: session.getTokenUsage(),
    setting: session.thread.getSetting({ key: 'colour' }),
    observer: session.om.observer.modelId(),
    explorer: session.subagents.model.get({ agentType: 'explore' }),
    goal: await session.objectives.getObjective(),
    notifications: session.signals.listNotifications(),
    suspensions: session.suspensions.list(),
    followUps: session.followUps.list(),
    messages: await session.thread.listActiveMessages(),
  }
  return JSON.parse(JSON.stringify(known)) as JsonValue
}
