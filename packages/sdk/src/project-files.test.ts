import assert from 'node:assert/strict'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { ClaudeCodeHarnessFactory, createAgentManager, type LogRecord } from './index.ts'
import { chatting, eventsOf, folders, noting, textOf, writeProjectFile } from './sdk.fixture.ts'

const skill = (name: string, description: string, body = `Do ${name}.`): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n${body}\n`

/** A program of a few lines that prints what Claude Code does: its answer is the instructions that it was given. */
const ECHO = `
import { readFileSync } from 'node:fs'
if (process.argv.includes('--version')) { console.log('2.1.325 (Claude Code)'); process.exit(0) }
const text = readFileSync(process.argv[process.argv.indexOf('--append-system-prompt-file') + 1], 'utf8')
const say = (record) => console.log(JSON.stringify({ session_id: 's', ...record }))
const message = { id: 'm', type: 'message', role: 'assistant', content: [{ type: 'text', text }] }
say({ type: 'system', subtype: 'init', cwd: process.cwd(), tools: [], mcp_servers: [], model: 'm' })
say({ type: 'assistant', message, parent_tool_use_id: null })
say({ type: 'result', subtype: 'success', is_error: false, result: text, num_turns: 1, usage: { input_tokens: 1, output_tokens: 1 } })
`

/** What the model was told and offered in one request. */
function request(model: { readonly requests: readonly unknown[] }, index: number): { system: string; tools: string[] } {
  const asked = model.requests[index] as {
    readonly prompt: readonly { readonly role: string; readonly content: unknown }[]
    readonly tools?: readonly { readonly name: string }[]
  }
  const system = asked.prompt.filter(({ role }) => role === 'system').map(({ content }) => String(content))
  return { system: system.join('\n'), tools: asked.tools?.map(({ name }) => name) ?? [] }
}

suite('rules', () => {
  test('follow the instructions in their order, folders alphabetically, without front matter', async () => {
    await using elsewhere = await folders()
    await writeProjectFile(elsewhere, 'last.md', 'Rule four.')
    const config = { instructions: 'Be brief.', rules: ['first.md', 'rules', join(elsewhere.project, 'last.md')] }
    await using it = await chatting([{ text: 'Hi.' }, { text: 'Hi again.' }, { text: 'Hi once more.' }], {
      config,
      files: {
        'first.md': '---\ntitle: One\n---\nRule one.',
        'rules/b.md': 'Rule three.',
        'rules/a.md': 'Rule two: **verbatim**.',
        'rules/notes.txt': 'No rule.',
        'rules/deep/c.md': 'No rule.',
      },
    })
    await eventsOf(await it.session.chat('Hi'))
    const all = 'Be brief.\n\nRule one.\n\nRule two: **verbatim**.\n\nRule three.\n\nRule four.'
    assert.equal(request(it.model, 0).system, all)
    // They are read again at the next start.
    await writeProjectFile(it, 'first.md', 'Rule 1.')
    const manager = await it.restart()
    await eventsOf(await manager.getAgent('a').getChatSession(it.session.getId()).chat('Hi'))
    assert.equal(request(it.model, 1).system, all.replace('Rule one.', 'Rule 1.'))
    // And at an update.
    await writeProjectFile(it, 'first.md', 'Rule I.')
    const agent = manager.getAgent('a')
    await agent.updateAgentConfig({ rules: ['first.md'] })
    await eventsOf(await agent.getChatSession(it.session.getId()).chat('Hi'))
    assert.equal(request(it.model, 2).system, 'Be brief.\n\nRule I.')
  })

  test('rules that do not exist are refused, and a folder without any is reported', async () => {
    await using it = await chatting([], { files: { 'empty/x.txt': '' } })
    const records: LogRecord[] = []
    it.agent.onLog((record) => records.push(record))
    await assert.rejects(it.agent.updateAgentConfig({ rules: ['missing.md'] }), { type: 'INVALID_OPTIONS' })
    assert.deepEqual(it.agent.getAgentConfig(), {})
    await it.agent.updateAgentConfig({ rules: ['empty'] })
    assert.deepEqual(
      records.map(({ level, message }) => [level, message]),
      [['warn', 'There are no rules in empty.']],
    )
  })
})

suite('skills', () => {
  const files = {
    'skills/review/SKILL.md': skill('review', 'Reviews code.', 'Look twice.'),
    'skills/review/checklist.md': 'Tests first.',
    'skills/ship/SKILL.md': skill('ship', 'Ships code.'),
    'one/SKILL.md': skill('one', 'Counts to one.'),
    'again/one/SKILL.md': skill('one', 'Another of the same name.'),
  }

  test('are named to the model, which reads them and their files when it needs them', async () => {
    await using it = await chatting(
      [
        { toolCalls: [{ id: 'a', name: 'skill', input: { name: 'review' } }] },
        { toolCalls: [{ id: 'b', name: 'skill', input: { name: 'review', file: 'checklist.md' } }] },
        { text: 'Done.' },
      ],
      { files },
    )
    await it.agent.updateAgentConfig({ skills: ['skills', join(it.project, 'one')] })
    assert.equal(it.agent.getCapabilities().skills, true)
    const events = await eventsOf(await it.session.chat('Review it'))
    const results = events.flatMap((event) => (event.type === 'tool-result' ? [String(event.result)] : []))
    assert.match(results[0] ?? '', /Look twice\.[^]*checklist\.md/)
    assert.match(results[1] ?? '', /Tests first\./)
    const offered = JSON.stringify(it.model.requests[0]?.tools)
    for (const named of ['review: Reviews code.', 'ship: Ships code.', 'one: Counts to one.'])
      assert.ok(offered.includes(named), named)
    assert.ok(!offered.includes('Look twice'))
  })

  test('the first of two skills with one name counts, and the other is reported', async () => {
    await using it = await chatting([{ text: 'Hi.' }], { files })
    const warnings: string[] = []
    it.manager.onLog(({ level, message }) => (level === 'warn' ? warnings.push(message) : undefined))
    await it.agent.updateAgentConfig({ skills: ['one', 'again/one'] })
    assert.equal(warnings.length, 1)
    assert.match(warnings[0] ?? '', /again.* is not used/)
    await eventsOf(await it.session.chat('Hi'))
    assert.match(JSON.stringify(it.model.requests[0]?.tools), /Counts to one/)
  })

  test('are named to a program in its instructions, because it may keep tools back until they are searched for', async () => {
    await using it = await folders()
    for (const [path, text] of Object.entries(files)) await writeProjectFile(it, path, text)
    const bin = join(it.root, 'claude.mjs')
    await writeFile(bin, `#!${process.execPath}\n${ECHO}`)
    await chmod(bin, 0o755)
    const factory = new ClaudeCodeHarnessFactory({ bin, transport: 'print' })
    await using manager = await createAgentManager(it.root, factory)
    const heard = async (config: object): Promise<string> => {
      const agent = await manager.createAgent(it.project, { instructions: 'Be kind.', ...config })
      return textOf(await eventsOf(await (await agent.createChatSession()).chat('Hi')))
    }
    assert.equal(
      await heard({ skills: ['skills'] }),
      'Be kind.\n\nSkills, which you read with the tool "skill":\n- review: Reviews code.\n- ship: Ships code.',
    )
    for (const config of [{}, { skills: ['skills'], skillSearch: true }]) assert.equal(await heard(config), 'Be kind.')
  })

  test('can be searched instead of being named', async () => {
    await using it = await chatting(
      [{ toolCalls: [{ id: 'a', name: 'search_skills', input: { query: 'ships' } }] }, { text: 'Done.' }],
      { files, config: { skills: ['skills'], skillSearch: true } },
    )
    const events = await eventsOf(await it.session.chat('Ship it'))
    assert.deepEqual(request(it.model, 0).tools, ['search_skills', 'skill'])
    const result = events.find(({ type }) => type === 'tool-result')
    assert.match(JSON.stringify(result), /ship: Ships code/)
  })
})

