import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { brief } from '../../../test/brief.ts'
import { eventsOf, fixtureNames, mapFixture, mapRun, readFixture, type MappedRun } from '../../../test/support.ts'
import { mutateLine, pseudoRandom } from '../../../test/mutate.ts'
import { codexAppServerDialect as dialect } from './mapper.ts'

const MAIN = 'thread-1'
const place = { threadId: MAIN, turnId: 'turn-1' }

const begin = {
  method: 'turn/started',
  params: { threadId: MAIN, turn: { id: 'turn-1', rootTurnId: 'turn-1', status: 'inProgress' } },
}
const end = (status = 'completed', error: object | null = null): object => ({
  method: 'turn/completed',
  params: { threadId: MAIN, turn: { id: 'turn-1', rootTurnId: 'turn-1', status, error } },
})
const started = (item: object, more: object = {}): object => ({
  method: 'item/started',
  params: { item, ...place, ...more },
})
const completed = (item: object, more: object = {}): object => ({
  method: 'item/completed',
  params: { item, ...place, ...more },
})
const notice = (method: string, params: object = {}): object => ({ method, params: { ...place, ...params } })

function run(...lines: readonly object[]): MappedRun {
  return mapRun(dialect, [begin, ...lines])
}

function inTurn(...lines: readonly object[]): readonly string[] {
  return brief(run(...lines, end()).activity)
}

describe('recorded runs', () => {
  for (const [name, activity] of Object.entries({
    'commands-and-files': [
      'agent: Running.',
      'read /workspace/hello.txt',
      'read /workspace/hello.txt:2-4',
      'search TODO in /workspace/src/app.js',
      'search *.js in /workspace',
      'list /workspace/src',
      'read /workspace/src/app.js',
      "command /bin/bash -lc 'echo oops >&2; exit 3' → 3 ✗",
      'write /workspace/new.txt',
      'agent: All done.',
    ],
    approvals: [
      "command /bin/bash -lc 'touch ok' → 0",
      "command /bin/bash -lc 'touch nope' ✗",
      'write /workspace/new.txt ✗',
      'agent: End.',
    ],
    interrupted: ['agent: Sleeping.', "command /bin/bash -lc 'sleep 20' ✗"],
    steering: ["command /bin/bash -lc 'sleep 1.5; echo slept' → 0", 'agent: Finished with steer.'],
    'steered-while-speaking': ["command /bin/bash -lc 'sleep 1; echo x' → 0", 'agent: Do', 'agent: After.'],
    subagent: [
      'agent: Delegating.',
      'subagent_started check_files ?',
      'list /workspace/src',
      'subagent_completed check_files',
      'agent: Subagent finished.',
    ],
    'mcp-call': ['unknown', 'agent: Done'],
    'provider-401': [
      'warning [retry]: Reconnecting... 1/1: unexpected status 401 Unauthorized: nope, url: http://127.0.0.1:8080/v1/responses',
      'error [401]: unexpected status 401 Unauthorized: nope, url: http://127.0.0.1:8080/v1/responses',
    ],
    'resumed-thread': ['agent: A3'],
  })) {
    it(name, () => {
      const said = brief(mapFixture(dialect, name).activity).filter(
        (line) => !line.startsWith('warning [configWarning]'),
      )
      assert.deepEqual(said, activity)
    })
  }

  for (const name of fixtureNames(dialect.id)) {
    it(`every line of ${name} is counted once, and the turn has one start and one finish`, () => {
      const { lines } = readFixture(dialect.id, name)
      const { events, sums } = mapFixture(dialect, name)
      assert.equal(sums.lines, lines.length)
      assert.equal(sums.events + sums.consumed, sums.lines)
      assert.deepEqual([sums.waiting, sums.faults, sums.reasons['unexplained']], [0, 0, undefined])
      for (const type of ['start', 'finish']) assert.equal(events.filter((event) => event.type === type).length, 1)
    })
  }

  it('lose nothing when they are damaged', () => {
    const random = pseudoRandom(7)
    for (const name of fixtureNames(dialect.id)) {
      const { lines } = readFixture(dialect.id, name)
      for (let round = 0; round < 30; round += 1) {
        const damaged = lines.flatMap((line) => mutateLine(line, lines, random, round))
        const { events, sums } = mapRun(dialect, damaged)
        assert.deepEqual([sums.lines, sums.events + sums.consumed], [damaged.length, damaged.length], name)
        assert.deepEqual([sums.waiting, sums.faults], [0, 0], name)
        assert.equal(events.filter(({ type }) => type === 'finish').length, 1, name)
      }
    }
  })
})

