import { InspanError } from '@inspan/protocol'
import { assertJson } from './assert-json.ts'
import type { ConfigChange } from '../thread-options.ts'

/** Throws if this is not a valid change of the config, before any of it applies. */
export function checkConfig(change: ConfigChange): void {
  if (!isObject(change)) throw refused('it is not an object')
  assertJson('A change of the configuration', change)
  for (const key of ['mode', 'model', 'agentId', 'title'] as const) {
    const value: unknown = change[key]
    if (value !== undefined && value !== null && typeof value !== 'string') throw refused(`\`${key}\` is not a string`)
  }
  for (const key of ['settings', 'state'] as const) {
    if (change[key] !== undefined && !isObject(change[key])) throw refused(`\`${key}\` is not an object`)
  }
  if (change.goal !== undefined && change.goal !== null && !isObject(change.goal))
    throw refused('`goal` is not an object')
  const { grants, rules, yolo }: { grants?: unknown; rules?: unknown; yolo?: unknown } = change
  if (yolo !== undefined && typeof yolo !== 'boolean') throw refused('`yolo` is neither true nor false')
  if (rules !== undefined && !isRules(rules)) throw refused('`rules` are not `{ categories, tools, patterns }`')
  if (grants !== undefined && !isGrants(grants)) throw refused('`grants` are not lists of `categories` and `tools`')
}

function isRules(rules: unknown): boolean {
  if (!isObject(rules)) return false
  const { categories, patterns, tools } = rules
  return isObject(categories) && isObject(tools) && Array.isArray(patterns) && patterns.every(isRule)
}

function isRule(rule: unknown): boolean {
  if (!isObject(rule)) return false
  const { match = [], notMatch = [], pattern, tool } = rule
  return typeof tool === 'string' && typeof pattern === 'string' && isTexts(match) && isTexts(notMatch)
}

function isGrants(grants: unknown): boolean {
  return isObject(grants) && isTexts(grants['categories']) && isTexts(grants['tools'])
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function refused(why: string): InspanError {
  return new InspanError('invalid-input', `This is not a valid change of the configuration: ${why}.`)
}
