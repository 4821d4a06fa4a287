import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { claudeCode } from '@inspan/adapters'
import { connect } from '@inspan/client'
import { Harness } from '@inspan/core'
import { serve, type InspanServer } from './serve.ts'
import type { ServeOptions } from './options.ts'
import { stateWhere } from './client-state.fixture.ts'

const SESSION = '0b7c6f0e-5a1d-4f43-9a39-6d1c2c9f7c11'

/** A program that answers every prompt like Claude Code in print mode, and notes how it was called. */
const STAND_IN = `#!${process.execPath}
const { appendFileSync } = require('node:fs')
if (process.argv.includes('--version')) { console.log('2.1.326 (Claude Code)'); process.exit(0) }
appendFileSync(process.env.DIARY, JSON.stringify({ argv: process.argv.slice(2), cwd: process.cwd() }) + '\\n')
const session_id = '${SESSION}'
const say = (line) => console.log(JSON.stringify({ session_id, ...line }))
say({ type: 'system', subtype: 'init', cwd: process.cwd(), tools: [], mcp_servers: [], model: 'claude', uuid: 'u1' })
say({ type: 'assistant', uuid: 'u2', parent_tool_use_id: null, message: { id: 'm1', type: 'message', role: 'assistant', model: 'claude', content: [{ type: 'text', text: 'Going on.' }], stop_reason: 'end_turn', usage: { input_tokens: 1, output_tokens: 1 } } })
say({ type: 'result', subtype: 'success', is_error: false, result: 'Going on.', num_turns: 1, duration_ms: 1, usage: { input_tokens: 1, output_tokens: 1 }, uuid: 'u3' })
`

interface Place {
  readonly server: InspanServer
  readonly folder: string
  readonly calls: () => { argv: string[]; cwd: string }[]
}

/** Serves Claude Code in a folder in which a person has talked to it before. */
async function place(t: TestContext, options: Partial<ServeOptions> = {}): Promise<Place> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'inspan-native-')))
  const folder = join(root, 'project')
  const bin = join(root, 'claude.cjs')
  const diary = join(root, 'diary.jsonl')
  const sessions = join(root, '.claude/projects', folder.replaceAll(/[^a-zA-Z0-9]/g, '-'))
  for (const dir of [folder, sessions]) mkdirSync(dir, { recursive: true })
  writeFileSync(bin, STAND_IN)
  chmodSync(bin, 0o755)
  const line = (record: object): string => `${JSON.stringify({ sessionId: SESSION, cwd: folder, ...record })}\n`
  writeFileSync(
    join(sessions, `${SESSION}.jsonl`),
    [
      line({ type: 'user', uuid: 'n1', message: { role: 'user', content: 'Remember the number 7.' } }),
      line({ type: 'assistant', uuid: 'n2', message: { content: [{ type: 'text', text: 'I will.' }] } }),
    ].join(''),
  )
  const agent = claudeCode({ bin, cwd: root, transport: 'print', env: { HOME: root, DIARY: diary } })
  const harness = new Harness({ id: 'native', modes: [{ id: 'claude', agent }] })
  const server = await serve({ harness, folders: [folder], ...options })
  t.after(async () => {
    await server.close()
    await harness.destroy()
    rmSync(root, { recursive: true, force: true })
  })
  const calls = (): { argv: string[]; cwd: string }[] =>
    readFileSync(diary, 'utf8')
      .trim()
      .split('\n')
      .map((each) => JSON.parse(each) as { argv: string[]; cwd: string })
  return { server, folder, calls }
}

describe('a session that a coding agent began without us', () => {
  it('is listed, imported by `resume`, and continued by the agent in its folder', async (t) => {
    const { calls, folder, server } = await place(t)
    const client = await connect({ url: server.url, token: server.token })
    const [listed] = await client.routes.sessions()
    assert.deepEqual(
      [listed?.id, listed?.agentId, listed?.cwd, listed?.title],
      [SESSION, 'claude-code', folder, 'Remember the number 7.'],
    )
    const receipt = await client.send({ type: 'resume', sessionId: SESSION, prompt: 'Which number?' }).receipt
    assert.equal(receipt.status, 'done')
    const { threads } = await client.routes.threads({ search: 'Remember' })
    const thread = threads[0]?.id ?? ''
    assert.equal(receipt.thread, thread)
    await client.open(thread)
    const { messages } = await stateWhere(client, ({ head }) => head.lastRun?.runId === receipt.runId)
    assert.deepEqual(
      messages.map(({ content, role }) => `${role}: ${content}`),
      ['user: Remember the number 7.', 'assistant: I will.', 'user: Which number?', 'assistant: Going on.'],
    )
    const [first] = calls()
    assert.equal(first?.cwd, folder)
    assert.equal(first?.argv[first.argv.indexOf('--resume') + 1], SESSION)
    assert.ok(!first?.argv.join(' ').includes('Remember the number'), 'the agent knows its own history')

    const again = await client.send({ type: 'resume', sessionId: SESSION, prompt: 'And now?' }).receipt
    assert.equal(again.thread, thread)
    await stateWhere(client, ({ head }) => head.lastRun?.runId === again.runId)
    assert.equal((await client.routes.threads()).threads.filter(({ title }) => title?.startsWith('Remember')).length, 1)
    await client.close()
  })

  it('is imported without a message, once', async (t) => {
    const { calls, server } = await place(t)
    const client = await connect({ url: server.url, token: server.token })
    const thread = await client.routes.importSession(SESSION)
    await client.open(thread)
    assert.deepEqual(
      client.getState().messages.map(({ content }) => content),
      ['Remember the number 7.', 'I will.'],
    )
    assert.equal(await client.routes.importSession(SESSION), thread)
    assert.throws(calls, 'the agent was not called')
    await assert.rejects(client.routes.importSession('nobody knows it'), /no thread|not found|There is no/i)
    await client.close()
  })

  it('is out of reach in a folder that the server does not offer', async (t) => {
    const { folder, server } = await place(t, { folders: [] })
    const client = await connect({ url: server.url, token: server.token })
    assert.deepEqual(await client.routes.sessions(), [])
    await assert.rejects(client.routes.sessions(folder), /not among those/)
    const refused = await client.send({ type: 'resume', sessionId: SESSION, prompt: 'x' }).receipt
    assert.deepEqual([refused.status, refused.reason], ['rejected', 'unknown-id'])
    await client.close()
  })

  it('sessions of the machine are not shown to a tenant of a shared server', async (t) => {
    const { server } = await place(t, {
      identify: ({ headers }) =>
        headers['x-user'] === 'eve' ? { principal: 'eve', role: 'drive', tenant: 'elsewhere' } : undefined,
    })
    const headers = { 'x-user': 'eve', 'content-type': 'application/json' }
    const listed = await fetch(`${server.url}/v1/sessions`, { headers })
    assert.deepEqual(await listed.json(), { sessions: [] })
    const commands = [{ type: 'resume', sessionId: SESSION, prompt: 'x' }]
    const sent = await fetch(`${server.url}/v1/commands`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ commands }),
    })
    const { receipts } = (await sent.json()) as { receipts: { status: string; reason: string }[] }
    assert.deepEqual([receipts[0]?.status, receipts[0]?.reason], ['rejected', 'unknown-id'])
  })
})