describe('a turn', () => {
  it('has the places of its thread', () => {
    const { events, mapper } = run(completed({ type: 'agentMessage', id: 'i1', text: 'Hi.' }), end())
    const text = events.find((event) => event.type === 'text-delta')
    assert.deepEqual(text?.native, { sessionId: MAIN, turnId: 'turn-1', itemId: 'i1' })
    assert.deepEqual(events.at(-1)?.native, { sessionId: MAIN, turnId: 'turn-1' })
    assert.equal(mapper.sessionId, MAIN)
  })

  it('a turn that failed has one error, even if several records report it', () => {
    const error = { message: 'No.', codexErrorInfo: 'unauthorized' }
    const mapped = run(notice('error', { error, willRetry: false }), end('failed', error))
    assert.deepEqual(brief(mapped.activity), ['error [unauthorized]: No.'])
    assert.equal(eventsOf(mapped, 'error').length, 1)
    assert.equal(eventsOf(mapped, 'finish')[0]?.finishReason, 'error')
  })

  it('a turn that continues after an error has not failed', () => {
    const mapped = run(notice('error', { error: { message: 'Oh.' }, willRetry: false }), end())
    assert.deepEqual(brief(mapped.activity), ['error: Oh.'])
    assert.equal(eventsOf(mapped, 'error').length, 0)
    assert.equal(eventsOf(mapped, 'finish')[0]?.finishReason, 'stop')
  })

  it('a turn that ends silently after an error has failed with that error', () => {
    const mapped = run(notice('error', { error: { message: 'Oh.' }, willRetry: false }))
    assert.equal(eventsOf(mapped, 'error').length, 1)
  })

  it('in a thread that was forked off is the agent’s like those before', () => {
    const fork = { threadId: 'fork', turnId: 'turn-2' }
    const said = (text: string, where: object): object => completed({ type: 'agentMessage', id: text, text }, where)
    const mapped = run(
      said('First.', {}),
      end(),
      { method: 'thread/started', params: { thread: { id: 'fork', forkedFromId: MAIN, parentThreadId: null } } },
      { method: 'turn/started', params: { threadId: 'fork', turn: { id: 'turn-2', rootTurnId: 'turn-2' } } },
      said('Forked.', fork),
      { method: 'turn/completed', params: { threadId: 'fork', turn: { id: 'turn-2', status: 'completed' } } },
    )
    const [first, changed, second] = brief(mapped.activity)
    assert.deepEqual([first, second], ['agent: First.', 'agent: Forked.'])
    assert.match(changed ?? '', /^warning \[session-changed\]/)
    assert.deepEqual(mapped.events.at(-1)?.native, { sessionId: 'fork', turnId: 'turn-2' })
  })

  it('a turn that was interrupted closes what it was doing', () => {
    const command = { type: 'commandExecution', id: 'c1', command: 'make', cwd: '/w', status: 'inProgress' }
    const mapped = run(started(command), end('interrupted'))
    assert.deepEqual(brief(mapped.activity), ['command make ✗'])
    assert.equal(eventsOf(mapped, 'finish')[0]?.finishReason, 'other')
  })
})

describe('steps', () => {
  it('begin with their first item and end with what they used', () => {
    const usage = (n: number): object =>
      notice('thread/tokenUsage/updated', {
        tokenUsage: {
          last: { inputTokens: n, cachedInputTokens: 2, outputTokens: 1 },
          total: { inputTokens: 100 + n },
        },
      })
    const mapped = run(
      completed({ type: 'agentMessage', id: 'i1', text: 'One.' }),
      usage(10),
      completed({ type: 'agentMessage', id: 'i2', text: 'Two.' }),
      usage(20),
      end(),
    )
    assert.deepEqual(
      eventsOf(mapped, 'step-finish').map(({ usage: used }) => [used?.inputTokens, used?.cachedInputTokens]),
      [
        [8, 2],
        [18, 2],
      ],
    )
    assert.equal(eventsOf(mapped, 'finish')[0]?.usage?.inputTokens, 26)
    assert.equal(mapped.mapper.usage.totals?.inputTokens, 120)
  })

  it('steps of earlier turns are not counted again when a thread is resumed', () => {
    const { mapper } = mapFixture(dialect, 'resumed-thread')
    assert.equal(mapper.usage.turn().find(({ scope }) => scope === 'own')?.totalTokens, 120)
    assert.equal(mapper.usage.totals?.totalTokens, 360)
  })

  it('steps of subagents belong to the subagents', () => {
    const { mapper } = mapFixture(dialect, 'subagent')
    assert.deepEqual(
      mapper.usage.turn().map(({ scope, totalTokens }) => [scope, totalTokens]),
      [
        ['own', 360],
        ['subagents', 240],
      ],
    )
  })
})

