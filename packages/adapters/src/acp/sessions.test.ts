import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Binding } from '@inspan/protocol/driver'
import { errorOf, heard, stage } from '../../test/acp/acp-stage.ts'
import { brief } from '../../test/brief.ts'
import { textOf } from '../../test/live/live-host.ts'
import { diaryOf } from '../../test/live/stand-in-program.ts'

describe('a session of the agent', () => {
  const binding: Binding = { agentId: 'acp', nativeId: 'old', syncedTo: 0, extra: { settled: true } }
  const past = [
    { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: 'Before' } },
    { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'Long ago' } },
    { sessionUpdate: 'tool_call', toolCallId: 'old', title: 'old', status: 'completed' },
  ]

  it('is loaded, and its history is not replayed as new events', async (t) => {
    const agent = { capabilities: { loadSession: true }, past }
    const { dir, host, run } = await stage(t, `t.text('in ' + t.session)`, { agent, binding })
    const events = await run().all
    assert.equal(textOf(events), 'in old')
    assert.deepEqual(brief(host.activity), ['agent: in old'])
    assert.deepEqual(await heard(dir), ['initialize', 'session/load', 'session/prompt'])
  })

  it('is resumed without a replay of its history, if the agent can resume', async (t) => {
    const agent = { capabilities: { loadSession: true, sessionCapabilities: { resume: {} } }, past }
    const { dir, run } = await stage(t, `t.text('in ' + t.session)`, { agent, binding })
    assert.equal(textOf(await run().all), 'in old')
    assert.deepEqual(await heard(dir), ['initialize', 'session/resume', 'session/prompt'])
  })

  it('is replaced by a new one if it is gone, and the new one is then bound', async (t) => {
    const agent = {
      capabilities: { loadSession: true },
      refuse: { 'session/load': { code: -32002, message: 'Resource not found' } },
    }
    const { host, run } = await stage(t, `t.text('in ' + t.session)`, { agent, binding })
    const events = await run().all
    assert.match(textOf(events), /^in session-/)
    assert.ok(events.every(({ parentToolCallId }) => parentToolCallId === undefined))
    assert.match(host.bindings.at(-1)?.nativeId ?? '', /^session-/)
    assert.ok(brief(host.activity).some((line) => line.startsWith('warning [new-session]')))
    assert.equal(textOf(await run().all), textOf(events), 'and the next turn continues it')
  })

  it('makes the turn fail with `strict` if it cannot be continued', async (t) => {
    const { dir, run } = await stage(t, `t.text('Hi.')`, { binding, strict: true })
    const { code, message } = errorOf(await run().all)
    assert.equal(code, 'unsupported')
    assert.match(message, /it cannot continue a session/)
    assert.ok(!(await heard(dir)).includes('session/prompt'))
  })

  it('is not resumed if its end is unknown', async (t) => {
    const agent = { capabilities: { loadSession: true } }
    const { dir, run } = await stage(t, `t.text('Hi.')`, { agent, binding: { ...binding, extra: {} } })
    await run().all
    assert.ok((await heard(dir)).includes('session/new'))
  })

  it('gets the model of the turn, and its own again when the turn names none', async (t) => {
    const session = {
      configOptions: [{ id: 'model', category: 'model', type: 'select', currentValue: 'own', options: [] }],
    }
    const { dir, run } = await stage(t, `t.text('Hi.')`, { agent: { session } })
    await run({ model: 'other' }).all
    await run({ model: 'other' }).all
    await run().all
    const chosen = (await diaryOf(dir, 'heard')) as readonly {
      readonly method?: string
      readonly params?: { readonly value?: string }
    }[]
    assert.deepEqual(
      chosen.flatMap(({ method, params }) => (method === 'session/set_config_option' ? [params?.value] : [])),
      ['other', 'own'],
    )
  })

  it('cannot be given a model if the agent offers no choice of models', async (t) => {
    const { run } = await stage(t, `t.text('Hi.')`)
    const error = errorOf(await run({ model: 'other' }).all)
    assert.equal(error.code, 'unsupported')
  })

  it('gets its MCP servers', async (t) => {
    const mcp = { files: { type: 'stdio', command: 'files', args: ['-v'], env: { A: '1' } } } as const
    const { dir, run } = await stage(t, `t.text('Hi.')`, { mcp: { files: { ...mcp.files, args: ['-v'] } } })
    await run().all
    const [, opened] = (await diaryOf(dir, 'heard')) as readonly {
      readonly params?: { readonly mcpServers?: unknown }
    }[]
    assert.deepEqual(opened?.params?.mcpServers, [
      { name: 'files', command: 'files', args: ['-v'], env: [{ name: 'A', value: '1' }] },
    ])
  })

  it('is given images only where the agent takes them', async (t) => {
    const image = { id: '1', type: 'image', mimeType: 'image/png', data: 'AAAA' } as const
    const input = [{ id: '0', type: 'text', text: 'Look.' } as const, image]
    const taking = await stage(t, `t.text('I see.')`, {
      agent: { capabilities: { promptCapabilities: { image: true } } },
    })
    assert.equal(textOf(await taking.run({ input }).all), 'I see.')
    const refusing = await stage(t, `t.text('I see.')`)
    assert.equal(errorOf(await refusing.run({ input }).all).code, 'unsupported')
  })
})
