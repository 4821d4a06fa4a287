import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@inspan/protocol'
import { toolUse } from '../../test/opencode-tool-use.ts'
import { mapRun, unstamped, type MappedRun, type RunOptions } from '../../test/support.ts'
import { opencodeDialect } from './mapper.ts'

interface Mapped extends Omit<MappedRun, 'activity'> {
  readonly activity: readonly object[]
}

function map(lines: readonly unknown[], options?: RunOptions): Mapped {
  const mapped = mapRun(opencodeDialect, lines, options)
  return { ...mapped, activity: unstamped(mapped.activity) }
}

const callIdOf = (record: JsonObject): string => (record['part'] as { readonly callID: string }).callID
const completed = (tool: string, input: JsonObject, metadata: JsonObject = {}): JsonObject =>
  toolUse(tool, { status: 'completed', input, output: 'secret contents', title: tool, metadata, time: {} })
const refused = (tool: string, input: JsonObject): JsonObject =>
  toolUse(tool, { status: 'error', input, error: 'It failed.', time: {} })
const activity = (...records: readonly JsonObject[]): readonly object[] => map(records).activity

describe('OpenCode: files', () => {
  it('read is read, with the lines that were read', () => {
    const display = { type: 'file', path: '/workspace/a.txt', lineStart: 2, lineEnd: 4, totalLines: 6 }
    assert.deepEqual(activity(completed('read', { filePath: 'a.txt', offset: 2, limit: 9 }, { display })), [
      { type: 'read', path: '/workspace/a.txt', startLine: 2, endLine: 4, isSuccess: true },
    ])
  })

  it('the requested lines count if the program does not report which it read', () => {
    assert.deepEqual(
      activity(
        completed('read', { filePath: 'a.txt', offset: 5, limit: 3 }),
        completed('read', { filePath: '/b.txt', limit: 10 }),
        completed('read', { filePath: '/c.txt' }),
        refused('read', { filePath: '/d.txt' }),
      ),
      [
        { type: 'read', path: '/workspace/a.txt', startLine: 5, endLine: 7, isSuccess: true },
        { type: 'read', path: '/b.txt', startLine: 1, endLine: 10, isSuccess: true },
        { type: 'read', path: '/c.txt', isSuccess: true },
        { type: 'read', path: '/d.txt', isSuccess: false },
      ],
    )
  })

  it('an empty file has no last line', () => {
    const display = { type: 'file', path: '/empty', lineStart: 1, lineEnd: 0, totalLines: 0 }
    assert.deepEqual(activity(completed('read', { filePath: '/empty' }, { display })), [
      { type: 'read', path: '/empty', startLine: 1, isSuccess: true },
    ])
  })

  it('reading a directory is a listing', () => {
    const display = { type: 'directory', path: '/workspace/src', entries: ['app.ts'] }
    assert.deepEqual(activity(completed('read', { filePath: 'src' }, { display })), [
      { type: 'list', path: '/workspace/src', isSuccess: true },
    ])
  })

  it('write and edit are writes, of the file the program names', () => {
    assert.deepEqual(
      activity(
        completed('write', { filePath: 'a.txt', content: 'x' }, { filepath: '/elsewhere/a.txt', exists: false }),
        completed('edit', { filePath: 'b.ts' }, { filediff: { file: '/elsewhere/b.ts' } }),
        completed('edit', { filePath: 'c.ts' }),
        refused('edit', { filePath: '/d.ts' }),
      ),
      [
        { type: 'write', path: '/elsewhere/a.txt', isSuccess: true },
        { type: 'write', path: '/elsewhere/b.ts', isSuccess: true },
        { type: 'write', path: '/workspace/c.ts', isSuccess: true },
        { type: 'write', path: '/d.ts', isSuccess: false },
      ],
    )
  })

  it('apply_patch is one write for each file the program has changed', () => {
    const files = [
      { filePath: '/w/new.txt', relativePath: 'new.txt', type: 'add' },
      { filePath: '/w/old.ts', relativePath: 'moved.ts', type: 'move', movePath: '/w/moved.ts' },
      { filePath: '/w/new.txt', type: 'update' },
    ]
    assert.deepEqual(activity(completed('apply_patch', { patchText: '*** Add File: other.txt' }, { files })), [
      { type: 'write', path: '/w/new.txt', isSuccess: true },
      { type: 'write', path: '/w/old.ts', isSuccess: true },
      { type: 'write', path: '/w/moved.ts', isSuccess: true },
    ])
  })

  it('a patch that failed names its files by its markers', () => {
    const patchText = [
      '*** Begin Patch',
      '*** Add File: a.txt',
      '+*** Delete File: not-a-marker',
      '*** Update File: b.txt',
      '*** Move to: c.txt',
      '*** Delete File: d.txt',
      '*** End Patch',
    ].join('\n')
    assert.deepEqual(
      activity(refused('apply_patch', { patchText })),
      ['a', 'b', 'c', 'd'].map((name) => ({ type: 'write', path: `/workspace/${name}.txt`, isSuccess: false })),
    )
  })

  it('a patch that names no file is unknown', () => {
    const odd = refused('apply_patch', { patchText: 'nothing' })
    assert.deepEqual(activity(odd), [{ type: 'unknown', raw: odd }])
  })
})

