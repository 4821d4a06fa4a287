import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventsOf, mapFixture, mapRun, unstamped, type RunOptions } from '../../test/support.ts'
import { codexDialect } from './mapper.ts'

const thread = { type: 'thread.started', thread_id: 'thread-1' }
const turn = { type: 'turn.started' }

function map(lines: readonly unknown[], options?: RunOptions): readonly object[] {
  return unstamped(mapRun(codexDialect, lines, options).activity)
}

function activity(name: string, options?: RunOptions): readonly object[] {
  return unstamped(mapFixture(codexDialect, name, options).activity)
}

function started(id: string, item: object): object {
  return { type: 'item.started', item: { id, ...item } }
}

function completed(id: string, item: object): object {
  return { type: 'item.completed', item: { id, ...item } }
}

/** The two records of one command. */
function command(text: string, exitCode: number | null, status = 'completed'): readonly object[] {
  const item = { type: 'command_execution', command: text, aggregated_output: '' }
  return [
    started('item_0', { ...item, exit_code: null, status: 'in_progress' }),
    completed('item_0', { ...item, exit_code: exitCode, status }),
  ]
}

describe('Codex: items', () => {
  it('a command reports its exit code and whether that is success', () => {
    assert.deepEqual(map(command("/bin/bash -lc 'npm test'", 0)), [
      { type: 'command', command: "/bin/bash -lc 'npm test'", exitCode: 0, isSuccess: true },
    ])
    assert.deepEqual(map(command("/bin/bash -lc 'npm test'", 2, 'failed')), [
      { type: 'command', command: "/bin/bash -lc 'npm test'", exitCode: 2, isSuccess: false },
    ])
  })

  it('completed without an exit code is not success', () => {
    assert.deepEqual(map(command('make', null)), [{ type: 'command', command: 'make' }])
    assert.deepEqual(map(command('make', null, 'failed')), [{ type: 'command', command: 'make', isSuccess: false }])
    assert.deepEqual(map(command('make', null, 'declined')), [{ type: 'command', command: 'make', isSuccess: false }])
    assert.deepEqual(map(command('cat /a /b', null, 'declined')), [
      { type: 'read', path: '/a', isSuccess: false },
      { type: 'read', path: '/b', isSuccess: false },
    ])
  })

  it('cat and printing sed are reads, rg, grep and find are searches, ls is a list', () => {
    const shell = (text: string): readonly object[] => map(command(`bash -lc ${JSON.stringify(text)}`, 0))
    assert.deepEqual(shell('cat /etc/hosts'), [{ type: 'read', path: '/etc/hosts', isSuccess: true }])
    assert.deepEqual(shell("sed -n '10,20p' a.txt"), [
      { type: 'read', path: 'a.txt', startLine: 10, endLine: 20, isSuccess: true },
    ])
    assert.deepEqual(shell('rg TODO src'), [{ type: 'search', query: 'TODO', path: 'src', isSuccess: true }])
    assert.deepEqual(shell('grep -n x a.txt'), [{ type: 'search', query: 'x', path: 'a.txt', isSuccess: true }])
    assert.deepEqual(shell('find . -name "*.md"'), [{ type: 'search', query: '*.md', path: '.', isSuccess: true }])
    assert.deepEqual(shell('ls src'), [{ type: 'list', path: 'src', isSuccess: true }])
    assert.deepEqual(
      shell('cat a.txt > b.txt').map((event) => 'type' in event && event.type),
      ['command'],
    )
  })

  it('paths stay as written, because a command may have run in a directory that is not printed', () => {
    const lines = command("/bin/bash -lc 'cd src && cat app.js'", 0)
    assert.deepEqual(unstamped(mapRun(codexDialect, lines).activity), [
      { type: 'read', path: 'src/app.js', isSuccess: true },
    ])
    assert.deepEqual(map(command('cat b.js', 0)), [{ type: 'read', path: 'b.js', isSuccess: true }])
  })

  it('a version that reports where a command ran is believed', () => {
    const ran = (text: string, place: object): readonly object[] =>
      map([completed('i', { type: 'command_execution', command: text, exit_code: 0, status: 'completed', ...place })])
    for (const place of [{ cwd: '/repo' }, { workdir: '/repo' }, { working_directory: '/repo' }]) {
      assert.deepEqual(ran('make', place), [
        { type: 'command', command: 'make', workingDirectory: '/repo', exitCode: 0, isSuccess: true },
      ])
      assert.deepEqual(ran("bash -lc 'cat a.txt'", place), [{ type: 'read', path: '/repo/a.txt', isSuccess: true }])
    }
  })

  it('the kind of an item is also read from the field that older versions use', () => {
    assert.deepEqual(
      map([
        completed('a', { item_type: 'command_execution', command: 'make', exit_code: 0 }),
        completed('b', { item_type: 'assistant_message', text: 'Done.' }),
      ]),
      [
        { type: 'command', command: 'make', exitCode: 0, isSuccess: true },
        { type: 'agent', message: 'Done.' },
      ],
    )
  })

  it('a search that finds nothing has succeeded', () => {
    assert.deepEqual(map(command("bash -lc 'grep -rn NOPE src'", 1, 'failed')), [
      { type: 'search', query: 'NOPE', path: 'src', isSuccess: true },
    ])
  })

  it('a file change is one write for each path', () => {
    const item = {
      type: 'file_change',
      changes: [
        { path: '/workspace/a.txt', kind: 'add' },
        { path: '/workspace/b.txt', kind: 'delete' },
      ],
    }
    assert.deepEqual(map([completed('item_0', { ...item, status: 'completed' })]), [
      { type: 'write', path: '/workspace/a.txt', isSuccess: true },
      { type: 'write', path: '/workspace/b.txt', isSuccess: true },
    ])
    assert.deepEqual(map([completed('item_0', { ...item, status: 'failed' })])[0], {
      type: 'write',
      path: '/workspace/a.txt',
      isSuccess: false,
    })
  })

  it('messages are the agent’s, reasoning is consumed, error items are errors that end nothing', () => {
    const run = mapRun(codexDialect, [
      thread,
      turn,
      completed('item_0', { type: 'reasoning', text: 'hmm' }),
      completed('item_1', { type: 'error', message: 'A flag is on' }),
      completed('item_2', { type: 'agent_message', text: 'Done' }),
      { type: 'turn.completed', usage: {} },
    ])
    assert.deepEqual(unstamped(run.activity), [
      { type: 'error', message: 'A flag is on' },
      { type: 'agent', message: 'Done' },
    ])
    assert.equal(eventsOf(run, 'error').length, 0)
    assert.deepEqual(
      eventsOf(run, 'finish').map((event) => event.finishReason),
      ['stop'],
    )
    assert.deepEqual(eventsOf(run, 'text-delta')[0]?.native, { sessionId: 'thread-1', itemId: 'item_2' })
    assert.ok(run.activity.every((event) => event.sessionId === 'thread-1'))
  })

  it('an unknown item is reported as unknown, once, with its last record', () => {
    for (const item of [
      { type: 'web_search', query: 'inspan' },
      { type: 'mcp_tool_call', server: 's', tool: 't', arguments: { a: 1 }, status: 'completed' },
      { type: 'todo_list', items: [] },
      { type: 'brand_new' },
    ]) {
      const last = completed('item_0', item)
      const lines = [started('item_0', item), { type: 'item.updated', item: { id: 'item_0', ...item } }, last]
      assert.deepEqual(map(lines), [{ type: 'unknown', raw: last }], item.type)
      const open = mapRun(codexDialect, lines.slice(0, 1))
      assert.deepEqual(
        open.activity.map((event) => event.type),
        ['unknown'],
      )
      assert.equal(open.sums.waiting, 0)
    }
  })

  it('MCP calls are calls with a server', () => {
    const item = { type: 'mcp_tool_call', server: 'files', tool: 'read', arguments: { a: 1 }, status: 'failed' }
    const run = mapRun(codexDialect, [completed('item_0', item)])
    const [call] = eventsOf(run, 'tool-call')
    assert.deepEqual([call?.toolName, call?.serverName, call?.args], ['mcp__files__read', 'files', { a: 1 }])
    assert.equal(eventsOf(run, 'tool-result')[0]?.isError, true)
  })

  const collab = (id: string, tool: string, states: object, receivers: readonly string[] = []): object =>
    completed(id, {
      type: 'collab_tool_call',
      tool,
      receiver_thread_ids: receivers,
      agents_states: states,
      status: 'completed',
    })

  it('subagents that are given more to do are at work again, and end again', () => {
    const told = (...items: readonly object[]): unknown[] =>
      map(items).map((event) => ('action' in event ? event.action : event))
    const spawn = collab('item_0', 'spawn_agent', { a: { status: 'pending_init' } }, ['a'])
    const done = collab('item_1', 'wait', { a: { status: 'completed' } }, ['a'])
    const more = collab('item_2', 'send_input', { a: { status: 'completed' } }, ['a'])
    const again = collab('item_3', 'wait', { a: { status: 'completed' } }, ['a'])
    assert.deepEqual(told(spawn, done, more, again), [
      'subagent_started',
      'subagent_completed',
      'subagent_started',
      'subagent_completed',
    ])
    const instead = collab('item_2', 'send_input', { a: { status: 'interrupted' } }, ['a'])
    assert.deepEqual(told(spawn, instead, again), ['subagent_started', 'subagent_completed'])
  })

  it('a subagent that is closed while it works has failed', () => {
    const spawn = collab('item_0', 'spawn_agent', { a: { status: 'pending_init' } }, ['a'])
    const close = collab('item_1', 'close_agent', { a: { status: 'running' } }, ['a'])
    assert.deepEqual(map([spawn, close]).at(-1), {
      type: 'orchestration',
      action: 'subagent_failed',
      subagentId: 'a',
      isSuccess: false,
    })
    const nobody = collab('item_1', 'close_agent', { b: { status: 'not_found' } }, ['b'])
    assert.equal(map([spawn, nobody]).length, 1)
  })

  it('a subagent that the agent still waits for at the end has failed', () => {
    const open = (tool: string, receivers: readonly string[]): readonly object[] =>
      map([started('item_0', { type: 'collab_tool_call', tool, receiver_thread_ids: receivers, agents_states: {} })])
    const failed = { type: 'orchestration', action: 'subagent_failed', isSuccess: false }
    assert.deepEqual(open('wait', ['a', 'b']), [
      { ...failed, subagentId: 'a' },
      { ...failed, subagentId: 'b' },
    ])
    assert.deepEqual(open('spawn_agent', []), [failed])
    // These calls wait for no subagent, so none is known to have failed.
    for (const tool of ['wait', 'send_input', 'close_agent']) assert.deepEqual(open(tool, []), [], tool)
  })

  it('subagents start with their spawn and end with the first record that reports it', () => {
    assert.deepEqual(
      map([
        collab('item_0', 'spawn_agent', { a: { status: 'pending_init' } }, ['a']),
        collab('item_1', 'spawn_agent', {}, ['b']),
        collab('item_2', 'wait', { a: { status: 'completed' }, b: { status: 'running' } }),
        collab('item_3', 'wait', { b: { status: 'errored', message: 'no' } }),
        // There is no subagent of that name, so none has failed.
        collab('item_6', 'wait', { nobody: { status: 'not_found', message: null } }),
        collab('item_4', 'close_agent', { a: { status: 'completed' } }),
        completed('item_5', { type: 'collab_tool_call', tool: 'spawn_agent', status: 'failed' }),
      ]),
      [
        { type: 'orchestration', action: 'subagent_started', subagentId: 'a' },
        { type: 'orchestration', action: 'subagent_started', subagentId: 'b' },
        { type: 'orchestration', action: 'subagent_completed', subagentId: 'a', isSuccess: true },
        { type: 'orchestration', action: 'subagent_failed', subagentId: 'b', isSuccess: false },
        { type: 'orchestration', action: 'subagent_failed', isSuccess: false },
      ],
    )
  })

  it('two open items with one id are ambiguous', () => {
    const [first] = command('make one', null)
    const [second, done] = command('make two', 0)
    const run = mapRun(codexDialect, [first, second, done])
    assert.deepEqual(
      run.activity.map((event) => event.type),
      ['unknown', 'unknown', 'unknown'],
    )
    assert.equal(run.sums.waiting, 0)
  })

  it('text and JSON that is not a record are unknown', () => {
    assert.deepEqual(map(['not JSON', '{"half":', '[1,2]', 'null', { type: 'new.event' }, { no: 'type' }, '']), [
      { type: 'unknown', raw: 'not JSON' },
      { type: 'unknown', raw: '{"half":' },
      { type: 'unknown', raw: [1, 2] },
      { type: 'unknown', raw: null },
      { type: 'unknown', raw: { type: 'new.event' } },
      { type: 'unknown', raw: { no: 'type' } },
    ])
  })
})

