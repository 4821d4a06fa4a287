import type { Head } from './head.ts'
import { isObject } from './json-op.ts'
import type { JsonObject, JsonValue } from './json.ts'

/** From when on a setting counts: already, or when the step or the turn at work is over. */
export type AppliesFrom = 'now' | 'next-step' | 'next-turn'

export interface ShownSetting {
  readonly value: string | number
  readonly applies: AppliesFrom
}

/** What `configure` can set, by the names it has there. Absent: the harness decides. */
export interface ShownConfig {
  readonly permissionMode?: ShownSetting
  readonly mode?: ShownSetting
  readonly model?: ShownSetting
  readonly agent?: ShownSetting
  readonly effort?: ShownSetting
  readonly maxTurns?: ShownSetting
  readonly systemPrompt?: ShownSetting
}

/** The setting that notes which others were changed during the run at work, and in which step. */
export const CONFIGURED_SETTING = 'configured'

/** Settings that are read again before every step. All others belong to the message that started the turn. */
const PER_STEP: ReadonlySet<string> = new Set(['mode', 'model'])
const PER_TURN = ['effort', 'maxTurns', 'systemPrompt'] as const

interface ConfigChanges {
  readonly mode?: string | null
  readonly model?: string | null
  readonly agentId?: string | null
  readonly settings?: JsonObject
}

/**
 * Notes what is changed while a run is at work. The note needs no clean-up: it says nothing once that run, or the step it
 * names, is over. An agent that keeps its own session (`isForeign`) reads its settings once a turn.
 */
export function configuredNote(
  change: ConfigChanges,
  { run, settings }: Pick<Head, 'run' | 'settings'>,
  isForeign: boolean,
): JsonObject | undefined {
  if (run === null) return undefined
  const names = [
    ...(change.mode === undefined ? [] : ['mode']),
    ...(change.model === undefined ? [] : ['model']),
    ...(change.agentId === undefined ? [] : ['agent']),
    ...PER_TURN.filter((name) => change.settings?.[name] !== undefined),
  ]
  if (names.length === 0) return undefined
  const known = settings.get(CONFIGURED_SETTING)
  const kept = known !== undefined && isObject(known) && known['run'] === run.runId ? known : {}
  const noted = names.map((name) => [name, PER_STEP.has(name) && !isForeign ? run.step : 'turn'])
  return { [CONFIGURED_SETTING]: { ...kept, run: run.runId, ...(Object.fromEntries(noted) as JsonObject) } }
}

export function shownConfig(head: Head): ShownConfig {
  const { agentId, mode, model, settings } = head
  const values: readonly (readonly [name: keyof ShownConfig, value: JsonValue | undefined])[] = [
    ['permissionMode', settings.get('permissionMode')],
    ['mode', mode],
    ['model', model],
    ['agent', agentId],
    ...PER_TURN.map((name) => [name, settings.get(name)] as const),
  ]
  const shown = values.flatMap(([name, value]): [string, ShownSetting][] =>
    (typeof value === 'string' && value !== '') || typeof value === 'number'
      ? [[name, { value, applies: appliesFrom(name, head) }]]
      : [],
  )
  return Object.fromEntries(shown)
}

function appliesFrom(name: string, { run, settings }: Head): AppliesFrom {
  const note = settings.get(CONFIGURED_SETTING)
  if (run === null || note === undefined || !isObject(note) || note['run'] !== run.runId) return 'now'
  const changed = note[name]
  if (changed === undefined) return 'now'
  if (changed === 'turn') return 'next-turn'
  return changed === run.step ? 'next-step' : 'now'
}