describe('OpenCode: searches', () => {
  it('grep and glob are searches; one that finds nothing has succeeded', () => {
    assert.deepEqual(
      activity(
        completed('grep', { pattern: 'TODO', path: 'src', include: '*.ts' }, { matches: 0 }),
        completed('glob', { pattern: '**/*.ts' }, { count: 1 }),
        refused('grep', { pattern: 'TODO' }),
      ),
      [
        { type: 'search', query: 'TODO', path: '/workspace/src', isSuccess: true },
        { type: 'search', query: '**/*.ts', isSuccess: true },
        { type: 'search', query: 'TODO', isSuccess: false },
      ],
    )
  })

  it('lsp is a search when it looks for something, else unknown', () => {
    const hover = completed('lsp', { operation: 'hover', filePath: 'a.ts', line: 1, character: 2 })
    assert.deepEqual(
      activity(
        completed('lsp', { operation: 'workspaceSymbol', query: 'Cli' }),
        completed('lsp', { operation: 'findReferences', symbol: 'run', filePath: 'a.ts' }),
        hover,
      ),
      [
        { type: 'search', query: 'Cli', isSuccess: true },
        { type: 'search', query: 'run', path: '/workspace/a.ts', isSuccess: true },
        { type: 'unknown', raw: hover },
      ],
    )
  })
})

describe('OpenCode: commands', () => {
  const bash = (command: string, exit?: number | null, input: JsonObject = {}): JsonObject =>
    completed('bash', { command, ...input }, exit === undefined ? {} : { exit })

  it('the exit code decides about success, not that the tool has completed', () => {
    assert.deepEqual(activity(bash('make', 0), bash('make', 3)), [
      { type: 'command', command: 'make', exitCode: 0, isSuccess: true },
      { type: 'command', command: 'make', exitCode: 3, isSuccess: false },
    ])
  })

  it('a command that was killed has failed and has no exit code', () => {
    assert.deepEqual(activity(bash('sleep 999', null)), [{ type: 'command', command: 'sleep 999', isSuccess: false }])
  })

  it('without an exit code nothing is said about success', () => {
    assert.deepEqual(activity(bash('make')), [{ type: 'command', command: 'make' }])
  })

  it('a command that was not run has failed', () => {
    assert.deepEqual(activity(refused('bash', { command: 'make' }), refused('bash', { command: 'cat /a; cat /b' })), [
      { type: 'command', command: 'make', isSuccess: false },
      { type: 'read', path: '/a', isSuccess: false },
      { type: 'read', path: '/b', isSuccess: false },
    ])
  })

  it('the directory is reported where the program reports it, and paths are relative to it', () => {
    assert.deepEqual(activity(bash('make', 0, { workdir: 'sub' }), bash('cat a.txt', 0, { workdir: '/opt' })), [
      { type: 'command', command: 'make', workingDirectory: '/workspace/sub', exitCode: 0, isSuccess: true },
      { type: 'read', path: '/opt/a.txt', isSuccess: true },
    ])
  })

  it('a command that only looks at files is what it does to them', () => {
    assert.deepEqual(activity(bash("sed -n '2,4p' a.txt", 0), bash('rg -n TODO src', 1), bash('ls src', 0)), [
      { type: 'read', path: '/workspace/a.txt', startLine: 2, endLine: 4, isSuccess: true },
      { type: 'search', query: 'TODO', path: '/workspace/src', isSuccess: true },
      { type: 'list', path: '/workspace/src', isSuccess: true },
    ])
  })

  it('a failed command is a failed result', () => {
    const { events } = map([bash('make', 2)])
    const result = events.find((event) => event.type === 'tool-result')
    assert.equal(result?.isError, true)
    assert.equal(result?.result, 'secret contents')
  })
})