describe('Codex: turns', () => {
  it('a retry is a warning', () => {
    for (const message of [
      'Reconnecting... 1/5 (stream disconnected)',
      'Reconnecting... waiting for network (offline)',
      'stream error: cut; retrying 1/5 in 200ms',
    ]) {
      assert.deepEqual(map([thread, turn, { type: 'error', message }]), [{ type: 'warning', message, code: 'retry' }])
    }
  })

  it('an error and the failed turn that repeats it are one error', () => {
    const run = mapRun(
      codexDialect,
      [thread, turn, { type: 'error', message: 'down' }, { type: 'turn.failed', error: { message: 'down' } }],
      { end: { exitCode: 1 } },
    )
    assert.deepEqual(unstamped(run.activity), [{ type: 'error', message: 'down' }])
    assert.deepEqual(
      eventsOf(run, 'finish').map((event) => event.finishReason),
      ['error'],
    )
  })

  it('an error that nothing follows has ended the run', () => {
    const run = mapRun(codexDialect, [thread, turn, { type: 'error', message: 'down' }], { end: { exitCode: 1 } })
    assert.deepEqual(unstamped(run.activity), [{ type: 'error', message: 'down' }])
    assert.equal(eventsOf(run, 'error').length, 1)
  })

  it('an error after which the turn continues has ended nothing', () => {
    const said = completed('item_0', { type: 'agent_message', text: 'Still here' })
    const run = mapRun(codexDialect, [thread, turn, { type: 'error', message: 'odd' }, said])
    assert.deepEqual(unstamped(run.activity), [
      { type: 'error', message: 'odd' },
      { type: 'agent', message: 'Still here' },
    ])
    assert.equal(eventsOf(run, 'finish')[0]?.finishReason, 'stop')
  })

  it('a command left running at the end of its turn is closed as failed', () => {
    assert.deepEqual(activity('command-left-running').at(-1), {
      type: 'command',
      command: "/bin/bash -lc 'echo start; sleep 30; echo end'",
      isSuccess: false,
    })
  })

  it('usage is the thread’s total: the increment counts from where it stood', () => {
    const first = mapFixture(codexDialect, 'resume-first')
    const totals = first.mapper.usage.totals
    assert.deepEqual(first.mapper.usage.turn(), [
      {
        inputTokens: 50,
        outputTokens: 20,
        totalTokens: 120,
        reasoningTokens: 5,
        cachedInputTokens: 50,
        cacheWriteInputTokens: 0,
        source: 'reported',
        scope: 'own',
      },
    ])
    assert.ok(totals !== undefined)
    const second = mapFixture(codexDialect, 'resume-second', { usageBaseline: totals })
    assert.equal(second.mapper.usage.turn()[0]?.totalTokens, 240)
    const lost = mapFixture(codexDialect, 'resume-second', { usageBaseline: 'unknown' })
    assert.equal(lost.mapper.usage.turn()[0]?.uncounted, true)
  })

  it('impossible numbers are ignored and warned about', () => {
    const usage =
      '{"input_tokens":-5,"output_tokens":1e999,"cached_input_tokens":9007199254740993,"reasoning_output_tokens":"7"}'
    const run = mapRun(codexDialect, [`{"type":"turn.completed","usage":${usage}}`])
    assert.deepEqual(run.mapper.usage.turn(), [])
    assert.ok(run.activity.length > 0)
    assert.ok(run.activity.every((event) => event.type === 'warning' && event.code === 'usage-out-of-range'))
  })

  it('its own log lines on standard error become warnings with the module as code', () => {
    assert.deepEqual(
      map([], { stderr: ['2026-01-01T00:00:00.000001Z ERROR codex_core::tools::router: error=unsupported call: x'] }),
      [{ type: 'warning', message: 'error=unsupported call: x', code: 'codex_core::tools::router' }],
    )
  })
})