describe('texts', () => {
  it('are emitted once, as they arrive', () => {
    const mapped = run(
      started({ type: 'agentMessage', id: 'i1', text: '' }),
      notice('item/agentMessage/delta', { itemId: 'i1', delta: 'He' }),
      notice('item/agentMessage/delta', { itemId: 'i1', delta: 'llo' }),
      completed({ type: 'agentMessage', id: 'i1', text: 'Hello.' }),
      end(),
    )
    assert.deepEqual(
      eventsOf(mapped, 'text-delta').map(({ text }) => text),
      ['He', 'llo', '.'],
    )
    assert.deepEqual(brief(mapped.activity), ['agent: Hello.'])
  })

  it('text that was cut off comes before the answer that follows', () => {
    const said = inTurn(
      notice('item/agentMessage/delta', { itemId: 'i1', delta: 'Half an' }),
      notice('error', { error: { message: 'Reconnecting' }, willRetry: true }),
      completed({ type: 'agentMessage', id: 'i2', text: 'Whole.' }),
    )
    assert.deepEqual(said, ['warning [retry]: Reconnecting', 'agent: Half an', 'agent: Whole.'])
  })

  it('reasoning has parts of its own', () => {
    const mapped = run(
      notice('item/reasoning/summaryPartAdded', { itemId: 'r1', summaryIndex: 0 }),
      notice('item/reasoning/summaryTextDelta', { itemId: 'r1', delta: 'a', summaryIndex: 0 }),
      notice('item/reasoning/summaryPartAdded', { itemId: 'r1', summaryIndex: 1 }),
      notice('item/reasoning/summaryTextDelta', { itemId: 'r1', delta: 'b', summaryIndex: 1 }),
      notice('item/reasoning/textDelta', { itemId: 'r1', delta: 'raw', contentIndex: 0 }),
      completed({ type: 'reasoning', id: 'r1', summary: ['a', 'b'], content: ['raw'] }),
      end(),
    )
    const byPart = Map.groupBy(eventsOf(mapped, 'reasoning-delta'), ({ partId }) => partId)
    const said = [...byPart.values()].map((deltas) => deltas.map(({ text }) => text).join(''))
    assert.deepEqual(said, ['a\n\nb', 'raw'])
    assert.deepEqual(mapped.activity, [])
  })

  it('the text of a subagent is not the answer', () => {
    const text = completed({ type: 'agentMessage', id: 'i9', text: 'Sub.' }, { threadId: 'thread-2' })
    assert.deepEqual(inTurn(text), [])
  })
})

describe('items', () => {
  const file = (path: string, kind: string): object => ({ path, kind: { type: kind }, diff: '' })

  for (const [what, item, activity] of [
    ['a command', { type: 'commandExecution', command: 'make', cwd: '/w', exitCode: 2 }, ['command make → 2 ✗']],
    ['a command in a directory', { type: 'commandExecution', command: 'cat a', cwd: '/w', exitCode: 0 }, ['read /w/a']],
    ['a command that was declined', { type: 'commandExecution', command: 'x', status: 'declined' }, ['command x ✗']],
    [
      'reads that were declined',
      { type: 'commandExecution', command: 'cat /a /b', status: 'declined' },
      ['read /a ✗', 'read /b ✗'],
    ],
    [
      'a change of files',
      { type: 'fileChange', changes: [file('/a', 'add'), file('/b', 'delete')], status: 'completed' },
      ['write /a', 'write /b'],
    ],
    [
      'a file that is moved',
      { type: 'fileChange', changes: [{ path: '/a', kind: { type: 'update', move_path: '/b' } }], status: 'completed' },
      ['write /a', 'write /b'],
    ],
    ['a picture', { type: 'imageView', path: '/a.png' }, ['read /a.png ?']],
    ['a tool of an MCP server', { type: 'mcpToolCall', server: 's', tool: 't', status: 'failed' }, ['unknown']],
    ['a search of the web', { type: 'webSearch', query: 'q' }, ['unknown']],
    [
      'a subagent of the first kind',
      {
        type: 'collabAgentToolCall',
        tool: 'spawnAgent',
        status: 'completed',
        receiverThreadIds: ['t2'],
        agentsStates: {},
      },
      ['subagent_started ? ?'],
    ],
    [
      'a report on subagents',
      {
        type: 'collabAgentToolCall',
        tool: 'wait',
        agentsStates: { t2: { status: 'errored' }, t3: { status: 'notFound' } },
      },
      // `t3` does not exist, so it has not failed.
      ['subagent_failed ? ✗'],
    ],
    ['something new', { type: 'teleport', to: 'here' }, ['unknown']],
    ['a plan', { type: 'plan', text: 'First…' }, []],
  ] as const) {
    it(what, () => {
      const whole = { id: 'i1', ...item }
      assert.deepEqual(inTurn(completed(whole)), activity)
      assert.deepEqual(inTurn(started(whole), completed(whole)), activity)
    })
  }

  it('show what they print while they run', () => {
    const item = { type: 'commandExecution', id: 'c1', command: 'make', cwd: '/w' }
    const mapped = run(
      started(item),
      notice('item/commandExecution/outputDelta', { itemId: 'c1', delta: 'cc\n' }),
      completed({ ...item, exitCode: 0, aggregatedOutput: 'cc\n' }),
      end(),
    )
    assert.deepEqual(
      eventsOf(mapped, 'tool-progress').map(({ output, toolCallId }) => [output, toolCallId]),
      [['cc\n', 'c1']],
    )
    assert.equal(eventsOf(mapped, 'tool-result')[0]?.result, 'cc\n')
  })
})