describe('OpenCode: skills and subagents', () => {
  it('a skill is the file it was loaded from', () => {
    const dir = '/workspace/.opencode/skills/demo'
    assert.deepEqual(activity(completed('skill', { name: 'demo' }, { name: 'demo', dir })), [
      { type: 'skill', path: `${dir}/SKILL.md`, skillName: 'demo', isSuccess: true },
    ])
  })

  it('a missing skill is reported where skills would be', () => {
    assert.deepEqual(activity(refused('skill', { name: 'nope' })), [
      { type: 'skill', path: '/workspace/skills/nope/SKILL.md', skillName: 'nope', isSuccess: false },
    ])
  })

  it('a task is a subagent that has come to an end', () => {
    const input = { description: 'Count', prompt: 'Count the lines.', subagent_type: 'general' }
    assert.deepEqual(
      activity(
        completed('task', input, { sessionId: 'ses_child', parentSessionId: 's' }),
        refused('task', { ...input, subagent_type: 'nobody' }),
        refused('task', { ...input, task_id: 'ses_before' }),
        completed('task', { ...input, background: true }, { sessionId: 'ses_later', background: true }),
      ),
      [
        {
          type: 'orchestration',
          subagentId: 'ses_child',
          subagentName: 'general',
          action: 'subagent_completed',
          isSuccess: true,
        },
        { type: 'orchestration', subagentName: 'nobody', action: 'subagent_failed', isSuccess: false },
        {
          type: 'orchestration',
          subagentId: 'ses_before',
          subagentName: 'general',
          action: 'subagent_failed',
          isSuccess: false,
        },
        { type: 'orchestration', subagentId: 'ses_later', subagentName: 'general', action: 'subagent_started' },
      ],
    )
  })

  it('a task whose owner is unknown is unknown', () => {
    const odd = completed('task', { prompt: 'Do it.' })
    assert.deepEqual(activity(odd), [{ type: 'unknown', raw: odd }])
  })
})

describe('OpenCode: other calls', () => {
  it('tools of others, web tools and to-do lists are unknown, with all that was printed', () => {
    const others = [
      'webfetch',
      'websearch',
      'todowrite',
      'todoread',
      'question',
      'server_tool',
      'list',
      '__proto__',
    ].map((tool) => completed(tool, { path: '/workspace', pattern: 'x', command: 'ls' }))
    assert.deepEqual(
      activity(...others),
      others.map((raw) => ({ type: 'unknown', raw })),
    )
  })

  it('a call that lacks what the tool needs is unknown', () => {
    const odd = ['read', 'write', 'edit', 'grep', 'glob', 'bash', 'skill'].map((tool) => refused(tool, { wrong: 1 }))
    assert.deepEqual(
      activity(...odd),
      odd.map((raw) => ({ type: 'unknown', raw })),
    )
  })

  it('an invalid call is a failed call of what was called', () => {
    const invalid = completed('invalid', { tool: 'bash', error: 'The input is no JSON.' })
    const { activity: made, events } = map([invalid])
    assert.deepEqual(made, [{ type: 'unknown', raw: invalid }])
    const call = events.find((event) => event.type === 'tool-call')
    const result = events.find((event) => event.type === 'tool-result')
    assert.equal(call?.toolName, 'bash')
    assert.equal(result?.isError, true)
    assert.equal(result?.result, 'The input is no JSON.')
  })

  it('input that is no object is kept as it came', () => {
    const { events } = map([toolUse('bash', { status: 'error', input: '{"comm', error: 'No.' })])
    assert.equal(events.find((event) => event.type === 'tool-call')?.meta?.invalidInput, '{"comm')
  })

  it('a call that is reported while it runs waits for its end', () => {
    const input = { pattern: 'x' }
    const running = toolUse('grep', { status: 'running', input })
    const again = structuredClone(running)
    const over = toolUse('grep', { status: 'completed', input, metadata: {} })
    const ended = { ...over, part: { ...(over['part'] as JsonObject), callID: callIdOf(running) } }
    const { activity: made, sums } = map([toolUse('grep', { status: 'pending', input: {} }), running, again, ended])
    assert.deepEqual(made, [{ type: 'search', query: 'x', isSuccess: true }])
    assert.deepEqual(sums.reasons, { partial: 2 })
    assert.deepEqual([sums.events + sums.consumed, sums.waiting], [4, 0])
  })

  it('a call that is never answered is closed as failed', () => {
    const {
      activity: made,
      events,
      sums,
    } = map([toolUse('bash', { status: 'running', input: { command: 'sleep 9' } })])
    assert.deepEqual(made, [{ type: 'command', command: 'sleep 9', isSuccess: false }])
    assert.equal(events.find((event) => event.type === 'tool-result')?.meta?.synthetic, true)
    assert.deepEqual([sums.events + sums.consumed, sums.waiting], [1, 0])
  })

  it('an id that is used again is another call', () => {
    const first = completed('grep', { pattern: 'x' })
    const { activity: made, events } = map([first, first])
    assert.equal(made.length, 2)
    const ids = events.flatMap((event) => (event.type === 'tool-call' ? [event.toolCallId] : []))
    assert.deepEqual(ids, [callIdOf(first), `${callIdOf(first)}#2`])
  })

  it('contents are never in activity', () => {
    const all = activity(
      completed('read', { filePath: '/a' }),
      completed('write', { filePath: '/a', content: 'secret contents' }),
      completed('grep', { pattern: 'x' }),
      completed('bash', { command: 'make' }, { exit: 0, output: 'secret contents' }),
      completed('skill', { name: 'demo' }, { dir: '/d' }),
      completed('task', { subagent_type: 'general', prompt: 'secret contents' }),
    )
    assert.ok(!JSON.stringify(all).includes('secret contents'))
  })
})
