import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type { LoadSessionResponse } from '@agentclientprotocol/sdk'
import { startProvider } from '@inspan/testing'
import { AcpBench } from './acp-client.fixture.ts'

const MODEL = ['--model', 'anthropic/claude-sonnet-4-5']
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const PDF = Buffer.from('%PDF-1.4').toString('base64')

let cwd = ''
before(async () => {
  cwd = await realpath(await mkdtemp(join(tmpdir(), 'inspan-acp-')))
  await writeFile(join(cwd, 'note.txt'), 'A note.')
})
after(() => rm(cwd, { recursive: true, maxRetries: 5 }))

type Provider = Awaited<ReturnType<typeof startProvider>>

function withModel(provider: Provider): AcpBench {
  return new AcpBench(MODEL, { cwd, env: { ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: `${provider.url}/v1` } })
}

suite('inspan acp', () => {
  test('reports what it can do, and answers with the demo agent when no other is chosen', async () => {
    await using bench = new AcpBench([], { cwd })
    const said = await bench.initialize()
    assert.equal(said.protocolVersion, 1)
    assert.equal(said.agentInfo?.name, 'inspan')
    assert.equal(said.agentCapabilities?.loadSession, true)
    const { modes, sessionId } = await bench.agent.request('session/new', { cwd, mcpServers: [] })
    assert.deepEqual(
      modes?.availableModes.map(({ id }) => id),
      ['demo'],
    )
    bench.answer = () => ({ outcome: 'selected', optionId: 'allow' })
    assert.equal((await bench.prompt(sessionId, 'Hi')).stopReason, 'end_turn')
    assert.match(bench.text('agent_message_chunk'), /note\.txt/)
  })

  test('streams text, thoughts and tool calls, and reports what was used', async () => {
    await using provider = await startProvider([
      {
        reasoning: 'I should look.',
        text: ['Let me ', 'read it.'],
        toolCalls: [{ name: 'read_file', input: { path: 'note.txt' } }],
        usage: { inputTokens: 10, outputTokens: 5 },
      },
      { text: 'It is a note.', usage: { inputTokens: 20, outputTokens: 6 } },
    ])
    await using bench = withModel(provider)
    const result = await bench.prompt(await bench.start(cwd), 'What is in note.txt?')
    assert.equal(result.stopReason, 'end_turn')
    assert.deepEqual((result as { usage?: unknown }).usage, { inputTokens: 30, outputTokens: 11, totalTokens: 41 })
    assert.equal(bench.text('agent_thought_chunk'), 'I should look.')
    assert.equal(bench.text('agent_message_chunk'), 'Let me read it.It is a note.')
    const [call] = bench.of('tool_call')
    assert.equal(call?.kind, 'read')
    const last = bench.of('tool_call_update').at(-1)
    assert.equal(last?.toolCallId, call?.toolCallId)
    assert.equal(last?.status, 'completed')
    assert.match(JSON.stringify(last?.content), /A note\./)
    assert.deepEqual(
      bench.of('session_info_update').map(({ title }) => title),
      ['What is in note.txt?'],
    )
  })

  test('asks before a file is written: allowed once it is written, rejected it is not', async () => {
    const write = (path: string) => ({ toolCalls: [{ name: 'write_file', input: { path, content: 'x' } }] })
    await using provider = await startProvider([
      write('yes.txt'),
      { text: 'Done.' },
      write('no.txt'),
      { text: 'Then not.' },
    ])
    await using bench = withModel(provider)
    const session = await bench.start(cwd)
    bench.answer = () => ({ outcome: 'selected', optionId: 'allow' })
    await bench.prompt(session, 'Write yes.txt')
    assert.deepEqual(
      bench.permissions[0]?.options.map(({ kind }) => kind),
      ['allow_once', 'allow_always', 'reject_once'],
    )
    assert.equal(await readFile(join(cwd, 'yes.txt'), 'utf8'), 'x')
    bench.answer = () => ({ outcome: 'selected', optionId: 'reject' })
    assert.equal((await bench.prompt(session, 'Write no.txt')).stopReason, 'end_turn')
    assert.equal(existsSync(join(cwd, 'no.txt')), false)
    assert.equal(bench.of('tool_call_update').at(-1)?.status, 'failed')
    assert.equal(bench.permissions.length, 2)
  })

  test('does not ask again after "always"', async () => {
    const write = (path: string) => ({ toolCalls: [{ name: 'write_file', input: { path, content: 'x' } }] })
    await using provider = await startProvider([write('one.txt'), write('two.txt'), { text: 'Done.' }])
    await using bench = withModel(provider)
    bench.answer = () => ({ outcome: 'selected', optionId: 'always' })
    await bench.prompt(await bench.start(cwd), 'Write both')
    assert.equal(bench.permissions.length, 1)
    assert.equal(existsSync(join(cwd, 'two.txt')), true)
  })

  test('puts a question with choices to the client, and takes the next prompt as answer to one without', async () => {
    await using provider = await startProvider([
      {
        toolCalls: [
          { name: 'ask_user', input: { question: 'Which?', options: [{ label: 'Red' }, { label: 'Blue' }] } },
        ],
      },
      { toolCalls: [{ name: 'ask_user', input: { question: 'What name?' } }] },
      { text: 'Thanks.' },
    ])
    await using bench = withModel(provider)
    const session = await bench.start(cwd)
    bench.answer = () => ({ outcome: 'selected', optionId: 'choice-1' })
    assert.equal((await bench.prompt(session, 'Go')).stopReason, 'end_turn')
    assert.deepEqual(bench.permissions[0]?.options.map(({ name }) => name).slice(0, 2), ['Red', 'Blue'])
    assert.match(JSON.stringify(bench.of('tool_call_update')), /User answered: Blue/)
    assert.match(bench.text('agent_message_chunk'), /What name\?/)
    await bench.prompt(session, 'Ada')
    assert.match(JSON.stringify(bench.of('tool_call_update')), /User answered: Ada/)
    assert.match(bench.text('agent_message_chunk'), /Thanks\.$/)
  })

  test('asks for the approval of a plan, and shows tasks as a plan', async () => {
    await using provider = await startProvider([
      { toolCalls: [{ name: 'submit_plan', input: { title: 'Tidy up', plan: '1. Sort' } }] },
      {
        toolCalls: [
          {
            name: 'task_write',
            input: { tasks: [{ content: 'Sort', status: 'in_progress', activeForm: 'Sorting' }] },
          },
        ],
      },
      { text: 'Sorted.' },
    ])
    await using bench = withModel(provider)
    bench.answer = () => ({ outcome: 'selected', optionId: 'allow' })
    await bench.prompt(await bench.start(cwd), 'Plan')
    assert.equal(bench.permissions[0]?.toolCall.title, 'Tidy up')
    assert.deepEqual(bench.of('plan').at(-1)?.entries, [{ content: 'Sort', status: 'in_progress', priority: 'medium' }])
    assert.match(bench.text('agent_message_chunk'), /Sorted\./)
  })

  test('cancels a running prompt, also one that waits for a permission', async () => {
    await using provider = await startProvider([
      { text: 'Starting', hang: true },
      { toolCalls: [{ name: 'write_file', input: { path: 'never.txt', content: 'x' } }] },
      { text: 'Still here.' },
    ])
    await using bench = withModel(provider)
    const session = await bench.start(cwd)
    const running = bench.prompt(session, 'Go')
    await bench.until(() => bench.text('agent_message_chunk') !== '')
    await bench.agent.notify('session/cancel', { sessionId: session })
    assert.equal((await running).stopReason, 'cancelled')
    const { promise: asked, resolve } = Promise.withResolvers<{ outcome: 'cancelled' }>()
    bench.answer = () => asked
    const waiting = bench.prompt(session, 'Write')
    await bench.until(() => bench.permissions.length > 0)
    await bench.agent.notify('session/cancel', { sessionId: session })
    assert.equal((await waiting).stopReason, 'cancelled')
    resolve({ outcome: 'cancelled' })
    assert.equal(existsSync(join(cwd, 'never.txt')), false)
    assert.equal((await bench.prompt(session, 'Are you there?')).stopReason, 'end_turn')
  })

  test('gives the model an image, and reports what it does not take', async () => {
    await using provider = await startProvider([{ text: 'A pixel.' }])
    await using bench = withModel(provider)
    const sessionId = await bench.start(cwd)
    const image = { type: 'image' as const, data: PIXEL, mimeType: 'image/png' }
    await bench.agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'What?' }, image] })
    assert.match(JSON.stringify(provider.requests[0]), new RegExp(PIXEL.slice(0, 20)))
    const audio = { type: 'audio' as const, data: 'AAAA', mimeType: 'audio/wav' }
    await assert.rejects(bench.agent.request('session/prompt', { sessionId, prompt: [audio] }), /no audio/)
    await assert.rejects(bench.agent.request('session/prompt', { sessionId, prompt: [] }), /empty/)
    await assert.rejects(bench.prompt('nobody', 'Hi'), { code: -32002 })
    await assert.rejects(bench.agent.request('session/new', { cwd: 'here', mcpServers: [] }), /absolute/)
  })

  test('reports the failure of the model as an error of the prompt', async () => {
    await using provider = await startProvider([
      { error: { status: 400, message: 'No such thing.' } },
      { text: 'Yes.' },
    ])
    await using bench = withModel(provider)
    const session = await bench.start(cwd)
    await assert.rejects(bench.prompt(session, 'Hi'), /No such thing/)
    assert.equal((await bench.prompt(session, 'Again?')).stopReason, 'end_turn')
  })

  test('lists sessions, and loads one with its history in another process', async () => {
    await using provider = await startProvider([
      { reasoning: 'Hm.', text: 'Reading.', toolCalls: [{ name: 'read_file', input: { path: 'note.txt' } }] },
      { text: 'First answer.' },
      { text: 'Second answer.' },
    ])
    let session = ''
    {
      await using first = withModel(provider)
      session = await first.start(cwd)
      await first.prompt(session, 'Remember the heron')
    }
    await using second = withModel(provider)
    await second.initialize()
    const { sessions } = await second.agent.request('session/list', { cwd })
    assert.equal(sessions.find(({ sessionId }) => sessionId === session)?.title, 'Remember the heron')
    assert.deepEqual((await second.agent.request('session/list', { cwd: '/nowhere' })).sessions, [])
    const load = { sessionId: session, cwd, mcpServers: [] }
    const loaded: LoadSessionResponse = await second.agent.request('session/load', load)
    assert.equal(loaded.modes?.currentModeId, 'build')
    assert.deepEqual(
      second.updates.map(({ sessionUpdate }) => sessionUpdate),
      [
        'user_message_chunk',
        'agent_thought_chunk',
        'agent_message_chunk',
        'tool_call',
        'tool_call_update',
        'agent_message_chunk',
      ],
    )
    assert.equal(second.text('user_message_chunk'), 'Remember the heron')
    await second.prompt(session, 'And?')
    assert.match(second.text('agent_message_chunk'), /First answer\.Second answer\.$/)
    await second.agent.request('session/close', { sessionId: session })
    await assert.rejects(second.prompt(session, 'Hi'), { code: -32002 })
    await second.agent.request('session/resume', { sessionId: session, cwd })
    await assert.rejects(second.agent.request('session/load', { ...load, cwd: '/nowhere' }), { code: -32002 })
  })

  test('asks again about a question that was open when the process ended', async () => {
    await using provider = await startProvider([
      { toolCalls: [{ name: 'ask_user', input: { question: 'Which?', options: [{ label: 'Red' }] } }] },
      { text: 'Red it is.' },
    ])
    let session = ''
    {
      await using first = withModel(provider)
      session = await first.start(cwd)
      first.answer = () => new Promise(() => undefined)
      void first.prompt(session, 'Ask').catch(() => undefined)
      await first.until(() => first.permissions.length > 0)
      first.child.kill('SIGKILL')
    }
    await using second = withModel(provider)
    await second.initialize()
    second.answer = () => ({ outcome: 'selected', optionId: 'choice-0' })
    await second.agent.request('session/load', { sessionId: session, cwd, mcpServers: [] })
    await second.until(() => second.text('agent_message_chunk').includes('Red it is.'))
    assert.equal(second.permissions[0]?.toolCall.title, 'Which?')
  })

  test('asks again about an approval that was open when the process was killed', async () => {
    await using provider = await startProvider([
      { toolCalls: [{ name: 'write_file', input: { path: 'later.txt', content: 'x' } }] },
      { text: 'Written.' },
    ])
    let session = ''
    {
      await using first = withModel(provider)
      session = await first.start(cwd)
      first.answer = () => new Promise(() => undefined)
      void first.prompt(session, 'Write').catch(() => undefined)
      await first.until(() => first.permissions.length > 0)
      first.child.kill('SIGKILL')
    }
    await using second = withModel(provider)
    await second.initialize()
    second.answer = () => ({ outcome: 'selected', optionId: 'allow' })
    await second.agent.request('session/load', { sessionId: session, cwd, mcpServers: [] })
    await second.until(() => second.text('agent_message_chunk').includes('Written.'))
    assert.equal(await readFile(join(cwd, 'later.txt'), 'utf8'), 'x')
  })

  test('switches between the modes of the harness', async () => {
    await using bench = new AcpBench([...MODEL, '--harness', 'codex'], { cwd })
    const sessionId = await bench.start(cwd)
    await bench.agent.request('session/set_mode', { sessionId, modeId: 'codex' })
    await bench.until(() => bench.of('current_mode_update').some(({ currentModeId }) => currentModeId === 'codex'))
    await assert.rejects(bench.agent.request('session/set_mode', { sessionId, modeId: 'none' }), /no mode "none"/)
  })

  test('offers mode, model and permissions as options, which hold for the session', async () => {
    await using provider = await startProvider([
      { toolCalls: [{ name: 'write_file', input: { path: 'free.txt', content: 'x' } }] },
      { text: 'Done.' },
    ])
    await using bench = withModel(provider)
    await bench.initialize()
    const { configOptions, sessionId } = await bench.agent.request('session/new', { cwd, mcpServers: [] })
    assert.deepEqual(
      configOptions?.map(({ category, id }) => [id, category]),
      [
        ['mode', 'mode'],
        ['model', 'model'],
        ['permissions', undefined],
      ],
    )
    const set = (configId: string, value: string) =>
      bench.agent.request('session/set_config_option', { sessionId, configId, value })
    const changed = await set('permissions', 'full-auto')
    assert.equal(changed.configOptions.find(({ id }) => id === 'permissions')?.currentValue, 'full-auto')
    await assert.rejects(set('permissions', 'root'), /no value "root"/)
    await assert.rejects(set('shell', '/bin/sh'), /no value/)
    await bench.prompt(sessionId, 'Write it')
    assert.deepEqual(bench.permissions, [])
    assert.ok(existsSync(join(cwd, 'free.txt')))
  })

  test('shows what a command has printed so far, not only the last piece', async () => {
    const command = 'echo one; sleep 0.3; echo two; sleep 0.3; echo three'
    await using provider = await startProvider([
      { toolCalls: [{ name: 'execute_command', input: { command } }] },
      { text: 'Done.' },
    ])
    await using bench = withModel(provider)
    bench.answer = () => ({ outcome: 'selected', optionId: 'allow' })
    await bench.prompt(await bench.start(cwd), 'Print')
    const shown = bench.of('tool_call_update').flatMap(({ content, status }) => {
      const [piece] = content ?? []
      return status === 'in_progress' && piece?.type === 'content' && piece.content.type === 'text'
        ? [piece.content.text]
        : []
    })
    assert.ok(shown.length >= 2, JSON.stringify(shown))
    assert.equal(shown.at(-1), 'one\ntwo\nthree\n')
    for (const [index, text] of shown.entries()) assert.ok(index === 0 || text.startsWith(shown[index - 1] ?? ''))
  })

  test('sends attachments along with the history', async () => {
    await using provider = await startProvider([{ text: 'Seen.' }])
    await using bench = withModel(provider)
    const sessionId = await bench.start(cwd)
    await bench.agent.request('session/prompt', {
      sessionId,
      prompt: [
        { type: 'text', text: 'Look' },
        { type: 'image', data: PIXEL, mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'A text.' } },
        { type: 'resource', resource: { uri: 'file:///a.pdf', mimeType: 'application/pdf', blob: PDF } },
      ],
    })
    bench.updates.length = 0
    await bench.agent.request('session/load', { sessionId, cwd, mcpServers: [] })
    const said = bench.of('user_message_chunk').map(({ content }) => content)
    assert.deepEqual(
      said.map(({ type }) => type),
      ['text', 'image', 'text', 'resource'],
    )
    const [, , text, file] = said
    assert.ok(text?.type === 'text' && text.text.includes('A text.'))
    assert.ok(file?.type === 'resource' && 'blob' in file.resource)
    assert.deepEqual([file.resource.uri, file.resource.blob], ['file:///a.pdf', PDF])
  })

  test('prints nothing but protocol messages, and survives lines that are none', async () => {
    await using bench = new AcpBench([], { cwd })
    bench.child.stdin?.write('this is not JSON\n')
    assert.equal((await bench.initialize()).protocolVersion, 1)
    assert.ok(bench.messages.every((message) => message.jsonrpc === '2.0'))
  })
})
