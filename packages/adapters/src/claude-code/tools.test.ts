import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SESSION, map, init, toolUse, toolResult, says, call } from '../../test/claude-code.ts'

describe('Claude Code: its tools', () => {
  it('Read is a read, with the range of offset and limit', () => {
    assert.deepEqual(call('Read', { file_path: '/repo/a.txt' }), [
      { type: 'read', path: '/repo/a.txt', isSuccess: true },
    ])
    assert.deepEqual(call('Read', { file_path: 'a.txt', offset: 10, limit: 11 }), [
      { type: 'read', path: '/repo/a.txt', startLine: 10, endLine: 20, isSuccess: true },
    ])
    assert.deepEqual(call('Read', { file_path: '/repo/a.txt', limit: 5 }, { is_error: true }), [
      { type: 'read', path: '/repo/a.txt', startLine: 1, endLine: 5, isSuccess: false },
    ])
    assert.deepEqual(call('Read', { file_path: '/repo/a.txt', offset: 7 }), [
      { type: 'read', path: '/repo/a.txt', startLine: 7, isSuccess: true },
    ])
    // The CLI accepts numbers that the model has quoted.
    assert.deepEqual(call('Read', { file_path: '/repo/a.txt', offset: 2, limit: '2' }), [
      { type: 'read', path: '/repo/a.txt', startLine: 2, endLine: 3, isSuccess: true },
    ])
  })

  it('Bash moves the agent into the directory it ends in, unless it was put back', () => {
    const read = [toolUse('t2', 'Read', { file_path: 'a.txt' }), toolResult('t2')]
    const afterBash = (command: string, block: object, more: object): object | undefined =>
      map([init, toolUse('t1', 'Bash', { command }), toolResult('t1', block, more), ...read]).at(-1)
    const at = (path: string): object => ({ type: 'read', path, isSuccess: true })
    assert.deepEqual(afterBash('cd src', {}, {}), at('/repo/src/a.txt'))
    assert.deepEqual(afterBash('cd "$x"', {}, {}), at('a.txt'))
    assert.deepEqual(afterBash('cd src', { is_error: true, content: 'Exit code 1' }, {}), at('/repo/a.txt'))
    const putBack = { tool_use_result: { stdout: '', stderr: '\nShell cwd was reset to /repo', interrupted: false } }
    assert.deepEqual(afterBash('cd /etc', {}, putBack), at('/repo/a.txt'))
    const skill = [init, toolUse('t1', 'Bash', { command: 'cd src' }), toolResult('t1')]
    const used = [toolUse('t2', 'Skill', { skill: 'x' }), toolResult('t2', { is_error: true })]
    assert.deepEqual(map([...skill, ...used]).at(-1), {
      type: 'skill',
      path: '/repo/skills/x/SKILL.md',
      skillName: 'x',
      isSuccess: false,
    })
    const inBackground = { tool_use_result: { stdout: '', stderr: '', interrupted: false, backgroundTaskId: 'b1' } }
    assert.deepEqual(afterBash('cd src', {}, inBackground), at('/repo/a.txt'))
  })

  it('a worktree moves the agent into it and back', () => {
    const enter = toolUse('t1', 'EnterWorktree', { name: 'x' })
    const entered = toolResult('t1', {}, { tool_use_result: { worktreePath: '/repo/.claude/worktrees/x' } })
    const leave = toolUse('t3', 'ExitWorktree', { action: 'keep' })
    const read = (id: string): readonly object[] => [toolUse(id, 'Read', { file_path: 'a.txt' }), toolResult(id)]
    const paths = (...lines: readonly object[]): unknown[] =>
      map([init, ...lines]).flatMap((event) => ('path' in event ? [event.path] : []))
    const left = toolResult('t3', {}, { tool_use_result: { originalCwd: '/repo', restoredCwd: '/repo/src' } })
    assert.deepEqual(paths(enter, entered, ...read('t2'), leave, left, ...read('t4')), [
      '/repo/.claude/worktrees/x/a.txt',
      '/repo/src/a.txt',
    ])
    assert.deepEqual(paths(enter, toolResult('t1', { is_error: true }), ...read('t2')), ['/repo/a.txt'])
    // The worktree's path was not reported.
    assert.deepEqual(paths(enter, toolResult('t1'), ...read('t2')), ['a.txt'])
  })

  it('the directory of a subagent with a worktree of its own is unknown', () => {
    const spawn = toolUse('s', 'Agent', { prompt: 'x', isolation: 'worktree' })
    const inside = { parent_tool_use_id: 's' }
    const lines = [
      toolUse('t1', 'Bash', { command: 'cat a.txt' }, inside),
      toolResult('t1', {}, inside),
      toolUse('t2', 'Read', { file_path: 'b.txt' }),
      toolResult('t2'),
    ]
    const paths = (call: object): unknown[] =>
      map([init, call, ...lines]).flatMap((event) => ('path' in event ? [event.path] : []))
    assert.deepEqual(paths(spawn), ['a.txt', '/repo/b.txt'])
    assert.deepEqual(paths(toolUse('s', 'Agent', { prompt: 'x' })), ['/repo/a.txt', '/repo/b.txt'])
  })

  it('Write, Edit, MultiEdit and NotebookEdit are writes', () => {
    for (const name of ['Write', 'Edit', 'MultiEdit']) {
      assert.deepEqual(call(name, { file_path: 'src/b.ts' }), [
        { type: 'write', path: '/repo/src/b.ts', isSuccess: true },
      ])
    }
    assert.deepEqual(call('NotebookEdit', { notebook_path: '/repo/n.ipynb' }, { is_error: true }), [
      { type: 'write', path: '/repo/n.ipynb', isSuccess: false },
    ])
  })

  it('the file may be in the field of another tool', () => {
    assert.deepEqual(call('Read', { path: 'a.txt' }, { is_error: true }), [
      { type: 'read', path: '/repo/a.txt', isSuccess: false },
    ])
    assert.deepEqual(call('NotebookEdit', { file_path: 'n.ipynb' }), [
      { type: 'write', path: '/repo/n.ipynb', isSuccess: true },
    ])
  })

  it('Grep and Glob are searches, LS is a list', () => {
    assert.deepEqual(call('Grep', { pattern: 'TODO', path: 'src' }), [
      { type: 'search', query: 'TODO', path: '/repo/src', isSuccess: true },
    ])
    assert.deepEqual(call('Glob', { pattern: '**/*.ts' }), [{ type: 'search', query: '**/*.ts', isSuccess: true }])
    assert.deepEqual(call('LS', { path: '/repo/src' }), [{ type: 'list', path: '/repo/src', isSuccess: true }])
  })

  it('Bash is a command, or the file operation that it is', () => {
    assert.deepEqual(call('Bash', { command: 'npm test' }, { content: 'ok', is_error: false }), [
      { type: 'command', command: 'npm test', isSuccess: true },
    ])
    assert.deepEqual(call('Bash', { command: "sed -n '10,20p' a.txt" }), [
      { type: 'read', path: '/repo/a.txt', startLine: 10, endLine: 20, isSuccess: true },
    ])
    assert.deepEqual(call('Bash', { command: 'ls -la src' }), [{ type: 'list', path: '/repo/src', isSuccess: true }])
  })

  it('reads the exit code from the first line of a failed result, and only there', () => {
    const failed = (content: unknown): readonly object[] =>
      call('Bash', { command: 'make' }, { content, is_error: true })
    assert.deepEqual(failed('Exit code 2\nmake: failed'), [
      { type: 'command', command: 'make', exitCode: 2, isSuccess: false },
    ])
    assert.deepEqual(failed([{ type: 'text', text: 'Exit code 137' }]), [
      { type: 'command', command: 'make', exitCode: 137, isSuccess: false },
    ])
    for (const content of ['tests failed\nExit code 2', 'Exit code two', 'Exit code 3 of 4\n', '', 7, null]) {
      assert.deepEqual(failed(content), [{ type: 'command', command: 'make', isSuccess: false }])
    }
    assert.deepEqual(call('Bash', { command: 'echo "Exit code 9"' }, { content: 'Exit code 9', is_error: false }), [
      { type: 'command', command: 'echo "Exit code 9"', isSuccess: true },
    ])
  })

  it('an interrupted call has failed', () => {
    const more = { tool_use_result: { stdout: '', stderr: '', interrupted: true } }
    assert.deepEqual(call('Bash', { command: 'make' }, { is_error: false }, more), [
      { type: 'command', command: 'make', isSuccess: false },
    ])
  })

  it('a command in the background has no outcome yet', () => {
    const more = { tool_use_result: { backgroundTaskId: 'b1', interrupted: false } }
    assert.deepEqual(call('Bash', { command: 'make watch', run_in_background: true }, { is_error: false }, more), [
      { type: 'command', command: 'make watch' },
    ])
  })

  it('Skill takes its path from the text that follows, else from the usual place', () => {
    const use = [
      init,
      toolUse('t1', 'Skill', { skill: 'greet' }),
      toolResult('t1', { content: 'Launching skill: greet' }),
    ]
    const body = {
      type: 'user',
      isSynthetic: true,
      message: {
        role: 'user',
        content: [{ type: 'text', text: 'Base directory for this skill: /home/u/.claude/skills/greet\n\n# Greet' }],
      },
      parent_tool_use_id: null,
      session_id: SESSION,
    }
    const skill = { type: 'skill', path: '/home/u/.claude/skills/greet/SKILL.md', skillName: 'greet', isSuccess: true }
    assert.deepEqual(map([...use, body, says('Hello')]), [skill, { type: 'agent', message: 'Hello' }])
    const plain = { ...body, message: { role: 'user', content: body.message.content[0]?.text } }
    assert.deepEqual(map([...use, plain]), [skill])
    const assumed = { ...skill, path: '/repo/skills/greet/SKILL.md' }
    assert.deepEqual(map([...use, says('Hello')]), [assumed, { type: 'agent', message: 'Hello' }])
    assert.deepEqual(map(use), [assumed])
    assert.deepEqual(call('Skill', { skill: 'none' }, { is_error: true }), [
      { type: 'skill', path: '/repo/skills/none/SKILL.md', skillName: 'none', isSuccess: false },
    ])
  })

  it('two skills at once each get their own path', () => {
    const body = (name: string): object => ({
      type: 'user',
      isSynthetic: true,
      message: { role: 'user', content: [{ type: 'text', text: `Base directory for this skill: /skills/${name}\n` }] },
    })
    const lines = [
      init,
      toolUse('t1', 'Skill', { skill: 'one' }),
      toolUse('t2', 'Skill', { skill: 'two' }),
      toolResult('t1'),
      toolResult('t2'),
      body('two'),
      body('one'),
    ]
    assert.deepEqual(
      map(lines).map((event) => 'path' in event && event.path),
      ['/skills/two/SKILL.md', '/skills/one/SKILL.md'],
    )
  })

  it('bookkeeping and structured output are consumed, what is not known is unknown', () => {
    for (const name of [
      'StructuredOutput',
      'ToolSearch',
      'TaskCreate',
      'TaskGet',
      'TaskList',
      'TaskUpdate',
      'TaskStop',
    ]) {
      assert.deepEqual(call(name, {}), [], name)
    }
    for (const name of [
      'mcp__files__read',
      'WebFetch',
      'WebSearch',
      'TodoWrite',
      'AskUserQuestion',
      'constructor',
      '__proto__',
    ]) {
      const [event, ...more] = call(name, { a: 1 }, { content: 'x' })
      assert.deepEqual(more, [])
      assert.deepEqual(event, {
        type: 'unknown',
        raw: {
          call: { type: 'tool_use', id: 't1', name, input: { a: 1 } },
          result: { type: 'tool_result', tool_use_id: 't1', content: 'x' },
        },
      })
    }
  })

  it('a known tool whose input does not show what it did is unknown', () => {
    for (const [name, input] of [
      ['Read', {}],
      ['Bash', { command: 5 }],
      ['Grep', { path: 'x' }],
      ['Write', { file_path: null }],
    ] as const) {
      assert.deepEqual(
        call(name, input).map((event) => 'type' in event && event.type),
        ['unknown'],
      )
    }
    assert.deepEqual(map([init, toolUse('t1', 'Read', 'no object')]), [
      { type: 'unknown', raw: { type: 'tool_use', id: 't1', name: 'Read', input: 'no object' } },
    ])
  })
})
