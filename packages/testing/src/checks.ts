import { didYouMean } from '@inspan/protocol/internal'
import { InvalidScript } from './script-errors.ts'

/** Throws `InvalidScript` when the value at `path` is not what it should be. */
export type Check = (value: unknown, path: string) => void

export const aString: Check = (value, path) => {
  if (typeof value !== 'string') fail(path, `must be a string, is ${describe(value)}`)
}

export const aBoolean: Check = (value, path) => {
  if (typeof value !== 'boolean') fail(path, `must be true or false, is ${describe(value)}`)
}

export const aCount: Check = (value, path) => {
  if (!Number.isSafeInteger(value) || Number(value) < 0) {
    fail(path, `must be a whole number from 0, is ${describe(value)}`)
  }
}

export const aDuration: Check = (value, path) => {
  if (typeof value !== 'number' || !(value >= 0) || value > 2 ** 31 - 1) {
    fail(path, `must be a number of milliseconds, is ${describe(value)}`)
  }
}

export const aFunction: Check = (value, path) => {
  if (typeof value !== 'function') fail(path, `must be a function, is ${describe(value)}`)
}

export const anObject: Check = (value, path) => {
  if (!isRecord(value)) fail(path, `must be an object, is ${describe(value)}`)
  else jsonValue(value, path)
}

export const jsonValue: Check = (value, path) => {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return
  if (typeof value === 'number' && Number.isFinite(value)) return
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) jsonValue(item, `${path}[${index}]`)
  } else if (isRecord(value)) {
    for (const [key, item] of Object.entries(value)) jsonValue(item, `${path}.${key}`)
  } else fail(path, `must be something JSON can carry, is ${describe(value)}`)
}

export function oneOf(...allowed: readonly (string | boolean)[]): Check {
  return (value, path) => {
    if (allowed.some((option) => option === value)) return
    const hint =
      typeof value === 'string'
        ? suggestion(
            value,
            allowed.filter((option) => typeof option === 'string'),
          )
        : ''
    fail(path, `must be ${allowed.map((option) => JSON.stringify(option)).join(' or ')}, is ${describe(value)}${hint}`)
  }
}

export function either(checks: readonly Check[], expected: string): Check {
  return (value, path) => {
    const passes = checks.some((check) => {
      try {
        check(value, path)
        return true
      } catch {
        return false
      }
    })
    if (!passes) fail(path, `must be ${expected}, is ${describe(value)}`)
  }
}

export function listOf(item: Check): Check {
  return (value, path) => {
    if (!Array.isArray(value)) fail(path, `must be an array, is ${describe(value)}`)
    else for (const [index, entry] of value.entries()) item(entry, `${path}[${index}]`)
  }
}

export function recordOf(item: Check): Check {
  return (value, path) => {
    if (!isRecord(value)) fail(path, `must be an object, is ${describe(value)}`)
    else for (const [key, entry] of Object.entries(value)) item(entry, `${path}.${key}`)
  }
}

/** Accepts an object with these keys and no others. A key with the value undefined counts as absent. */
export function shape(keys: Readonly<Record<string, Check>>, required: readonly string[] = []): Check {
  const known = Object.keys(keys)
  return (value, path) => {
    if (!isRecord(value)) return fail(path, `must be an object, is ${describe(value)}`)
    for (const [key, entry] of Object.entries(value)) {
      if (entry === undefined) continue
      const check = Object.hasOwn(keys, key) ? keys[key] : undefined
      if (check === undefined) return fail(`${path}.${key}`, `unknown key${suggestion(key, known)}`)
      check(entry, `${path}.${key}`)
    }
    for (const key of required) if (value[key] === undefined) fail(path, `${JSON.stringify(key)} is missing`)
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function fail(path: string, problem: string): never {
  throw new InvalidScript(path, problem)
}

function describe(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value === 'number') return String(value)
  return JSON.stringify(value) ?? typeof value
}

function suggestion(word: string, known: readonly string[]): string {
  const hint = didYouMean(word, known)
  return hint === '' ? '' : `. ${hint}`
}
