import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { InspanError } from '@inspan/protocol'
import { HarnessBench } from '../harness.fixture.ts'
import type { Harness } from '../harness.ts'
import { CALLS, type Kind, type PublicCall } from './misuse-calls.fixture.ts'

const circular: { self?: unknown } = {}
circular.self = circular
const aFunction = (): number => 1

const NO_TEXT = [null, 5, Number.NaN, true, {}, [], circular, aFunction, 1n, Symbol('x')]
const NO_FIELDS = [null, 5, 'text', true, [], aFunction, 1n]
const NO_JSON = [circular, 1n, aFunction, Symbol('x'), { deep: [circular] }, Number.NaN]
const NO_NUMBER = [null, '5', Number.NaN, Number.POSITIVE_INFINITY, {}, 1n]
const NO_COUNT = [...NO_NUMBER, 0, -1, 1.5]
const NO_FLAG = [null, 0, 1, 'true', '', {}, []]
const NO_NAME = ['bogus', '__proto__', 'constructor', '', ...NO_TEXT]
const NO_LIST = [null, 5, 'text', {}, aFunction]
const NO_FUNCTION = [null, 5, 'text', {}]
const UNKNOWN = ['nowhere', '__proto__', 'constructor', 'x'.repeat(100_000), '\0']

/** Values that are refused for each kind. */
const WRONG: Readonly<Record<Kind, readonly unknown[]>> = {
  text: [undefined, '', ...NO_TEXT],
  'text?': ['', ...NO_TEXT],
  words: [undefined, ...NO_TEXT],
  'words?': NO_TEXT,
  thread: [undefined, '', ...NO_TEXT],
  'thread?': ['', ...NO_TEXT],
  mode: [undefined, '', ...NO_TEXT],
  'mode?': ['', ...NO_TEXT],
  'one of': [undefined, ...NO_NAME],
  'one of?': NO_NAME,
  flag: [undefined, ...NO_FLAG],
  'flag?': NO_FLAG,
  'count?': NO_COUNT,
  number: [undefined, ...NO_NUMBER],
  'number?': NO_NUMBER,
  json: [undefined, ...NO_JSON],
  'json?': NO_JSON,
  'fields?': NO_FIELDS,
  list: [undefined, ...NO_LIST],
  'list?': NO_LIST,
  function: [undefined, ...NO_FUNCTION],
  'function?': NO_FUNCTION,
}

const NAMES_SOMETHING: ReadonlySet<Kind> = new Set(['thread', 'thread?', 'mode', 'mode?'])

/** Returns the error of a call, whether its promise rejects or it throws. */
async function failureOf(each: PublicCall, harness: Harness, argument: unknown): Promise<unknown> {
  let answer: unknown
  try {
    answer = each.call(harness, argument as never)
  } catch (error) {
    assert.ok(each.isSync, `${each.name} throws at once: ${String(error)}`)
    return error
  }
  assert.ok(each.isSync || answer instanceof Promise)
  try {
    await answer
  } catch (error) {
    return error
  }
  return undefined
}

function shown(value: unknown): string {
  const text = typeof value === 'string' && value.length > 50 ? 'a long text' : undefined
  return text ?? (typeof value === 'object' && value !== null ? 'an object' : String(value))
}

/** Returns everything that a call could have changed. */
async function stateOf({ session }: Harness): Promise<unknown> {
  const { runId: _runId, ...display } = { runId: '', ...structuredClone(session.displayState.get()) }
  return {
    display,
    thread: session.thread.getId(),
    resource: session.identity.getResourceId(),
    mode: session.mode.get(),
    model: session.model.get(),
    rules: session.permissions.getRules(),
    isYolo: session.permissions.isYolo(),
    grants: session.getGrants(),
    state: session.state.get(),
    followUps: session.followUps.list(),
    notifications: session.signals.listNotifications(),
    goal: await session.objectives.getObjective(),
    threads: (await session.thread.list({ allResources: true })).length,
    messages: (await session.thread.listActiveMessages()).length,
  }
}