suite('tool search', () => {
  test('offers what is always active, and what was found for the rest of the session, also after a restart', async () => {
    const calls: unknown[] = []
    const tools = ['weigh', 'measure', 'count', 'counter', 'Count'].flatMap((id) => noting(id, calls))
    await using it = await chatting(
      [
        { toolCalls: [{ id: 'a', name: 'search_tools', input: { query: 'weigh' } }] },
        { toolCalls: [{ id: 'b', name: 'weigh', input: { n: 2 } }] },
        { text: 'Two.' },
        { text: 'Still here.' },
        { text: 'New.' },
        { text: 'Plain.' },
      ],
      { factory: { tools }, config: { toolSearch: { alwaysActive: [{ tool: 'count' }] } } },
    )
    const events = await eventsOf(await it.session.chat('Weigh it', { requireToolApproval: false }))
    assert.equal(textOf(events), 'Two.')
    assert.deepEqual(calls, [{ n: 2 }])
    assert.deepEqual(request(it.model, 0).tools, ['search_tools', 'count'])
    assert.deepEqual(request(it.model, 1).tools, ['search_tools', 'weigh', 'count'])
    const manager = await it.restart()
    const agent = manager.getAgent('a')
    assert.deepEqual(agent.getAgentConfig(), { toolSearch: { alwaysActive: [{ tool: 'count' }] } })
    await eventsOf(await agent.getChatSession(it.session.getId()).chat('Hi'))
    assert.deepEqual(request(it.model, 3).tools, ['search_tools', 'weigh', 'count'])
    await eventsOf(await (await agent.createChatSession()).chat('Hi'))
    assert.deepEqual(request(it.model, 4).tools, ['search_tools', 'count'])
    // Without the search, every tool is offered.
    const plain = await manager.createAgent(it.project)
    await eventsOf(await (await plain.createChatSession()).chat('Hi'))
    assert.deepEqual(request(it.model, 5).tools, ['weigh', 'measure', 'count', 'counter', 'Count'])
  })

  test('asks for approval of a found tool like for any other, and warns once of an entry that names none', async () => {
    const calls: unknown[] = []
    await using it = await chatting(
      [
        { toolCalls: [{ id: 'a', name: 'search_tools', input: { query: 'weigh' } }] },
        { toolCalls: [{ id: 'b', name: 'weigh', input: { n: 2 } }] },
        { text: 'No.' },
      ],
      { factory: { tools: noting('weigh', calls) }, config: { toolSearch: { alwaysActive: [{ server: 'later' }] } } },
    )
    const records: LogRecord[] = []
    it.agent.onLog((record) => records.push(record))
    const result = await it.session.chat('Weigh it', { requireToolApproval: true })
    const asked: string[] = []
    for await (const event of result.eventStream) {
      if (event.type !== 'tool-approval-request') continue
      const { toolCallId, toolName } = event.toolCall
      asked.push(toolName)
      if (toolName === 'weigh') await it.session.declineToolCall(toolCallId)
      else await it.session.approveToolCall(toolCallId)
    }
    assert.deepEqual([asked.at(-1), calls], ['weigh', []])
    assert.deepEqual(
      records.filter(({ level }) => level === 'warn').map(({ message }) => message),
      ['`toolSearch.alwaysActive`: there is no tool of server "later".'],
    )
  })
})
