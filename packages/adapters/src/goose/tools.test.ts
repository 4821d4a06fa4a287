import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventsOf, mapRun, unstamped, type RunOptions } from '../../test/support.ts'
import { gooseDialect } from './mapper.ts'

function request(name: string, input: unknown, extension?: string): object {
  return {
    type: 'toolRequest',
    id: 'c1',
    toolCall: { status: 'success', value: { name, arguments: input } },
    ...(extension === undefined ? {} : { _meta: { goose_extension: extension } }),
  }
}

function response(toolResult: object): object {
  return { type: 'toolResponse', id: 'c1', toolResult }
}

function message(role: string, ...content: readonly object[]): object {
  return { type: 'message', message: { id: `m-${role}`, role, content } }
}

const ok = { content: [{ type: 'text', text: 'fine' }], isError: false }
const failed = { content: [{ type: 'text', text: 'no' }], isError: true }

/** Returns the activity of one call and its result. */
function call(
  name: string,
  input: unknown,
  value: object = ok,
  extension?: string,
  options?: RunOptions,
): readonly object[] {
  const lines = [
    message('assistant', request(name, input, extension)),
    message('user', response({ status: 'success', value })),
    { type: 'complete' },
  ]
  return unstamped(mapRun(gooseDialect, lines, options).activity)
}

describe('Goose: files', () => {
  it('text_editor reads or writes, by its command', () => {
    assert.deepEqual(call('text_editor', { command: 'view', path: '/r/a.txt' }), [
      { type: 'read', path: '/r/a.txt', isSuccess: true },
    ])
    assert.deepEqual(call('text_editor', { command: 'view', path: 'a.txt', view_range: [3, 9] }, failed), [
      { type: 'read', path: '/workspace/a.txt', startLine: 3, endLine: 9, isSuccess: false },
    ])
    assert.deepEqual(call('text_editor', { command: 'view', path: '/r/a.txt', view_range: [3, -1] }), [
      { type: 'read', path: '/r/a.txt', startLine: 3, isSuccess: true },
    ])
    for (const command of ['write', 'create', 'str_replace', 'insert', 'edit_file', 'undo_edit'])
      assert.deepEqual(call('text_editor', { command, path: '/r/a.txt' }), [
        { type: 'write', path: '/r/a.txt', isSuccess: true },
      ])
    for (const input of [{ command: 'dance', path: '/r/a.txt' }, { command: 'view' }, { path: '/r/a.txt' }])
      assert.deepEqual(
        call('text_editor', input).map((event) => 'type' in event && event.type),
        ['unknown'],
      )
  })

  it('read, write and edit', () => {
    assert.deepEqual(call('read', { path: 'a.txt', offset: 10, limit: 11 }), [
      { type: 'read', path: '/workspace/a.txt', startLine: 10, endLine: 20, isSuccess: true },
    ])
    assert.deepEqual(call('read', { path: '/a', start_line: 4 }), [
      { type: 'read', path: '/a', startLine: 4, isSuccess: true },
    ])
    assert.deepEqual(call('read', { path: '/a', end_line: 4 }), [
      { type: 'read', path: '/a', startLine: 1, endLine: 4, isSuccess: true },
    ])
    for (const name of ['write', 'edit'])
      assert.deepEqual(call(name, { path: 'new/a.txt', content: 'secret' }, failed), [
        { type: 'write', path: '/workspace/new/a.txt', isSuccess: false },
      ])
  })

  it('grep and glob are searches, list and tree are lists', () => {
    assert.deepEqual(call('grep', { pattern: 'TODO', path: 'src' }), [
      { type: 'search', query: 'TODO', path: '/workspace/src', isSuccess: true },
    ])
    assert.deepEqual(call('glob', { pattern: '**/*.ts' }), [{ type: 'search', query: '**/*.ts', isSuccess: true }])
    for (const name of ['list', 'tree']) {
      assert.deepEqual(call(name, { path: 'src', depth: 2 }), [
        { type: 'list', path: '/workspace/src', isSuccess: true },
      ])
      assert.deepEqual(call(name, {}, failed), [{ type: 'list', isSuccess: false }])
    }
  })

  it('load_skill and skill are skills, with the file that was loaded', () => {
    const skill = { type: 'skill', path: '/workspace/skills/demo/SKILL.md', skillName: 'demo', isSuccess: true }
    assert.deepEqual(call('load_skill', { name: 'demo' }), [skill])
    assert.deepEqual(call('skill', { name: 'demo' }, failed), [{ ...skill, isSuccess: false }])
    assert.deepEqual(call('load_skill', { name: 'demo/notes/a.md' }), [
      { ...skill, path: '/workspace/skills/demo/notes/a.md' },
    ])
  })
})

