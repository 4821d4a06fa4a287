import assert from 'node:assert/strict'
import { mkdir, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { InspanError } from '@inspan/protocol'
import type { NativeMessage, NativeSessions } from '@inspan/protocol/driver'
import { scratch } from '../../test/launch/stand-in.ts'
import { claudeSessions } from '../claude-code/sessions.ts'
import { codexSessions } from '../codex/sessions.ts'
import { piSessions } from '../pi/sessions.ts'

const ID = '11111111-2222-4333-8444-555555555555'
const OTHER = '99999999-2222-4333-8444-555555555555'

async function write(file: string, minute: number, ...records: readonly unknown[]): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  await utimes(file, minute * 60, minute * 60)
}

const brief = ({ role, parts }: NativeMessage): string =>
  `${role}: ${parts
    .map((part) => {
      if (part.type === 'text') return part.text
      if (part.type === 'tool-call') return `${part.toolName}(${JSON.stringify(part.args)})`
      return part.type === 'tool-result' ? `= ${JSON.stringify(part.result)}` : part.type
    })
    .join(' ')}`

const told = async (sessions: NativeSessions, folder: string): Promise<readonly string[]> =>
  (await Array.fromAsync(sessions.read(ID, folder))).map(brief)

describe('the sessions that an agent keeps itself', () => {
  it('sessions of Claude Code are listed newest first and read without the text of subagents', async (t) => {
    const home = await scratch(t)
    const folder = '/work/my.app'
    const dir = join(home, '.claude/projects/-work-my-app')
    const user = (content: unknown, more: object = {}): object => ({
      type: 'user',
      cwd: folder,
      uuid: 'u',
      timestamp: '2026-11-18T00:00:00.000Z',
      message: { role: 'user', content },
      ...more,
    })
    await write(
      join(dir, `${ID}.jsonl`),
      1,
      { type: 'queue-operation', sessionId: ID },
      user([{ type: 'text', text: 'List\nthe files.' }]),
      user('hidden', { isSidechain: true }),
      {
        type: 'assistant',
        cwd: folder,
        message: { content: [{ type: 'tool_use', id: 'c', name: 'Bash', input: { command: 'ls' } }] },
      },
      user([{ type: 'tool_result', tool_use_id: 'c', content: 'a.txt' }]),
      { type: 'assistant', cwd: folder, message: { content: [{ type: 'text', text: 'One\u2028file.' }] } },
    )
    await write(join(dir, `${OTHER}.jsonl`), 2, user('Newer.'))
    const sessions = claudeSessions({ HOME: home })
    assert.deepEqual(await sessions.list(folder), [
      { id: OTHER, title: 'Newer.', updatedAt: 120_000, cwd: folder },
      { id: ID, title: 'List the files.', updatedAt: 60_000, cwd: folder },
    ])
    assert.deepEqual(await told(sessions, folder), [
      'user: List\nthe files.',
      'assistant: Bash({"command":"ls"})',
      'user: = "a.txt"',
      'assistant: One\u2028file.',
    ])
    assert.deepEqual(await sessions.list('/elsewhere'), [])
  })

  it('sessions of Codex are those of the folder, without what Codex inserts in the user’s name', async (t) => {
    const home = await scratch(t)
    const file = (id: string): string =>
      join(home, `.codex/sessions/2026/11/18/rollout-2026-11-18T00-20-48-${id}.jsonl`)
    const meta = (cwd: string): object => ({ type: 'session_meta', payload: { id: ID, cwd } })
    const item = (payload: object): object => ({ type: 'response_item', timestamp: '2026-11-18T00:00:00Z', payload })
    const says = (role: string, text: string): object => item({ type: 'message', role, content: [{ text }] })
    await write(
      file(ID),
      1,
      meta('/work'),
      says('developer', 'Be good.'),
      says('user', '<environment_context>\n</environment_context>'),
      says('user', 'Say hi.'),
      item({ type: 'function_call', name: 'shell', arguments: '{"command":"ls"}', call_id: 'c' }),
      item({ type: 'function_call_output', call_id: 'c', output: 'a.txt' }),
      says('assistant', 'Hi.'),
    )
    await write(file(OTHER), 2, meta('/elsewhere'), says('user', 'Not here.'))
    const sessions = codexSessions({ HOME: home })
    assert.deepEqual(await sessions.list('/work'), [{ id: ID, title: 'Say hi.', updatedAt: 60_000, cwd: '/work' }])
    assert.deepEqual(await told(sessions, '/work'), [
      'user: Say hi.',
      'assistant: shell({"command":"ls"})',
      'user: = "a.txt"',
      'assistant: Hi.',
    ])
  })

  it('sessions of Pi are read with calls and results', async (t) => {
    const home = await scratch(t)
    const file = join(home, `.pi/agent/sessions/--work--/2026-11-18_${ID}.jsonl`)
    const message = (message: object): object => ({ type: 'message', id: 'e', message })
    await write(
      file,
      1,
      { type: 'session', id: ID, cwd: '/work' },
      message({ role: 'user', content: [{ type: 'text', text: 'Say hi.' }] }),
      message({
        role: 'assistant',
        content: [{ type: 'toolCall', id: 'c', name: 'bash', arguments: { command: 'ls' } }],
      }),
      message({ role: 'toolResult', toolCallId: 'c', toolName: 'bash', content: 'a.txt' }),
      message({ role: 'assistant', content: [{ type: 'text', text: 'Hi.' }] }),
    )
    const sessions = piSessions({ HOME: home })
    assert.deepEqual(await sessions.list('/work'), [{ id: ID, title: 'Say hi.', updatedAt: 60_000, cwd: '/work' }])
    assert.deepEqual(await told(sessions, '/work'), [
      'user: Say hi.',
      'assistant: bash({"command":"ls"})',
      'user: = "a.txt"',
      'assistant: Hi.',
    ])
  })

  it('sessions that do not exist are not found, and a broken line is left out', async (t) => {
    const home = await scratch(t)
    const sessions = claudeSessions({ HOME: home })
    await assert.rejects(Array.fromAsync(sessions.read(ID, '/work')), (error) => InspanError.is(error, 'not-found'))
    const file = join(home, `.claude/projects/-work/${ID}.jsonl`)
    await write(file, 1, { type: 'user', cwd: '/work', message: { content: 'Hi.' } }, 'no record')
    assert.deepEqual(await told(sessions, '/work'), ['user: Hi.'])
  })
})