suite('invalid arguments of a call are refused by name, and change nothing', () => {
  for (const each of CALLS) {
    test(each.name, async () => {
      await using bench = new HarnessBench([])
      const { harness } = bench
      await harness.createThread()
      const before = await stateOf(harness)
      const refused = async (argument: unknown, what: string, codes: readonly string[]): Promise<InspanError> => {
        bench.events.length = 0
        const error = await failureOf(each, harness, argument)
        assert.ok(InspanError.is(error), `${what}: ${String(error)}`)
        assert.ok(codes.includes(error.code), `${what}: ${error.code}, ${error.message}`)
        const told = bench.all('error').map((event) => event.error)
        assert.deepEqual(told, each.isSync || each.isRead ? [] : [error], `${what} is told once`)
        return error
      }
      for (const value of each.isOptional ? NO_FIELDS : [undefined, ...NO_FIELDS]) {
        await refused(value, `${shown(value)} as the whole argument`, ['invalid-input'])
      }
      for (const [field, kind] of Object.entries(each.fields)) {
        for (const value of WRONG[kind]) {
          const what = `${field}: ${shown(value)}`
          const error = await refused({ ...each.good, [field]: value }, what, ['invalid-input'])
          assert.match(error.message, new RegExp(`\\b${field}\\b`), what)
        }
        if (!NAMES_SOMETHING.has(kind)) continue
        for (const value of UNKNOWN) await refused({ ...each.good, [field]: value }, shown(value), ['not-found'])
      }
      assert.deepEqual(await stateOf(harness), before)
      assert.equal(bench.model.calls, 0)
    })
  }
})

suite('what takes no object', () => {
  const throwing: Readonly<Record<string, (harness: Harness, value: never) => unknown>> = {
    subscribe: (harness, value) => harness.subscribe(value),
    'session.subscribe': ({ session }, value) => session.subscribe(value),
    'session.emit': ({ session }, value) => session.emit(value),
    setBrowser: (harness, value) => harness.setBrowser(value),
    'suspensions.resolveToolCallId': ({ session }, value) => session.suspensions.resolveToolCallId(value),
  }
  for (const [name, call] of Object.entries(throwing)) {
    test(`${name} throws a typed error`, async () => {
      await using bench = new HarnessBench([])
      for (const value of [null, 5, 'text', true, Symbol('x')]) {
        assert.throws(
          () => call(bench.harness, value as never),
          (error) => InspanError.is(error, 'invalid-input') || (value === 'text' && InspanError.is(error, 'not-found')),
          shown(value),
        )
      }
    })
  }

  const rejecting: Readonly<Record<string, (harness: Harness, value: never) => Promise<unknown>>> = {
    getResolvedMemory: (harness, value) => harness.getResolvedMemory(value),
    grantTool: ({ session }, value) => session.grantTool(value),
    grantCategory: ({ session }, value) => session.grantCategory(value),
    'state.set': ({ session }, value) => session.state.set(value),
    'state.update': ({ session }, value) => session.state.update(value),
    'state.update that gives nothing': ({ session }, value) => session.state.update(() => value),
    setObjective: (harness, value) => harness.getCurrentAgent().setObjective(value, { judgeModelId: 'judge/one' }),
  }
  for (const [name, call] of Object.entries(rejecting)) {
    test(`${name} rejects with a typed error`, async () => {
      await using bench = new HarnessBench([])
      const before = await stateOf(bench.harness)
      const isText = name === 'grantTool' || name === 'setObjective'
      for (const value of [null, 5, true, [], Symbol('x'), ...(isText ? [''] : ['text'])]) {
        await assert.rejects(
          call(bench.harness, value as never),
          (error) => InspanError.is(error, 'invalid-input'),
          shown(value),
        )
      }
      assert.deepEqual(await stateOf(bench.harness), before)
    })
  }

  test('a question about what is not there is answered with no', async () => {
    await using bench = new HarnessBench([])
    const { session } = bench.harness
    for (const value of [undefined, null, '', 5, {}, '__proto__', 'constructor']) {
      assert.equal(session.hasToolGrant(value as never), false)
      assert.equal(session.hasCategoryGrant(value as never), false)
    }
  })
})

suite('names that mean something to JavaScript', () => {
  test('are settings, states and tools like any other', async () => {
    await using bench = new HarnessBench([])
    const { session } = bench.harness
    await bench.harness.createThread()
    for (const name of ['__proto__', 'constructor', 'toString']) {
      assert.equal(session.thread.getSetting({ key: name }), undefined)
      await session.thread.setSetting({ key: name, value: { polluted: true } })
      assert.deepEqual(session.thread.getSetting({ key: name }), { polluted: true })
      await session.state.set(JSON.parse(`{"${name}":{"polluted":true}}`) as never)
      assert.ok(Object.hasOwn(session.state.get(), name))
      await session.permissions.setForTool({ toolName: name, policy: 'deny' })
      assert.ok(Object.hasOwn(session.permissions.getRules().tools, name))
      await session.grantTool(name)
      assert.ok(session.hasToolGrant(name))
    }
    assert.equal(({} as { polluted?: true }).polluted, undefined)
  })
})
