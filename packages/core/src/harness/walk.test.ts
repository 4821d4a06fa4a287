/** Compares the tables in docs/internals/walk.md with the stack of a real run and the functions that it calls. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Session as Inspector } from 'node:inspector/promises'
import { mock, suite, test } from 'node:test'
import { Agent } from '@inspan/agent'
import { scriptedModel } from '@inspan/testing'
import { Harness } from './harness.ts'

const MAX_DOWN = 33
const MAX_UP = 22

interface Step {
  /** Empty for a function without a name. */
  readonly name: string
  readonly file: string
}

const [, down, up] = readFileSync(new URL('../../../../docs/internals/walk.md', import.meta.url), 'utf8')
  .split(/^## /m)
  .map(stepsIn) as [Step[], Step[], Step[]]

function stepsIn(section: string): Step[] {
  return [...section.matchAll(/^\| +\d+ +\| +(in )?`([^`]+)` +\| +`([^`]+)` +\|/gm)].map(
    ([, inside, name = '', file = '']) => ({ name: inside === undefined ? name : '', file }),
  )
}

/** Our own functions on the stack, the outermost first. */
function stackHere(): Step[] {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 100
  const { stack = '' } = new Error()
  Error.stackTraceLimit = stackTraceLimit
  const frames = [...stack.matchAll(/^ +at (?:async )?(?:(\S+) \()?file:.*?\/packages\/([^:]+):\d+:\d+\)?$/gm)]
  return frames
    .map(([, name = '', file = '']) => ({ name: name.slice(name.lastIndexOf('.') + 1), file }))
    .filter(({ file }) => !file.endsWith('walk.test.ts'))
    .toReversed()
}

/** Notes which of our functions calls which, wherever a promise is chained or the clock is read, until `stop`. */
function watchCalls(): { readonly calls: ReadonlySet<string>; readonly stop: () => void } {
  const calls = new Set<string>()
  const note = (): void => {
    const stack = stackHere()
    for (const [at, step] of stack.entries()) calls.add(callOf(stack[at - 1], step))
  }
  const mocks = [
    mock.method(Date, 'now', noting(note, Date.now)),
    mock.method(Promise.prototype, 'then', noting(note, Reflect.get(Promise.prototype, 'then'))),
  ]
  return { calls, stop: () => mocks.forEach((each) => each.mock.restore()) }
}

function noting<Args extends unknown[], Result>(
  note: () => void,
  own: (...args: Args) => Result,
): (...args: Args) => Result {
  return function (this: unknown, ...args) {
    note()
    return own.apply(this, args)
  }
}

function callOf(caller: Step | undefined, { file, name }: Step): string {
  return `${caller === undefined ? 'nothing' : `${caller.file} ${caller.name}`} calls ${file} ${name}`
}

interface Walk {
  readonly calls: ReadonlySet<string>
  readonly atModel: Step[]
  readonly atListener: Step[]
  readonly called: ReadonlySet<string>
}

async function walk(): Promise<Walk> {
  const inspector = new Inspector()
  inspector.connect()
  await inspector.post('Profiler.enable')
  const model = scriptedModel([{ text: ['One ', 'two ', 'three.'] }])
  const own = model.doStream.bind(model)
  let atModel: Step[] = []
  let atListener: Step[] = []
  model.doStream = (options) => {
    atModel = stackHere()
    return own(options)
  }
  const agent = new Agent({ id: 'me', name: 'Me', instructions: 'Answer.', model })
  const harness = new Harness({ id: 'walk', modes: [{ id: 'talk', default: true, agent }] })
  await harness.init()
  harness.subscribe((event) => {
    if (event.type === 'message_update') atListener = stackHere()
  })
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const { calls, stop } = watchCalls()
  await harness.sendMessage({ content: 'Hello.' })
  stop()
  const { result } = await inspector.post('Profiler.takePreciseCoverage')
  inspector.disconnect()
  await harness.destroy()
  const called = result.flatMap(({ functions, url }) =>
    functions
      .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
      .map(({ functionName }) => `${url.replace(/.*\/packages\//, '')} ${functionName}`),
  )
  return { atModel, atListener, called: new Set(called), calls }
}

suite('the walk of a message', async () => {
  const { atListener, atModel, called, calls } = await walk()

  test(`has at most ${MAX_DOWN} functions down and ${MAX_UP} up`, () => {
    assert.ok(down.length > 0 && down.length <= MAX_DOWN, `${down.length} down`)
    assert.ok(up.length > 0 && up.length <= MAX_UP, `${up.length} up`)
  })

  test('calls every function in the tables', () => {
    const named = [...down, ...up].filter(({ name }) => name !== '')
    assert.deepEqual(
      named.filter(({ file, name }) => !called.has(`${file} ${name}`)),
      [],
    )
  })

  test('goes down from each function to the next, with no other between them', () => {
    const missing = down.flatMap((step, at) => {
      const caller = down[at - 1]
      // The mailbox carries the task out later.
      return caller === undefined || caller.name === 'post' || calls.has(callOf(caller, step))
        ? []
        : [callOf(caller, step)]
    })
    assert.deepEqual(missing, [])
  })

  test('goes up from the pump to the listener through these functions and no others', () => {
    const fromPump = atListener.slice(atListener.findIndex(({ name }) => name === 'pump'))
    assert.deepEqual(fromPump, up.slice(up.findIndex(({ name }) => name === 'pump')))
  })

  test('goes down from the turn to the model through these functions and no others', () => {
    const isStep = ({ name }: Step): boolean => name !== ''
    const fromTake = atModel.filter(isStep)
    assert.deepEqual(fromTake, down.slice(down.findIndex(({ name }) => name === '#take')))
  })
})
