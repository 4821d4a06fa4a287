import { isDeepStrictEqual } from 'node:util'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { InspanError } from '@inspan/protocol'
import type { HarnessEvent } from '@inspan/protocol/harness'
import { Mailbox } from '../../common/mailbox.ts'
import { aFunction, describeIssues } from '@inspan/protocol/internal'
import { checkGiven, isFields } from '../checks/check-given.ts'
import type { StateShape, StateSchema } from '../harness-config.ts'
import { schemaDefaults, stateCheck, type StateCheck } from './state-check.ts'
import { applyControl, splitState } from './control-keys.ts'
import type { SessionContext } from './session-context.ts'
import { outsideEvent } from '../events/outside-event.ts'

/** What the function given to `update` returns. */
export interface StateUpdate<State, Result> {
  readonly updates?: Partial<State>
  /** Emitted right after the change. */
  readonly events?: readonly HarnessEvent[]
  readonly result: Result
}

/**
 * The application's own state. Changes are made one after the other, and only if the whole state is valid with them.
 */
export class SessionState<State extends StateShape = StateShape> {
  readonly #session: SessionContext
  readonly #updates = new Mailbox()
  readonly #check: StateCheck<State> | undefined
  /** The values as given: a schema that transforms a value must not get its own output again. */
  #given: StateShape
  #state: State

  constructor(session: SessionContext, schema: StateSchema<State> | undefined, initial: Partial<State> | undefined) {
    this.#session = session
    const kept = session.log?.head.state.toJSON()
    if (isTooDeep(initial)) throw invalid(TOO_DEEP)
    this.#check = schema === undefined ? undefined : stateCheck(schema)
    const given = splitState(initial ?? {}).own
    const start = { ...schemaDefaults(this.#check?.jsonSchema()), ...given }
    this.#given = copyOf(start)
    this.#state = copyOf(initial === undefined ? (start as unknown as State) : checkedAtOnce(this.#check, start))
    if (kept !== undefined) this.#restore(kept)
  }

  /** Returns a deep copy: changing it changes nothing. */
  get(): State {
    return copyOf(this.#state)
  }

  async set(updates: Partial<State>): Promise<void> {
    await this.#updates.post(() => this.#apply(updates, []))
  }

  /** Reads and changes the state in one step; no other change can come between. */
  update<Result>(
    change: (state: State) => StateUpdate<State, Result> | Promise<StateUpdate<State, Result>>,
  ): Promise<Result> {
    return this.#updates.post(async () => {
      checkGiven(change, 'change', aFunction)
      const update = await change(this.get())
      if (!isFields(update)) throw invalid('the function has to give `{ updates?, events?, result }`')
      const { events = [], result, updates } = update
      if (!Array.isArray(events)) throw invalid('`events` has to be a list of events')
      await this.#apply(updates ?? {}, events.map(outsideEvent))
      return result
    })
  }

  #restore(kept: StateShape): void {
    this.#given = { ...this.#given, ...kept }
    const result = this.#check?.validate(copyOf(this.#given))
    const isFit = result !== undefined && !(result instanceof Promise) && result.issues === undefined
    // Values that the schema no longer allows are not lost: the next change has to put them right.
    this.#state = isFit ? result.value : { ...this.#state, ...kept }
  }

  async #apply(updates: Partial<State>, events: readonly HarnessEvent[]): Promise<void> {
    const { binding, log } = this.#session
    if (!isFields(updates)) throw invalid('it has to be an object')
    if (isTooDeep(updates)) throw invalid(TOO_DEEP)
    const { control: forControl, own } = splitState(updates)
    const given = { ...this.#given, ...own }
    const next = Object.keys(own).length === 0 ? this.#state : await checked(this.#check, given)
    const lost = Object.keys(own).filter((key) => own[key] !== undefined && !Object.hasOwn(next, key))
    if (lost.length > 0) throw invalid(`the schema does not know ${lost.map((key) => `"${key}"`).join(', ')}`)
    // Everything that can be refused has been checked by now, so a refused update has no effect at all.
    await applyControl(forControl, this.#session)
    const changed = changesBetween(this.#given, given)
    if (changed.length > 0) await log?.keepState(Object.fromEntries(changed.map((key) => [key, given[key]])))
    this.#given = copyOf(given)
    const changedKeys = changesBetween(this.#state, next)
    if (changedKeys.length > 0) {
      this.#state = copyOf(next)
      binding.emit({ type: 'state_changed', state: this.get(), changedKeys })
    }
    for (const event of events) binding.emit(event)
  }
}

/** Far below the depth at which copying, comparing or writing JSON runs out of stack. */
const MAX_DEPTH = 500

const TOO_DEEP = `it is nested more than ${MAX_DEPTH} levels deep`

/** Looks at one level after the other: a value of this kind may be deeper than the stack. */
function isTooDeep(value: unknown): boolean {
  const seen = new Set<unknown>()
  let level: readonly unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true
    const next: unknown[] = []
    for (const item of level) {
      if (typeof item !== 'object' || item === null || seen.has(item)) continue
      seen.add(item)
      for (const child of Object.values(item)) next.push(child)
    }
    level = next
  }
  return false
}

/** Copies plain data deeply; instances of classes are not copied. */
function copyOf<T>(value: T, copies: Map<unknown, unknown> = new Map()): T {
  if (typeof value !== 'object' || value === null) return value
  const known = copies.get(value)
  if (known !== undefined) return known as T
  if (value instanceof Date) return new Date(value) as T
  if (Array.isArray(value)) {
    const list: unknown[] = []
    copies.set(value, list)
    for (const item of value) list.push(copyOf(item, copies))
    return list as T
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  const fields: Record<string, unknown> = {}
  copies.set(value, fields)
  for (const [key, item] of Object.entries(value)) {
    // Defined instead of assigned: `__proto__` is a name like any other here.
    const own = { value: copyOf(item, copies), enumerable: true, configurable: true, writable: true }
    Object.defineProperty(fields, key, own)
  }
  return fields as T
}

function changesBetween(before: StateShape, after: StateShape): string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].filter((key) => !isDeepStrictEqual(after[key], before[key]))
}

async function checked<State>(check: StateCheck<State> | undefined, given: StateShape): Promise<State> {
  return check === undefined ? (given as State) : valueOf(await check.validate(copyOf(given)))
}

/** A constructor cannot wait: an asynchronous schema is first asked at the first change. */
function checkedAtOnce<State>(check: StateCheck<State> | undefined, given: StateShape): State {
  const result = check?.validate(copyOf(given))
  return result === undefined || result instanceof Promise ? (given as State) : valueOf(result)
}

function valueOf<State>(result: StandardSchemaV1.Result<State>): State {
  if (result.issues === undefined) return result.value
  throw invalid(describeIssues(result.issues))
}

function invalid(why: string): InspanError {
  return new InspanError('invalid-input', `Invalid state update: ${why}.`)
}