describe('Codex: recorded runs', () => {
  const noise = { type: 'warning', message: 'Reading additional input from stdin...' }
  const agent = (message: string): object => ({ type: 'agent', message })

  it('shell commands and their exit codes', () => {
    assert.deepEqual(activity('shell-exit-codes'), [
      noise,
      agent('Running.'),
      { type: 'command', command: "/bin/bash -lc 'echo hi'", exitCode: 0, isSuccess: true },
      { type: 'command', command: "/bin/bash -lc 'echo oops >&2; exit 3'", exitCode: 3, isSuccess: false },
      { type: 'command', command: '/bin/bash -lc no-such-cmd-xyz', exitCode: 127, isSuccess: false },
      agent('Both ran.'),
    ])
  })

  it('quoting of every kind', () => {
    const seen = activity('shell-quoting').slice(1, -1)
    const read = (path: string): object => ({ type: 'read', path, isSuccess: true })
    assert.deepEqual(seen.slice(1, 4), [read('hello.txt'), read('hello.txt'), read('src/app.js')])
    assert.deepEqual(seen.slice(6), [
      { type: 'search', query: "it's", path: 'hello.txt', isSuccess: true },
      { type: 'list', isSuccess: true },
      read('hello.txt'),
      { type: 'list', path: 'src', isSuccess: true },
      { type: 'search', query: 'TODO', path: 'src', isSuccess: true },
      read('hello.txt'),
    ])
  })

  it('subagents, as they come and go', () => {
    const told = (name: string): unknown[] =>
      activity(name).flatMap((event) => ('action' in event ? [event.action] : []))
    assert.deepEqual(told('subagent-spawn-and-wait'), ['subagent_started', 'subagent_completed'])
    assert.deepEqual(told('subagent-wait-only'), [])
    // Once for its first task, and once for each of two more.
    const atWork = ['subagent_started', 'subagent_completed']
    assert.deepEqual(told('subagent-given-more'), [...atWork, ...atWork, ...atWork])
    assert.deepEqual(told('subagent-closed-at-work'), ['subagent_started', 'subagent_failed'])
  })

  it('file changes, also through the shell', () => {
    assert.deepEqual(activity('file-changes').slice(2), [
      { type: 'write', path: '/workspace/new.txt', isSuccess: true },
      { type: 'write', path: '/workspace/hello.txt', isSuccess: true },
      { type: 'write', path: '/workspace/src/app.js', isSuccess: true },
      { type: 'write', path: '/workspace/new.txt', isSuccess: true },
      agent('Patched.'),
    ])
    assert.deepEqual(activity('patch-through-shell').slice(1), [
      { type: 'write', path: '/workspace/new.txt', isSuccess: true },
      agent('Patched via shell.'),
    ])
  })

  it('parallel commands end out of order', () => {
    assert.deepEqual(
      activity('parallel-commands').map((event) => ('exitCode' in event ? event.exitCode : null)),
      [null, null, 4, 0, 0, null],
    )
  })

  it('provider errors are one error', () => {
    for (const name of ['provider-401', 'provider-503']) {
      assert.equal(activity(name).filter((event) => 'type' in event && event.type === 'error').length, 1, name)
    }
  })

  it('an interrupted run ends with its exit code', () => {
    assert.deepEqual(activity('interrupted').at(-1), {
      type: 'error',
      message: 'codex exited with code 1: Reading additional input from stdin...',
      code: 'exit-1',
    })
  })
})

describe('Codex: hand-made streams', () => {
  it('every kind of item', () => {
    const seen = mapFixture(codexDialect, 'made-every-item')
    assert.deepEqual(
      seen.activity.map((event) => event.type),
      ['unknown', 'unknown', 'write', 'command', 'unknown', 'agent', 'unknown'],
    )
    assert.equal(seen.sums.reasons['restated'], 1)
  })

  it('ids that are mixed up, glued and half lines', () => {
    assert.deepEqual(
      mapFixture(codexDialect, 'made-mixed-up-ids').activity.map((event) => event.type),
      ['unknown', 'unknown', 'unknown', 'command', 'unknown', 'error', 'agent', 'warning', 'unknown'],
    )
  })
})
