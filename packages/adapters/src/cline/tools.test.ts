import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { eventsOf, mapRun, unstamped } from '../../test/support.ts'
import { clineDialect } from './mapper.ts'

function start(name: string, input: unknown, id = 'c1'): object {
  return {
    type: 'agent_event',
    event: { type: 'content_start', contentType: 'tool', toolName: name, toolCallId: id, input },
  }
}

function end(name: string, more: object, id = 'c1'): object {
  return {
    type: 'agent_event',
    event: { type: 'content_end', contentType: 'tool', toolName: name, toolCallId: id, ...more },
  }
}

const result = { type: 'run_result', finishReason: 'completed' }

/** Returns the activity of one call and its output. */
function call(name: string, input: unknown, output?: unknown, more: object = {}): readonly object[] {
  return unstamped(mapRun(clineDialect, [start(name, input), end(name, { output, ...more }), result]).activity)
}

const ok = { query: 'q', result: '', success: true }
const failed = { query: 'q', result: '', error: 'no', success: false }

describe('Cline: commands', () => {
  it('run_commands is one command for each, with its own success', () => {
    assert.deepEqual(call('run_commands', { commands: ['make', 'make test'] }, [ok, failed]), [
      { type: 'command', command: 'make', isSuccess: true },
      { type: 'command', command: 'make test', isSuccess: false },
    ])
  })

  it('execute_command and bash take one command, run_commands does as well', () => {
    for (const name of ['execute_command', 'bash', 'run_commands'])
      assert.deepEqual(call(name, { command: 'make' }, [ok]), [{ type: 'command', command: 'make', isSuccess: true }])
  })

  it('commands stay commands, also those that read files', () => {
    assert.deepEqual(call('run_commands', { commands: ['cat a.txt', 'ls'] }, [ok, ok]), [
      { type: 'command', command: 'cat a.txt', isSuccess: true },
      { type: 'command', command: 'ls', isSuccess: true },
    ])
  })

  it('reads the exit code where Cline writes it, and nowhere else', () => {
    const exit = (error: string, success = false): readonly object[] =>
      call('run_commands', { commands: ['x'] }, [{ query: 'x', result: 'Command exited with code 9', error, success }])
    assert.deepEqual(exit('Command exited with code 3'), [
      { type: 'command', command: 'x', exitCode: 3, isSuccess: false },
    ])
    for (const error of ['Command exited with code 3\n', 'it: Command exited with code 3', 'Command timed out', ''])
      assert.deepEqual(exit(error), [{ type: 'command', command: 'x', isSuccess: false }])
    assert.deepEqual(exit('Command exited with code 3', true), [{ type: 'command', command: 'x', isSuccess: true }])
  })

  it('understands every form of input that the tool takes', () => {
    const commands = (input: unknown): readonly unknown[] =>
      call('run_commands', input).map((event) => 'command' in event && event.command)
    assert.deepEqual(commands({ commands: 'a' }), ['a'])
    assert.deepEqual(commands({ cmd: 'a' }), ['a'])
    assert.deepEqual(commands('a'), ['a'])
    assert.deepEqual(commands(['a', 'b']), ['a', 'b'])
    assert.deepEqual(commands({ commands: [{ command: 'git', args: ['commit', '-m', "it's"] }, { command: 'b' }] }), [
      String.raw`git commit -m 'it'\''s'`,
      'b',
    ])
    assert.deepEqual(commands([{ command: 'a', args: [] }]), ['a'])
  })

  it('a call that was refused has failed as a whole', () => {
    const refusal = { error: 'Command not executed.' }
    assert.deepEqual(call('run_commands', { commands: ['a', 'b'] }, refusal, { error: JSON.stringify(refusal) }), [
      { type: 'command', command: 'a', isSuccess: false },
      { type: 'command', command: 'b', isSuccess: false },
    ])
    assert.deepEqual(call('run_commands', { commands: ['a'] }, undefined, { error: 'Denied' }), [
      { type: 'command', command: 'a', isSuccess: false },
    ])
  })

  it('success is unknown if nothing reports it; results that do not match the commands count together', () => {
    assert.deepEqual(call('run_commands', { commands: ['a'] }, [{ query: 'a', result: 'x' }]), [
      { type: 'command', command: 'a' },
    ])
    assert.deepEqual(call('run_commands', { commands: ['a', 'b'] }, [ok, ok, failed]), [
      { type: 'command', command: 'a', isSuccess: false },
      { type: 'command', command: 'b', isSuccess: false },
    ])
    assert.deepEqual(call('run_commands', { commands: ['a', 'b'] }, [ok]), [
      { type: 'command', command: 'a', isSuccess: true },
      { type: 'command', command: 'b', isSuccess: true },
    ])
    assert.deepEqual(call('run_commands', { commands: ['a', 'b'] }, []), [
      { type: 'command', command: 'a' },
      { type: 'command', command: 'b' },
    ])
  })
})

