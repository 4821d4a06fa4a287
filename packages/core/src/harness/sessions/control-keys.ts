import { InspanError, NO_RULES, type JsonValue, type PermissionRules, type ToolCategory } from '@inspan/protocol'
import { checkRules } from '../../policy/check-rules.ts'
import type { HarnessState } from '../harness-config.ts'
import type { SessionContext } from './session-context.ts'

/** Updates for the control layer that programs put into the state. */
interface ControlUpdates {
  readonly yolo?: boolean
  readonly permissionRules?: PermissionRules
  /** Kept among the settings of the thread, under the same keys. */
  readonly settings: Readonly<Record<string, JsonValue>>
}

export interface SplitState {
  readonly control: ControlUpdates
  /** The application's own state. */
  readonly own: HarnessState
}

const MODEL_KEYS: ReadonlySet<string> = new Set(['observerModelId', 'reflectorModelId'])
const THRESHOLD_KEYS: ReadonlySet<string> = new Set(['observationThreshold', 'reflectionThreshold'])
const SUBAGENT_MODEL = 'subagentModelId'

/**
 * Separates the control layer's keys, so that no schema of the application can strip them. Throws on an invalid value.
 */
export function splitState(updates: HarnessState): SplitState {
  // `fromEntries` defines keys instead of assigning them: `__proto__` is a name like any other here.
  const own = Object.fromEntries(Object.entries(updates).filter(([key]) => !isControl(key)))
  const settings: Record<string, JsonValue> = {}
  let control: ControlUpdates = { settings }
  for (const [key, value] of Object.entries(updates)) {
    if (!isControl(key) || value === undefined) continue
    else if (key === 'yolo') control = { ...control, yolo: booleanOf(key, value) }
    else if (key === 'permissionRules') control = { ...control, permissionRules: rulesOf(value) }
    else settings[key] = THRESHOLD_KEYS.has(key) ? tokensOf(key, value) : textOf(key, value)
  }
  return { control, own }
}

/** Applies each update through the session's own methods, so that it is reported as well. */
export async function applyControl(
  { permissionRules, settings, yolo }: ControlUpdates,
  session: SessionContext,
): Promise<void> {
  for (const [category, policy] of Object.entries(permissionRules?.categories ?? {})) {
    await session.permissions.setForCategory({ category: category as ToolCategory, policy })
  }
  for (const [toolName, policy] of Object.entries(permissionRules?.tools ?? {})) {
    await session.permissions.setForTool({ toolName, policy })
  }
  for (const [key, value] of Object.entries(settings)) {
    if (typeof value !== 'string') await session.settings.set(key, value)
    else if (key === 'observerModelId') await session.om.observer.switchModel({ modelId: value })
    else if (key === 'reflectorModelId') await session.om.reflector.switchModel({ modelId: value })
    else await session.subagents.model.set({ modelId: value, ...typeIn(key) })
  }
  if (yolo !== undefined) await session.permissions.setYolo({ enabled: yolo })
}

function isControl(key: string): boolean {
  return (
    key === 'yolo' ||
    key === 'permissionRules' ||
    key === SUBAGENT_MODEL ||
    key.startsWith(`${SUBAGENT_MODEL}_`) ||
    MODEL_KEYS.has(key) ||
    THRESHOLD_KEYS.has(key)
  )
}

function typeIn(key: string): { agentType?: string } {
  return key === SUBAGENT_MODEL ? {} : { agentType: key.slice(SUBAGENT_MODEL.length + 1) }
}

function booleanOf(key: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw refused(key, 'true or false')
}

function textOf(key: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  throw refused(key, 'the id of a model')
}

function tokensOf(key: string, value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value
  throw refused(key, 'a number of tokens above 0')
}

function rulesOf(value: unknown): PermissionRules {
  if (typeof value !== 'object' || value === null) throw refused('permissionRules', '{ categories?, tools? }')
  const rules: PermissionRules = { ...NO_RULES, ...value }
  if (rules.patterns.length > 0) throw refused('permissionRules', '{ categories?, tools? }, without `patterns`')
  checkRules(rules)
  return rules
}

function refused(key: string, expected: string): InspanError {
  return new InspanError('invalid-input', `Invalid state update: \`${key}\` has to be ${expected}.`, {
    hint: 'The key belongs to the harness and not to the state of the application; give another name to one of your own.',
  })
}
