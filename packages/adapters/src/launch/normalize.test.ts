import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InspanError, type ActivityEvent } from '@inspan/protocol'
import { claudeCodeDialect } from '../claude-code/mapper.ts'
import { codexAppServerDialect } from '../codex/app-server/mapper.ts'
import { codexDialect } from '../codex/mapper.ts'
import { normalize, type NormalizeOptions } from './normalize.ts'

const dialects = [claudeCodeDialect, codexDialect]
const AT = Date.parse('2026-01-02T03:04:05.678Z')

async function events(lines: readonly string[], options: Partial<NormalizeOptions> = {}): Promise<ActivityEvent[]> {
  return Array.fromAsync(normalize(lines, { dialects, harness: 'codex', now: () => AT, ...options }))
}

const started = '{"type":"thread.started","thread_id":"t1"}'
const command = JSON.stringify({
  type: 'item.completed',
  item: { id: 'i', type: 'command_execution', command: 'cat a.txt', exit_code: 0, status: 'completed' },
})

describe('a program’s own output', () => {
  it('becomes activity, with the time it was read at', async () => {
    assert.deepEqual(
      await events([started, '{"type":"item.completed","item":{"id":"a","type":"agent_message","text":"hi"}}']),
      [{ type: 'agent', message: 'hi', timestamp: '2026-01-02T03:04:05.678Z', sessionId: 't1' }],
    )
  })

  it('keeps relative paths of a command as written where nothing names the folder it ran in', async () => {
    const [read] = await events([started, command], { cwd: '/work' })
    assert.equal(read?.type === 'read' && read.path, 'a.txt')
  })

  it('is completed by what the stream lacks', async () => {
    const made = await events([started], { stderr: ['no such model'], exitCode: 2 })
    assert.deepEqual(
      made.map((event) => [event.type, 'code' in event ? event.code : undefined]),
      [
        ['warning', undefined],
        ['error', 'exit-2'],
      ],
    )
  })

  it('may begin with blank lines and hold anything', async () => {
    const made = await events(['', '  ', 'Warning: hello', started])
    assert.deepEqual(
      made.map(({ type }) => type),
      ['unknown'],
    )
  })

  it('is read by its protocol if the program was talked to', async () => {
    const item = { id: 'm', type: 'agentMessage', text: 'hi', phase: null }
    const spoken = [
      JSON.stringify({ id: 0, result: { userAgent: 'x' } }),
      JSON.stringify({ method: 'thread/started', params: { thread: { id: 't1' } } }),
      JSON.stringify({ method: 'item/completed', params: { threadId: 't1', turnId: 'u', item } }),
    ]
    const liveDialects = [codexAppServerDialect]
    const made = await events(spoken, { liveDialects })
    assert.deepEqual(
      made.map((event) => (event.type === 'agent' ? event.message : event.type)),
      ['hi'],
    )
    assert.deepEqual(
      (await events([started, ...spoken], { liveDialects })).map(({ type }) => type),
      ['unknown', 'unknown', 'unknown'],
    )
    const without = await events(spoken)
    assert.deepEqual(
      without.map(({ type }) => type),
      ['unknown', 'unknown', 'unknown'],
    )
  })

  it('may be empty', async () => {
    assert.deepEqual(await events([]), [])
  })

  it('is refused if no agent prints anything like it', async () => {
    await assert.rejects(events([started], { harness: 'nobody' }), (error) => InspanError.is(error, 'invalid-input'))
    const unnamed = normalize([started], { dialects })
    await assert.rejects(unnamed.next(), /--harness\): one of claude-code, codex/)
  })

  it('may arrive in pieces', async () => {
    async function* slowly(): AsyncGenerator<string> {
      yield started
      await new Promise((resolve) => setImmediate(resolve))
      yield command
    }
    const made = await Array.fromAsync(normalize(slowly(), { dialects, harness: 'codex', now: () => AT }))
    assert.equal(made.length, 1)
  })
})

describe('a recording', () => {
  const line = (text: string, at = 5): string => JSON.stringify({ at, stream: 'stdout', line: text })

  it('names its own source, place and time', async () => {
    const recording = [
      JSON.stringify({ at: 1, note: { run: { harness: 'codex', cwd: '/there' } } }),
      line(started, 2),
      line(command, 3),
      JSON.stringify({ at: 4, note: { end: { exitCode: 0, signal: null } } }),
    ]
    const made = await Array.fromAsync(normalize(recording, { dialects, harness: 'claude-code', cwd: '/here' }))
    assert.deepEqual(made, [
      { type: 'read', path: 'a.txt', isSuccess: true, timestamp: new Date(3).toISOString(), sessionId: 't1' },
    ])
  })

  it('reads a recording of raw lines alone', async () => {
    const made = await events([line(started), JSON.stringify({ at: 6, stream: 'stderr', line: 'careful' })], {
      exitCode: 1,
    })
    assert.deepEqual(
      made.map((event) => [event.type, event.timestamp]),
      [
        ['warning', new Date(6).toISOString()],
        ['error', new Date(6).toISOString()],
      ],
    )
  })
})
