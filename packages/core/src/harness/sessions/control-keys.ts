import { InspanError, NO_RULES, type JsonValue, type PermissionRules, type ToolCategory } from '@inspan/protocol'
import { aFlag, aText, anObject, type FieldRule } from '@inspan/protocol/internal'
import { checkRules } from '../../policy/check-rules.ts'
import type { StateShape } from '../harness-config.ts'
import { MEMORY_SETTINGS } from '../observational-memory.ts'
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
  readonly own: StateShape
}

const aModel: FieldRule = { ...aText, wanted: 'the id of a model' }
const tokens: FieldRule = {
  wanted: 'a number of tokens above 0',
  accepts: (value) => Number.isFinite(value) && (value as number) > 0,
}
/** The control layer's keys, but for those of subagents' models. */
const RULES: Readonly<Record<string, FieldRule>> = {
  yolo: aFlag,
  permissionRules: { ...anObject, wanted: '{ categories?, tools? }' },
  [MEMORY_SETTINGS.observer.model]: aModel,
  [MEMORY_SETTINGS.reflector.model]: aModel,
  [MEMORY_SETTINGS.observer.threshold]: tokens,
  [MEMORY_SETTINGS.reflector.threshold]: tokens,
}
const SUBAGENT_MODEL = 'subagentModelId'

/**
 * Separates the control layer's keys, so that no schema of the application can strip them. Throws on an invalid value.
 */
export function splitState(updates: StateShape): SplitState {
  // `fromEntries` defines keys instead of assigning them: `__proto__` is a name like any other here.
  const own = Object.fromEntries(Object.entries(updates).filter(([key]) => !isControl(key)))
  const settings: Record<string, JsonValue> = {}
  let control: ControlUpdates = { settings }
  for (const [key, value] of Object.entries(updates)) {
    if (!isControl(key) || value === undefined) continue
    const rule = RULES[key] ?? aModel
    if (!rule.accepts(value)) throw refused(key, rule.wanted)
    if (key === 'yolo') control = { ...control, yolo: value as boolean }
    else if (key === 'permissionRules') control = { ...control, permissionRules: rulesOf(value as object) }
    else settings[key] = value as JsonValue
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
  return Object.hasOwn(RULES, key) || key === SUBAGENT_MODEL || key.startsWith(`${SUBAGENT_MODEL}_`)
}

function typeIn(key: string): { agentType?: string } {
  return key === SUBAGENT_MODEL ? {} : { agentType: key.slice(SUBAGENT_MODEL.length + 1) }
}

function rulesOf(value: object): PermissionRules {
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
