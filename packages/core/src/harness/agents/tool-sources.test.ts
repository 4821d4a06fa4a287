import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Agent, createTool } from '@inspan/agent'
import type { SourcedTool, ToolSource } from '@inspan/protocol/driver'
import { HarnessBench } from '../harness.fixture.ts'

const inputSchema = { type: 'object' } as const

/** A source that says what was called, and whether it was closed. */
class Source implements ToolSource {
  readonly id: string
  readonly log: string[] = []
  tools: readonly SourcedTool[]

  constructor(id: string, names: readonly string[]) {
    this.id = id
    this.tools = names.map((name) => ({ name, description: `From ${id}.`, inputSchema }))
  }

  list(): readonly SourcedTool[] {
    return this.tools
  }

  async call(name: string): Promise<{ result: string }> {
    this.log.push(name)
    return { result: `${name} of ${this.id}` }
  }

  async close(): Promise<void> {
    this.log.push('closed')
  }
}

const offered = ({ model }: HarnessBench, step = 0): string[] =>
  ((model.requests[step]?.tools ?? []) as readonly { readonly name: string }[]).map(({ name }) => name)

const BUILTIN = {
  disableBuiltinTools: [
    'ask_user',
    'submit_plan',
    'task_write',
    'task_update',
    'task_complete',
    'task_check',
    'request_access',
  ],
} as const

suite('the tools of a turn', () => {
  test('are those of the mode, the agent, the harness and all their sources', async () => {
    const own = createTool({ id: 'own', description: 'Own.', execute: () => 'own' })
    await using bench = new HarnessBench(
      [
        {
          toolCalls: [
            { id: 'c1', name: 'of_agent', input: {} },
            { id: 'c2', name: 'of_mode', input: {} },
          ],
        },
        { text: 'Done.' },
      ],
      {
        ...BUILTIN,
        initialState: { yolo: true },
        tools: { own },
        toolSources: [new Source('house', ['of_harness'])],
        modes: [{ id: 'build', toolSources: [new Source('mode', ['of_mode'])] }],
      },
      { toolSources: [new Source('agent', ['of_agent'])] },
    )
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(offered(bench), ['own', 'of_mode', 'of_agent', 'of_harness'])
    assert.deepEqual(
      bench.all('tool_end').map(({ result }) => result),
      ['of_agent of agent', 'of_mode of mode'],
    )
  })

  test('replaced by a mode leave the sources of the agent out', async () => {
    await using bench = new HarnessBench(
      [{ text: 'Done.' }],
      { ...BUILTIN, modes: [{ id: 'build', tools: {} }] },
      { toolSources: [new Source('agent', ['of_agent'])] },
    )
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(offered(bench), [])
  })

  test('the tools of a turn that come and go are offered from the next step on', async () => {
    const source = new Source('house', ['first'])
    const look = createTool({
      id: 'look',
      description: 'Looks.',
      execute: () => {
        source.tools = [{ name: 'second', inputSchema }]
        return 'seen'
      },
    })
    await using bench = new HarnessBench([{ toolCalls: [{ id: 'c1', name: 'look', input: {} }] }, { text: 'Done.' }], {
      ...BUILTIN,
      initialState: { yolo: true },
      tools: { look },
      toolSources: [source],
    })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(
      [offered(bench, 0), offered(bench, 1)],
      [
        ['look', 'first'],
        ['look', 'second'],
      ],
    )
  })

  test('with one name are offered once, and the other is reported once', async () => {
    const own = createTool({ id: 'own', description: 'Own.', execute: () => 'own' })
    await using bench = new HarnessBench([{ toolCalls: [{ id: 'c1', name: 'same', input: {} }] }, { text: 'Done.' }], {
      ...BUILTIN,
      initialState: { yolo: true },
      tools: { own },
      toolSources: [new Source('a', ['same']), new Source('b', ['same', 'own'])],
    })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(offered(bench), ['own', 'same'])
    assert.deepEqual(
      bench.all('info').map(({ message }) => message),
      [
        'Tool "same" of "b" is not offered: another tool has this name.',
        'Tool "own" of "b" is not offered: another tool has this name.',
      ],
    )
    assert.equal(bench.all('tool_end')[0]?.result, 'same of a')
  })

  test('never include one that poses as a built-in tool, which would need no approval', async () => {
    const source = new Source('house', ['ask_user'])
    await using bench = new HarnessBench(
      [{ toolCalls: [{ id: 'c1', name: 'ask_user', input: {} }] }, { text: 'Done.' }],
      {
        ...BUILTIN,
        toolSources: [source],
      },
    )
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual([offered(bench), source.log], [[], []])
  })

  test('do not miss those of other sources when one source fails', async () => {
    const broken = new Source('broken', [])
    broken.list = () => {
      throw new Error('the wire is cut')
    }
    await using bench = new HarnessBench([{ text: 'Done.' }], {
      ...BUILTIN,
      toolSources: [broken, new Source('house', ['well'])],
    })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(offered(bench), ['well'])
    assert.equal(bench.all('info')[0]?.message, 'The tools of "broken" could not be listed: the wire is cut')
  })
})

suite('a source', () => {
  test('a source that was given stays open when the harness is destroyed', async () => {
    const source = new Source('house', ['x'])
    const bench = new HarnessBench([{ text: 'Done.' }], { toolSources: [source] })
    await bench.harness.sendMessage({ content: 'Go.' })
    await bench.harness.destroy()
    assert.deepEqual(source.log, [])
  })

  test('without its methods is refused', () => {
    const bad = { id: 'bad', list: () => [] } as unknown as ToolSource
    assert.throws(() => new HarnessBench([], { toolSources: [bad] }), /`toolSources\[0\]` has to be a tool source/)
    assert.throws(
      () => new Agent({ id: 'a', model: 'x/y', toolSources: 'all' as unknown as ToolSource[] }),
      /toolSources/,
    )
  })
})
