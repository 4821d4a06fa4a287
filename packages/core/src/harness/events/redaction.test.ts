import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createTool } from '@inspan/agent'
import { MemoryStore } from '../../stores/memory-store.ts'
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
  test('tells and keeps calls, questions and results without what was redacted', async () => {
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

  test('shows the words of the model, and the input of its calls, as they come', async () => {
    const permissions = { categories: { execute: 'allow' } } as const
    await using bench = new HarnessBench(SCRIPT, { redact, permissions }, { tools: [fetch] })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.match(JSON.stringify(bench.all('tool_input_delta')), /sk-1/)
    assert.ok(bench.all('message_update').some((event) => (bench.kept.get(event) ?? '').includes('sk-2')))
  })
})

suite('docs/redaction.md', () => {
  test('shows the example, and what it prints', async () => {
    const path = fileURLToPath(new URL('redaction-example.fixture.ts', import.meta.url))
    const docs = await readFile(new URL('../../../../../docs/redaction.md', import.meta.url), 'utf8')
    const { stdout } = await promisify(execFile)(process.execPath, [path], { timeout: 120_000 })
    assert.ok(docs.includes(`\`\`\`ts\n${await readFile(path, 'utf8')}\`\`\``), 'copy the example into the page')
    assert.ok(docs.includes(`\`\`\`text\n${stdout}\`\`\``), `the page does not show:\n${stdout}`)
    assert.equal(docs.split('```ts\n').length - 1, 1)
  })
})
