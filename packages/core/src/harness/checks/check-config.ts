import { InspanError } from '@inspan/protocol'
import { checkBudget } from '@inspan/protocol/internal'
import { checkShape } from './config-shape.ts'
import type { HarnessConfig, HarnessMode } from '../harness-config.ts'
import { checkHandler } from '../runs/heartbeats.ts'
import { checkObservability } from '../runs/observability.ts'
import { checkWorkspace } from '../agents/workspace-slot.ts'

/** Throws on a configuration that cannot work, before anything is started. */
export function checkConfig(config: HarnessConfig): void {
  checkShape(config)
  checkModes(config)
  checkSubagents(config)
  checkSpool(config)
  if (config.workspace !== undefined) checkWorkspace(config.workspace)
  if (config.observability !== undefined) checkObservability(config.observability)
  const handlers = config.heartbeatHandlers ?? []
  for (const handler of handlers) checkHandler(handler)
  const twice = duplicateOf(handlers.map(({ id }) => id))
  if (twice !== undefined) throw invalid(`There are two heartbeat handlers with the id "${twice}".`)
}

function checkModes({ agent, defaultModeId, modes }: HarnessConfig): void {
  if (modes.length === 0) throw invalid('A harness needs at least one mode.')
  const ids = modes.map(({ id }) => id)
  const twice = duplicateOf(ids)
  if (twice !== undefined) throw invalid(`There are two modes with the id "${twice}".`)
  const known = `Known: ${ids.join(', ')}.`
  for (const mode of modes) {
    checkBudget(`mode "${mode.id}"`, mode.budget)
    if (mode.tools !== undefined && mode.additionalTools !== undefined) {
      throw invalid(
        `Mode "${mode.id}" has both \`tools\` and \`additionalTools\`.`,
        '`tools` replaces the agent’s tools, `additionalTools` adds to them: use one.',
      )
    }
    if (mode.transitionsTo === mode.id) throw invalid(`Mode "${mode.id}" cannot lead to itself.`)
    if (mode.transitionsTo !== undefined && !ids.includes(mode.transitionsTo)) {
      throw invalid(`Mode "${mode.id}" leads to "${mode.transitionsTo}", which is not a mode.`, known)
    }
    if (agent === undefined && mode.agent === undefined && mode.defaultModelId === undefined) {
      throw invalid(
        `Mode "${mode.id}" has no agent.`,
        'Give the harness an `agent`, the mode an `agent`, or the mode a `defaultModelId`.',
      )
    }
  }
  if (defaultModeId !== undefined && !ids.includes(defaultModeId)) {
    throw invalid(`\`defaultModeId\` is "${defaultModeId}", which is not a mode.`, known)
  }
}

function checkSubagents({ subagents = [] }: HarnessConfig): void {
  const twice = duplicateOf(subagents.map(({ id }) => id))
  if (twice !== undefined) throw invalid(`There are two subagents with the id "${twice}".`)
}

function checkSpool({ spool, storage }: HarnessConfig): void {
  if (spool?.isLocal !== true || storage?.join === undefined) return
  throw new InspanError(
    'unsupported',
    'Raw output in a folder of this machine cannot go with a store that others share.',
    {
      hint: 'An erasure on another machine would not reach it: leave out `spool`, and have agents record nothing.',
    },
  )
}

/** Returns the mode with `defaultModeId`, else the first mode marked as the default, else the first. */
export function defaultModeOf(config: HarnessConfig): HarnessMode {
  const { defaultModeId, modes } = config
  const mode =
    modes.find(({ id }) => id === defaultModeId) ??
    modes.find((each) => each.default === true || each.metadata?.['default'] === true) ??
    modes[0]
  if (mode === undefined) throw invalid('A harness needs at least one mode.')
  return mode
}

function duplicateOf(ids: readonly string[]): string | undefined {
  return ids.find((id, index) => ids.indexOf(id) !== index)
}

function invalid(message: string, hint?: string): InspanError {
  return new InspanError('invalid-input', message, hint === undefined ? {} : { hint })
}