describe('subagents', () => {
  const activity = (kind: string, id: string): object =>
    completed({ type: 'subAgentActivity', id, kind, agentThreadId: 'thread-2', agentPath: '/root/look' })

  it('are calls, and what they do is below them', () => {
    const { events } = mapFixture(dialect, 'subagent')
    const spawn = events.find((event) => event.type === 'tool-call' && event.toolName === 'spawn_agent')
    const id = spawn?.type === 'tool-call' ? spawn.toolCallId : undefined
    const below = events.filter(({ parentToolCallId }) => parentToolCallId === id)
    assert.ok(below.some(({ type }) => type === 'tool-result'))
    assert.ok(below.some(({ type }) => type === 'text-delta'))
  })

  it('subagents that never come to an end have failed', () => {
    assert.deepEqual(inTurn(activity('started', 's1')), ['subagent_started look ?', 'subagent_failed look ✗'])
  })

  it('subagents of the first kind have failed if the agent still waits for them at the end', () => {
    const item = { type: 'collabAgentToolCall', id: 'i1', tool: 'wait', receiverThreadIds: ['t2'], agentsStates: {} }
    assert.deepEqual(inTurn(started(item)), ['subagent_failed ? ✗'])
  })

  it('subagents that fail have failed once', () => {
    const failed = {
      method: 'turn/completed',
      params: { threadId: 'thread-2', turn: { id: 'turn-9', rootTurnId: 'turn-1', status: 'failed' } },
    }
    assert.deepEqual(inTurn(activity('started', 's1'), failed, activity('interrupted', 's2')), [
      'subagent_started look ?',
      'subagent_failed look ✗',
    ])
  })
})

describe('everything else', () => {
  for (const [what, line, activity] of [
    ['a warning', notice('warning', { message: 'Careful.' }), ['warning [warning]: Careful.']],
    [
      'a server that did not start',
      notice('mcpServer/startupStatus/updated', { name: 's', status: 'failed', error: 'no' }),
      ['warning [mcp-server]: MCP server s: no'],
    ],
    ['a server that did', notice('mcpServer/startupStatus/updated', { name: 's', status: 'ready', error: null }), []],
    [
      'a hook that fails',
      notice('hook/completed', { run: { eventName: 'stop', status: 'failed', entries: [{ text: 'x' }] } }),
      ['warning [hook-failed]: stop: x'],
    ],
    [
      'another model',
      notice('model/rerouted', { toModel: 'm2' }),
      ['warning [model/rerouted]: The model was changed to m2.'],
    ],
    ['an answer to us', { id: 7, result: {} }, []],
    ['a question to us', { id: 7, method: 'item/tool/requestUserInput', params: {} }, []],
    ['a question of a new kind', { id: 7, method: 'brand/new', params: {} }, ['unknown']],
    ['a notification of a new kind', notice('brand/new'), ['unknown']],
    ['a record of a new kind', { jsonrpc: '2.0' }, ['unknown']],
  ] as const) {
    it(what, () => {
      assert.deepEqual(inTurn(line), activity)
    })
  }

  it('a line of its log on standard error is a warning with its place', () => {
    const { activity } = mapRun(dialect, [], {
      stderr: ['\u001b[2m2026-01-01T00:00:00Z\u001b[0m \u001b[31mERROR\u001b[0m codex_core::x: it broke'],
    })
    assert.deepEqual(brief(activity), ['warning [codex_core::x]: it broke'])
  })
})
