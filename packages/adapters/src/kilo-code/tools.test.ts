import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@inspan/protocol'
import { toolUse } from '../../test/opencode-tool-use.ts'
import { mapRun, unstamped, type MappedRun, type RunOptions } from '../../test/support.ts'
import { kiloCodeDialect } from './mapper.ts'

interface Mapped extends Omit<MappedRun, 'activity'> {
  readonly activity: readonly object[]
}

function map(lines: readonly unknown[], options?: RunOptions): Mapped {
  const mapped = mapRun(kiloCodeDialect, lines, options)
  return { ...mapped, activity: unstamped(mapped.activity) }
}

/** Kilo Code reports with most calls who allowed them. */
const approval = { source: 'agent', agent: 'code', rule: { permission: '*', pattern: '*', action: 'allow' } }
const completed = (tool: string, input: JsonObject, metadata: JsonObject = {}): JsonObject =>
  toolUse(tool, {
    status: 'completed',
    input,
    output: '',
    title: 'title',
    metadata: { ...metadata, approval },
    time: {},
  })
const refused = (tool: string, input: JsonObject, metadata: JsonObject = { approval }): JsonObject =>
  toolUse(tool, { status: 'error', input, error: 'It failed.', metadata, time: {} })
const activity = (...records: readonly JsonObject[]): readonly object[] => map(records).activity

describe('Kilo Code: OpenCode’s tools', () => {
  it('are what they are in OpenCode', () => {
    const display = { type: 'directory', path: '/workspace/src' }
    assert.deepEqual(
      activity(
        completed('read', { filePath: '/a.txt', offset: 2, limit: 3 }),
        completed('read', { filePath: 'src' }, { display }),
        completed(
          'write',
          { filePath: 'b.txt' },
          { filepath: '/workspace/b.txt', filediff: { file: '/workspace/b.txt' } },
        ),
        completed('edit', { filePath: 'c.txt' }),
        completed('apply_patch', { patchText: '*** Add File: d.txt\n+x' }),
        completed('glob', { pattern: '*.ts' }),
        completed('grep', { pattern: 'x' }),
        completed('lsp', { query: 'Cli' }),
        completed('bash', { command: 'make', description: 'Build it' }, { exit: 2, description: 'Build it' }),
        completed('skill', { name: 'demo' }, { dir: '/workspace/.kilo/skills/demo' }),
      ),
      [
        { type: 'read', path: '/a.txt', startLine: 2, endLine: 4, isSuccess: true },
        { type: 'list', path: '/workspace/src', isSuccess: true },
        { type: 'write', path: '/workspace/b.txt', isSuccess: true },
        { type: 'write', path: '/workspace/c.txt', isSuccess: true },
        { type: 'write', path: '/workspace/d.txt', isSuccess: true },
        { type: 'search', query: '*.ts', isSuccess: true },
        { type: 'search', query: 'x', isSuccess: true },
        { type: 'search', query: 'Cli', isSuccess: true },
        { type: 'command', command: 'make', exitCode: 2, isSuccess: false },
        { type: 'skill', path: '/workspace/.kilo/skills/demo/SKILL.md', skillName: 'demo', isSuccess: true },
      ],
    )
  })

  it('a call that is not offered, or has unreadable input, keeps the name that was called', () => {
    const unreadable = refused('bash', { value: '{"command": "echo' })
    const unoffered = refused('list', { path: '/workspace' })
    assert.deepEqual(activity(refused('bash', { command: 'make' }, {}), unreadable, unoffered), [
      { type: 'command', command: 'make', isSuccess: false },
      { type: 'unknown', raw: unreadable },
      { type: 'unknown', raw: unoffered },
    ])
  })
})

describe('Kilo Code: its own tools', () => {
  it('a task is a subagent that has come to an end, or has begun in the background', () => {
    const input = { description: 'Count', prompt: 'Count.', subagent_type: 'general' }
    assert.deepEqual(
      activity(
        completed('task', input, { sessionId: 'ses_1', parentSessionId: 's' }),
        refused('task', input),
        completed('task', { ...input, background: true }, { sessionId: 'ses_2', background: true }),
      ),
      [
        {
          type: 'orchestration',
          subagentId: 'ses_1',
          subagentName: 'general',
          action: 'subagent_completed',
          isSuccess: true,
        },
        { type: 'orchestration', subagentName: 'general', action: 'subagent_failed', isSuccess: false },
        { type: 'orchestration', subagentId: 'ses_2', subagentName: 'general', action: 'subagent_started' },
      ],
    )
  })

  it('an agent manager that names a session has run it', () => {
    assert.deepEqual(
      activity(
        completed('agent_manager', { agent: 'reviewer' }, { sessionId: 'ses_3' }),
        refused('agent_manager', { agent: 'reviewer' }, { sessionID: 'ses_4' }),
      ),
      [
        {
          type: 'orchestration',
          subagentId: 'ses_3',
          subagentName: 'reviewer',
          action: 'subagent_completed',
          isSuccess: true,
        },
        {
          type: 'orchestration',
          subagentId: 'ses_4',
          subagentName: 'reviewer',
          action: 'subagent_failed',
          isSuccess: false,
        },
      ],
    )
  })

  it('an agent manager that was asked for sessions has begun each of them', () => {
    const input = { mode: 'worktree', tasks: [{ name: 'Fix A', prompt: 'A' }, { prompt: 'B' }, { name: 'Fix C' }] }
    assert.deepEqual(activity(completed('agent_manager', input, { requestID: 'am-1', count: 3 })), [
      { type: 'orchestration', subagentName: 'Fix A', action: 'subagent_started' },
      { type: 'orchestration', subagentName: 'Fix C', action: 'subagent_started' },
    ])
  })

  it('an agent manager that does not show whom it started is unknown', () => {
    const odd = completed('agent_manager', { mode: 'local', tasks: [{ prompt: 'B' }, 7] }, { requestID: 'am-2' })
    assert.deepEqual(activity(odd), [{ type: 'unknown', raw: odd }])
  })

  it('codesearch is a search', () => {
    assert.deepEqual(
      activity(completed('codesearch', { query: 'parse json' }), refused('codesearch', { query: 'x' })),
      [
        { type: 'search', query: 'parse json', isSuccess: true },
        { type: 'search', query: 'x', isSuccess: false },
      ],
    )
  })

  it('a process in the background is a command without a known end', () => {
    const started = completed('background_process', { action: 'start', command: 'cat log', workdir: 'web' })
    const listed = completed('background_process', { action: 'list' })
    assert.deepEqual(activity(started, refused('background_process', { action: 'start', command: 'vite' }), listed), [
      { type: 'command', command: 'cat log', workingDirectory: '/workspace/web' },
      { type: 'command', command: 'vite', isSuccess: false },
      { type: 'unknown', raw: listed },
    ])
  })

  it('all others are unknown', () => {
    const others = ['todowrite', 'webfetch', 'board_post', 'board_read', 'schedule_wakeup', 'kilo_local_recall'].map(
      (tool) => completed(tool, { query: 'x' }),
    )
    assert.deepEqual(
      activity(...others),
      others.map((raw) => ({ type: 'unknown', raw })),
    )
  })
})