describe('Cline: files', () => {
  it('read_files is one read for each file, with its lines and its own success', () => {
    const files = [{ path: '/r/a.txt', start_line: 2, end_line: 4 }, { path: 'b.txt' }, { path: '/r/c', end_line: 9 }]
    assert.deepEqual(call('read_files', { files }, [ok, failed, ok]), [
      { type: 'read', path: '/r/a.txt', startLine: 2, endLine: 4, isSuccess: true },
      { type: 'read', path: '/workspace/b.txt', isSuccess: false },
      { type: 'read', path: '/r/c', startLine: 1, endLine: 9, isSuccess: true },
    ])
  })

  it('read_file takes a single path, read_files takes it in many forms', () => {
    const paths = (name: string, input: unknown): readonly unknown[] =>
      call(name, input, [ok]).map((event) => 'path' in event && event.path)
    assert.deepEqual(paths('read_file', { path: '/a' }), ['/a'])
    assert.deepEqual(paths('read_files', { path: '/a', start_line: null, end_line: null }), ['/a'])
    assert.deepEqual(paths('read_files', { files: '/a' }), ['/a'])
    assert.deepEqual(paths('read_files', { files: ['/a', { path: '/b' }] }), ['/a', '/b'])
    assert.deepEqual(paths('read_files', { file_paths: ['/a', '/b'] }), ['/a', '/b'])
    assert.deepEqual(paths('read_files', { paths: { path: '/a' } }), ['/a'])
    assert.deepEqual(paths('read_files', ['/a']), ['/a'])
    assert.deepEqual(paths('read_files', '/a'), ['/a'])
  })

  it('editor, write_to_file, replace_in_file and new_rule are writes', () => {
    for (const name of ['editor', 'write_to_file', 'replace_in_file', 'new_rule']) {
      assert.deepEqual(call(name, { path: 'a.txt', new_text: 'secret' }, ok), [
        { type: 'write', path: '/workspace/a.txt', isSuccess: true },
      ])
      assert.deepEqual(call(name, { path: '/r/a.txt' }, failed), [
        { type: 'write', path: '/r/a.txt', isSuccess: false },
      ])
    }
  })

  it('apply_patch is one write for each file that the patch names', () => {
    const patch =
      '*** Begin Patch\n*** Add File: new.txt\n+a\n*** Update File: /r/b.js\n*** Move to: c.js\n*** End Patch\n'
    const writes = ['/workspace/new.txt', '/r/b.js', '/workspace/c.js'].map((path) => ({
      type: 'write',
      path,
      isSuccess: true,
    }))
    assert.deepEqual(call('apply_patch', { input: patch }, ok), writes)
    assert.deepEqual(call('apply_patch', patch, ok), writes)
  })

  it('search_codebase is one search for each query, search_files has a place', () => {
    assert.deepEqual(call('search_codebase', { queries: ['TODO', 'x.y'] }, [ok, failed]), [
      { type: 'search', query: 'TODO', isSuccess: true },
      { type: 'search', query: 'x.y', isSuccess: false },
    ])
    assert.deepEqual(call('search_codebase', 'TODO', [ok]), [{ type: 'search', query: 'TODO', isSuccess: true }])
    assert.deepEqual(call('search_files', { path: 'src', regex: 'a+', file_pattern: '*.ts' }, ok), [
      { type: 'search', query: 'a+', path: '/workspace/src', isSuccess: true },
    ])
  })

  it('list_files is a list', () => {
    assert.deepEqual(call('list_files', { path: 'src' }, ok), [
      { type: 'list', path: '/workspace/src', isSuccess: true },
    ])
    assert.deepEqual(call('list_files', {}, failed), [{ type: 'list', isSuccess: false }])
  })

  it('skills and use_skill are skills; a sentence reports that there is none', () => {
    const skill = { type: 'skill', path: '/workspace/skills/greet/SKILL.md', skillName: 'greet' }
    assert.deepEqual(call('skills', { skill: 'greet', args: 'Bob' }, 'Say hi.'), [{ ...skill, isSuccess: true }])
    assert.deepEqual(call('use_skill', { skill_name: 'greet' }, { success: true }), [{ ...skill, isSuccess: true }])
    assert.deepEqual(call('skills', { skill: 'greet' }, 'Skill "greet" not found. Available skills: none'), [
      { ...skill, isSuccess: false },
    ])
    assert.deepEqual(call('skills', { skill: 'greet' }, undefined), [skill])
  })
})

describe('Cline: other tools', () => {
  it('are unknown, with the call and its result', () => {
    for (const name of ['ask_question', 'fetch_web_content', 'submit_and_exit', 'team_status', 'everything__echo']) {
      const records = [start(name, { a: 1 }), end(name, { output: 'x' })]
      assert.deepEqual(unstamped(mapRun(clineDialect, [...records, result]).activity), [
        { type: 'unknown', raw: { call: records[0], result: records[1] } },
      ])
    }
  })

  it('known tools whose input does not show what was meant are unknown, too', () => {
    for (const name of ['run_commands', 'read_files', 'editor', 'apply_patch', 'search_codebase', 'skills']) {
      for (const input of [{}, null, 7, { commands: 7, files: [7], path: 7, queries: [null] }])
        assert.deepEqual(
          call(name, input, ok).map((event) => 'type' in event && event.type),
          ['unknown'],
        )
    }
  })

  it('MCP tools name their server', () => {
    const run = mapRun(clineDialect, [start('everything__echo', {}), start('run_commands', {}, 'c2')])
    assert.deepEqual(
      eventsOf(run, 'tool-call').map((event) => event.serverName),
      ['everything', undefined],
    )
  })

  it('spawn_agent is orchestration, even if nothing else reports the subagent', () => {
    assert.deepEqual(call('spawn_agent', { task: 't' }, { text: 'r', iterations: 1, finishReason: 'completed' }), [
      { type: 'orchestration', action: 'subagent_completed', isSuccess: true },
    ])
    assert.deepEqual(call('spawn_agent', { task: 't' }, { text: 'r', finishReason: 'error' }), [
      { type: 'orchestration', action: 'subagent_failed', isSuccess: false },
    ])
    assert.deepEqual(call('spawn_agent', { task: 't' }, { error: 'no' }, { error: 'no' }), [
      { type: 'orchestration', action: 'subagent_failed', isSuccess: false },
    ])
  })
})
