import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createTool } from '@inspan/agent'
import { MemoryStore } from '@inspan/stores'
import { HarnessBench } from '../harness.fixture.ts'

const redact = (text: string): string => text.replace(/sk-\w+/g, '[key]')

const fetch = createTool({
  id: 'fetch',
  description: 'Fetches.',
  category: 'execute',
  execute: () => 'found sk-2',
})

const SCRIPT = [{ toolCalls: [{ id: 'c1', name: 'fetch', input: { key: 'sk-1' } }] }, { text: ['It is ', 'sk-2', '.'] }]

suite('a harness with a redactor', () => {
  test('emits and stores calls, questions and results without what was redacted', async () => {
    const storage = new MemoryStore()
    await using bench = new HarnessBench(
      SCRIPT,
      { storage, redact, permissions: { categories: { execute: 'ask' } } },
      { tools: [fetch] },
    )
    const { harness } = bench
    const asked = bench.next('tool_approval_required')
    const sent = harness.sendMessage({ content: 'Use sk-0.' })
    assert.deepEqual((await asked).args, { key: '[key]' })
    await harness.session.respondToToolApproval({ decision: 'approve' })
    await sent

    const told = bench.events
      .filter(({ type }) => type.startsWith('tool_') && type !== 'tool_input_delta')
      .map((event) => bench.kept.get(event))
    assert.ok(told.length > 2)
    assert.doesNotMatch(told.join(), /sk-/)
    const messages = JSON.stringify(await harness.session.thread.listActiveMessages())
    assert.match(messages, /Use sk-0\..*found \[key\].*It is \[key\]\./)
    assert.doesNotMatch(messages.replaceAll('sk-0', ''), /sk-/)
    assert.doesNotMatch(JSON.stringify(bench.all('message_end').at(-1)), /sk-/)
  })

  test('shows nobody a word of it, not even in pieces while the model speaks', async () => {
    const permissions = { categories: { execute: 'allow' } } as const
    const script = [SCRIPT[0] ?? {}, { text: ['It is s', 'k-', '2', ' and', ' nothing else.'] }]
    const byWord = Object.assign(redact, { settled: (text: string) => text.lastIndexOf(' ') + 1 })
    await using bench = new HarnessBench(script, { redact: byWord, permissions }, { tools: [fetch] })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.doesNotMatch([...bench.kept.values()].join('\n'), /s?k-\d/)
    const inputs = bench.all('tool_input_delta').map(({ argsTextDelta }) => argsTextDelta)
    assert.equal(inputs.join(''), '{"key":"[key]"}')
    const spoken = bench.all('message_update').flatMap(({ message }) => {
      const [part] = message.content
      return part?.type === 'text' ? [part.text] : []
    })
    assert.deepEqual(spoken, ['It is ', 'It is [key] ', 'It is [key] and nothing ', 'It is [key] and nothing else.'])
  })
})

suite('what a model makes up', () => {
  test('ids of calls and tasks, names of unknown tools, and the list of tasks are emitted and stored redacted', async () => {
    const storage = new MemoryStore()
    const tasks = [
      { id: 'sk-3', content: 'Use sk-4', status: 'in_progress', activeForm: 'Using sk-5' },
      { id: 'two', content: 'Forget sk-6', status: 'pending', activeForm: 'Forgetting' },
    ]
    const script = [
      { toolCalls: [{ id: 'c_sk-1', name: 'fetch_sk-2', input: {} }] },
      { toolCalls: [{ id: 'c_sk-7', name: 'task_write', input: { tasks } }] },
      { text: 'Done.' },
    ]
    await using bench = new HarnessBench(script, { storage, redact })
    const { harness } = bench
    await harness.sendMessage({ content: 'Go.' })
    assert.equal(harness.session.displayState.get().tasks.length, 2)
    const { items } = await storage.readRecords(harness.session.thread.requireId(), { after: 0 })
    const places = {
      events: [...bench.kept.values()].join('\n'),
      display: JSON.stringify(harness.session.displayState.get()),
      messages: JSON.stringify(await harness.session.thread.listActiveMessages()),
      records: JSON.stringify(items),
      asked: bench.model.requestBodies.slice(2).join('\n'),
    }
    for (const [place, said] of Object.entries(places)) {
      assert.ok(said.includes('[key]'), place)
      assert.doesNotMatch(said, /sk-\d/, place)
    }
  })
})

suite('docs/guide/redaction.md', () => {
  test('shows the example, and what it prints', async () => {
    const path = fileURLToPath(new URL('redaction-example.fixture.ts', import.meta.url))
    const docs = await readFile(new URL('../../../../../docs/guide/redaction.md', import.meta.url), 'utf8')
    const { stdout } = await promisify(execFile)(process.execPath, [path], { timeout: 120_000 })
    assert.ok(docs.includes(`\`\`\`ts\n${await readFile(path, 'utf8')}\`\`\``), 'copy the example into the page')
    assert.ok(docs.includes(`\`\`\`text\n${stdout}\`\`\``), `the page does not show:\n${stdout}`)
  })
})