describe('Goose: commands', () => {
  const shell = (command: string, value: object): readonly object[] => call('shell', { command }, value)
  const exited = (code: number | null, isError: boolean): object => ({
    content: [],
    structuredContent: { stdout: '', stderr: '', exit_code: code },
    isError,
  })

  it('have the exit code that the result holds; the status is not it', () => {
    assert.deepEqual(shell('make', exited(0, false)), [
      { type: 'command', command: 'make', exitCode: 0, isSuccess: true },
    ])
    assert.deepEqual(shell('make', exited(3, true)), [
      { type: 'command', command: 'make', exitCode: 3, isSuccess: false },
    ])
  })

  it('commands that were killed have failed without a code', () => {
    assert.deepEqual(shell('make', exited(null, true)), [{ type: 'command', command: 'make', isSuccess: false }])
    assert.deepEqual(shell('make', { structuredContent: { stdout: '', timed_out: true }, isError: true }), [
      { type: 'command', command: 'make', isSuccess: false },
    ])
  })

  it('are what they do to files, where that is all they do', () => {
    assert.deepEqual(shell("sed -n '10,20p' a.txt", exited(0, false)), [
      { type: 'read', path: '/workspace/a.txt', startLine: 10, endLine: 20, isSuccess: true },
    ])
    assert.deepEqual(shell('rg TODO src', exited(1, true)), [
      { type: 'search', query: 'TODO', path: '/workspace/src', isSuccess: true },
    ])
    assert.deepEqual(shell('ls src', exited(0, false)), [{ type: 'list', path: '/workspace/src', isSuccess: true }])
  })

  it('commands of versions that report only a status succeed with that status', () => {
    const lines = (toolResult: object): readonly object[] => [
      message('assistant', request('shell', { command: 'make' })),
      message('user', response(toolResult)),
      { type: 'complete' },
    ]
    const made = (toolResult: object): readonly object[] => unstamped(mapRun(gooseDialect, lines(toolResult)).activity)
    assert.deepEqual(made({ status: 'success', value: [{ type: 'text', text: 'x' }] }), [
      { type: 'command', command: 'make', isSuccess: true },
    ])
    assert.deepEqual(made({ status: 'error', error: '-32602: bad' }), [
      { type: 'command', command: 'make', isSuccess: false },
    ])
    assert.deepEqual(made({}), [{ type: 'command', command: 'make' }])
  })
})

describe('Goose: subagents', () => {
  const report = (text: string, more: object = {}): object => ({
    content: [{ type: 'text', text }],
    isError: false,
    _meta: { subagent_session_id: '20260102_2' },
    ...more,
  })
  const who = { type: 'orchestration', subagentId: '20260102_2' }

  it('delegate has run one, and reports which', () => {
    assert.deepEqual(call('delegate', { instructions: 'count' }, report('six'), 'summon'), [
      { ...who, action: 'subagent_completed', isSuccess: true },
    ])
    assert.deepEqual(call('delegate', { source: 'reviewer' }, report('no', { isError: true })), [
      { ...who, subagentName: 'reviewer', action: 'subagent_failed', isSuccess: false },
    ])
  })

  it('one that got no answer reports that in its own place, and has failed', () => {
    const refused = 'Ran into this error: Bad request (400).\n\n'
    const retry = 'Please retry if you think this is a transient or recoverable error.'
    assert.deepEqual(call('delegate', { instructions: 'count' }, report(`${refused}${retry}`)), [
      { ...who, action: 'subagent_failed', isSuccess: false },
    ])
    assert.deepEqual(call('delegate', { instructions: 'count' }, report(`${refused}So I tried another way.`)), [
      { ...who, action: 'subagent_completed', isSuccess: true },
    ])
  })

  it('one whose last message has no text has not answered either', () => {
    const silent = 'No text content in last message'
    assert.deepEqual(call('delegate', { instructions: 'count' }, report(silent)), [
      { ...who, action: 'subagent_failed', isSuccess: false },
    ])
    assert.deepEqual(call('delegate', { instructions: 'count' }, report(`${silent}, it said.`)), [
      { ...who, action: 'subagent_completed', isSuccess: true },
    ])
  })

  it('in the background it has only been started', () => {
    assert.deepEqual(call('delegate', { instructions: 'count', async: true }, report('Task started')), [
      { ...who, action: 'subagent_started' },
    ])
  })

  it('load returns its report, which contains how it ended', () => {
    const text = (status: string): string =>
      `# Background Task Result: x\n\n**Task:** t\n**Status:** ${status}\n\n## Output\n\nFailed`
    assert.deepEqual(call('load', { source: '20260102_2' }, report(text('✓ Completed'))), [
      { ...who, action: 'subagent_completed', isSuccess: true },
    ])
    for (const status of ['✗ Failed', '⊘ Cancelled'])
      assert.deepEqual(call('load', { source: '20260102_2' }, report(text(status))), [
        { ...who, action: 'subagent_failed', isSuccess: false },
      ])
    assert.deepEqual(call('load', { source: '20260102_2', cancel: true }, report('stopped')), [
      { ...who, action: 'subagent_failed', isSuccess: false },
    ])
    const noAnswer = 'Network error: gone\n\nPlease resend your message to try again.'
    const unanswered = text('✓ Completed').replace(/Failed$/, noAnswer)
    assert.deepEqual(call('load', { source: '20260102_2' }, report(unanswered)), [
      { ...who, action: 'subagent_failed', isSuccess: false },
    ])
  })

  it('load reports how it ended, also without a text', () => {
    const told = (task_status: string): readonly object[] =>
      call('load', { source: 'x' }, report('…', { _meta: { subagent_session_id: '20260102_2', task_status } }))
    assert.deepEqual(told('completed'), [{ ...who, action: 'subagent_completed', isSuccess: true }])
    for (const status of ['failed', 'cancelled'])
      assert.deepEqual(told(status), [{ ...who, action: 'subagent_failed', isSuccess: false }])
    // The subagent has not ended.
    assert.deepEqual(
      told('running').map((event) => 'type' in event && event.type),
      ['unknown'],
    )
  })

  it('calls that identify nobody are unknown', () => {
    for (const [name, input, value] of [
      ['delegate', {}, failed],
      ['delegate', { instructions: 'x' }, failed],
      ['load', {}, ok],
      ['load', { source: 'deploy' }, ok],
      ['load', { source: '20260102_2', peek: true }, report('3 turns')],
    ] as const)
      assert.deepEqual(
        call(name, input, value).map((event) => 'type' in event && event.type),
        ['unknown'],
      )
  })
})

