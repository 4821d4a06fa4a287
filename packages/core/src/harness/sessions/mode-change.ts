import { InspanError } from '@inspan/protocol'
import type { ThreadState } from '@inspan/protocol/log'
import type { ConfigChange } from '../../engine/index.ts'
import type { HarnessMode } from '../harness-config.ts'
import type { HarnessCore } from '../harness-core.ts'

export function modeModelKey(modeId: string): string {
  return `modeModelId_${modeId}`
}

/** Returns the change of config for entering a mode. Each mode remembers the model that was last chosen in it. */
export function modeChange(
  mode: HarnessMode,
  current: { readonly modeId: string; readonly modelId: string },
  remembered: (modeId: string) => string | undefined,
): ConfigChange {
  const model = remembered(mode.id) ?? mode.defaultModelId ?? current.modelId
  return {
    mode: mode.id,
    ...(model === '' || model === current.modelId ? {} : { model }),
    ...(current.modelId === '' ? {} : { settings: { [modeModelKey(current.modeId)]: current.modelId } }),
  }
}

/**
 * Completes a change of a thread's mode, model or agent: an agent is chosen by entering a mode of its own, a mode brings
 * its model along, and a model is remembered for its mode. Everybody who changes one of them comes through here, so that a client's command and `mode.switch` do the same.
 */
export function withChoice(core: HarnessCore, given: ConfigChange, state: ThreadState): ConfigChange {
  const change = withMode(core, given, state)
  const { model, settings } = state.head
  const from = core.agents.modeOf(state)
  const to = typeof change.mode === 'string' ? core.findMode(change.mode) : from
  const current = { modeId: from.id, modelId: model ?? '' }
  const entered = to === from ? {} : modeChange(to, current, (id) => textOf(settings.get(modeModelKey(id))))
  const chosen = textOf(change.model)
  const all = {
    ...entered.settings,
    ...change.settings,
    ...(chosen === undefined ? {} : { [modeModelKey(to.id)]: chosen }),
  }
  return { ...entered, ...change, ...(Object.keys(all).length === 0 ? {} : { settings: all }) }
}

/** An agent works in modes only, which have its instructions and tools: whoever chooses an agent chooses such a mode. */
function withMode(core: HarnessCore, { agentId, ...change }: ConfigChange, state: ThreadState): ConfigChange {
  if (typeof agentId !== 'string') return change
  const modes =
    typeof change.mode === 'string' ? [core.findMode(change.mode)] : [core.agents.modeOf(state), ...core.config.modes]
  const mode = modes.find((each) => core.agents.of(each).id === agentId)
  if (mode !== undefined) return { ...change, mode: mode.id }
  const where = typeof change.mode === 'string' ? `mode "${change.mode}"` : 'any mode'
  throw new InspanError('not-found', `The agent "${agentId}" does not work in ${where}.`)
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
