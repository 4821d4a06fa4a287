import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import { NO_GRANTS, NO_RULES, type PatternRule, type PermissionRules } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import { scriptedModel } from '@inspan/testing'
import { createPolicy } from '../../policy/index.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import type { ConfigChange, ThreadRuntimeOptions } from '../thread-options.ts'

type Rules = Partial<PermissionRules>

const rules = (stated: Rules): PermissionRules => ({ ...NO_RULES, ...stated })
const make = (policy: PatternRule['policy'], pattern = 'make *'): PatternRule => {
  return { tool: 'execute_command', pattern, policy }
}

/** A native agent that runs `make` once, and a count of its runs. */
class Maker {
  runs = 0
  readonly tool: RunnableTool = {
    name: 'execute_command',
    description: 'Runs a command.',
    category: 'execute',
    inputSchema: { type: 'object' },
    execute: async () => {
      this.runs++
      return { result: 'ok' }
    },
  }

  open(harness: PermissionRules, options: Partial<ThreadRuntimeOptions> = {}): Promise<RuntimeBench> {
    const calls = [{ id: 'c', name: 'execute_command', input: { command: 'make' } }]
    const model = scriptedModel([{ toolCalls: calls }, { text: 'Done.' }])
    const agents = { native: { driver: nativeDriver({ id: 'native', model }), tools: [this.tool] } }
    return RuntimeBench.open(agents, { policy: createPolicy({ rules: harness }), ...options })
  }
}

/** Returns what happens to the call in a thread of a harness with these rules: `run`, `denied`, or the question. */
async function outcome(
  harness: Rules,
  thread: ConfigChange = {},
  session: Partial<ThreadRuntimeOptions> = {},
): Promise<string> {
  const maker = new Maker()
  await using bench = await maker.open(rules(harness), session)
  await bench.runtime.configure(thread)
  const handle = await bench.submit('go', { agentId: 'native' })
  await bench.until(() => !bench.isRunning() || bench.runtime.state.head.waits.size > 0)
  const [wait] = bench.runtime.state.head.waits
  if (wait === undefined) {
    assert.equal(await handle.done, 'complete')
    return maker.runs === 1 ? 'run' : 'denied'
  }
  await bench.runtime.answer(wait.id, { decision: 'decline' })
  await handle.done
  assert.equal(maker.runs, 0)
  return wait.description
}

const ALL_ALLOWED: Rules = {
  categories: { execute: 'allow' },
  tools: { execute_command: 'allow' },
  patterns: [make('allow')],
}
const GRANTED: ConfigChange = { grants: { tools: ['execute_command'], categories: ['execute'] } }

suite('if two rules contradict each other about a call,', () => {
  for (const [what, deny] of [
    ['category', { categories: { execute: 'deny' } }],
    ['tool', { tools: { execute_command: 'deny' } }],
    ['pattern', { patterns: [make('deny')] }],
  ] as const) {
    test(`a deny (${what}) overrides everything that allows, wherever it was set`, async () => {
      const free: ConfigChange = { ...GRANTED, yolo: true }
      assert.equal(await outcome(deny, { ...free, rules: rules(ALL_ALLOWED) }), 'denied')
      assert.equal(await outcome(ALL_ALLOWED, { ...free, rules: rules(deny) }), 'denied')
      assert.equal(await outcome(ALL_ALLOWED, free, { sessionRules: () => rules(deny) }), 'denied')
    })
  }

  test('yolo overrides everything that asks', async () => {
    const asks: Rules = {
      categories: { execute: 'ask' },
      tools: { execute_command: 'ask' },
      patterns: [make('ask')],
    }
    assert.equal(await outcome(asks, { yolo: true }), 'run')
  })

  test('the strictest of the patterns overrides the rule of the tool', async () => {
    const both = [make('allow'), make('ask', 'make')]
    assert.match(await outcome({ patterns: both, tools: { execute_command: 'allow' } }), /ask execute_command\(make\)/)
    assert.equal(await outcome({ patterns: [make('allow')], tools: { execute_command: 'ask' } }), 'run')
  })

  test('the rule of the tool overrides a grant', async () => {
    assert.match(await outcome({ tools: { execute_command: 'ask' } }, GRANTED), /ask execute_command`/)
  })

  test('a grant, of the tool or of its category, overrides the rule of the category', async () => {
    const asks: Rules = { categories: { execute: 'ask' } }
    assert.equal(await outcome(asks, { grants: { ...NO_GRANTS, tools: ['execute_command'] } }), 'run')
    assert.equal(await outcome(asks, { grants: { ...NO_GRANTS, categories: ['execute'] } }), 'run')
    assert.equal(await outcome(asks, {}, { grants: () => ({ ...NO_GRANTS, tools: ['execute_command'] }) }), 'run')
  })

  test('the rule of the category decides if there is no other, and without any rule the call asks', async () => {
    assert.equal(await outcome({ categories: { execute: 'allow' } }), 'run')
    assert.match(await outcome({ categories: { execute: 'ask' } }), /ask category execute/)
    assert.match(await outcome({}), /no rule allows `make`/)
  })
})

suite('a call is judged again before its effect:', () => {
  /** Changes the rules while the start of the call is being written. */
  async function changed(change: ConfigChange): Promise<{ maker: Maker; bench: RuntimeBench; done: Promise<string> }> {
    const maker = new Maker()
    let isFirst = true
    const bench = await maker.open(rules({}), {
      faults: {
        reach(point) {
          if (point !== 'tool.before' || !isFirst) return
          isFirst = false
          void bench.runtime.configure(change)
        },
      },
    })
    await bench.runtime.configure({ yolo: true })
    const { done } = await bench.submit('go', { agentId: 'native' })
    return { maker, bench, done }
  }

  test('a call that was allowed is denied by a rule that was set since', async () => {
    const { bench, done, maker } = await changed({ rules: rules({ patterns: [make('deny')] }) })
    await using _ = bench
    assert.equal(await done, 'complete')
    assert.equal(maker.runs, 0)
    assert.deepEqual(bench.runtime.state.head.inDoubt, [], 'nobody wonders whether it had its effect')
    assert.match(JSON.stringify(await bench.records()), /The call was denied: `make` is denied/)
  })

  test('a call that was allowed is asked about because of a rule that was set since', async () => {
    const { bench, done, maker } = await changed({ yolo: false })
    await using _ = bench
    const wait = await bench.wait()
    assert.equal(maker.runs, 0)
    await bench.runtime.answer(wait.id, { decision: 'approve' })
    assert.equal(await done, 'complete')
    assert.equal(maker.runs, 1)
  })
})