describe('Goose: other tools', () => {
  it("extensions' prefixes do not matter", () => {
    assert.deepEqual(call('developer__shell', { command: 'make' }), [
      { type: 'command', command: 'make', isSuccess: true },
    ])
    assert.deepEqual(call('developer__text_editor', { command: 'view', path: '/a' }), [
      { type: 'read', path: '/a', isSuccess: true },
    ])
  })

  it('lists of things to do are the session’s own business', () => {
    const run = mapRun(gooseDialect, [
      message('assistant', request('todo__todo_write', { content: '- [ ] a' }, 'todo')),
      message('user', response({ status: 'success', value: ok })),
      { type: 'complete' },
    ])
    assert.deepEqual(run.activity, [])
    assert.deepEqual(run.sums.reasons, { bookkeeping: 2, lifecycle: 1 })
  })

  it('an image that is viewed counts as read; one with an address is not a file', () => {
    assert.deepEqual(call('read_image', { source: '/a.png' }, ok, 'developer'), [
      { type: 'read', path: '/a.png', isSuccess: true },
    ])
    const [event] = call('read_image', { source: 'https://example.com/a.png' }, ok, 'developer')
    assert.deepEqual(event !== undefined && 'type' in event && event.type, 'unknown')
  })

  it('are unknown, with the call and its result', () => {
    for (const name of [
      'analyze',
      'read_image',
      'extensionmanager__list_resources',
      'everything__echo',
      'hell',
      'xread',
    ]) {
      assert.deepEqual(call(name, { path: 'a' }), [
        {
          type: 'unknown',
          raw: { call: request(name, { path: 'a' }), result: response({ status: 'success', value: ok }) },
        },
      ])
    }
  })

  it('a tool of somebody else is unknown, whatever its name', () => {
    const [event] = call('notes__list', { path: 'a' }, ok, 'notes')
    assert.deepEqual(event !== undefined && 'type' in event && event.type, 'unknown')
    const run = mapRun(gooseDialect, [
      message('assistant', request('notes__list', {}, 'notes')),
      message('assistant', request('shell', {}, 'developer')),
    ])
    assert.deepEqual(
      eventsOf(run, 'tool-call').map(({ serverName }) => serverName),
      ['notes', undefined],
    )
  })

  it('calls that could not be made are unknown, with the reason', () => {
    const block = { type: 'toolRequest', id: 'c1', toolCall: { status: 'error', error: '-32600: no such tool' } }
    const answer = response({ status: 'error', error: '-32600: no such tool' })
    const run = mapRun(gooseDialect, [message('assistant', block), message('user', answer), { type: 'complete' }])
    assert.deepEqual(unstamped(run.activity), [{ type: 'unknown', raw: { call: block, result: answer } }])
    assert.equal(eventsOf(run, 'tool-result')[0]?.isError, true)
  })

  it('known tools whose input does not show what was meant are unknown', () => {
    for (const name of ['shell', 'read', 'write', 'edit', 'grep', 'glob', 'load_skill', 'text_editor'])
      for (const input of [{}, null, 'text', { path: 7, command: [], pattern: {}, name: 1 }])
        assert.deepEqual(
          call(name, input).map((event) => 'type' in event && event.type),
          ['unknown'],
        )
  })
})
