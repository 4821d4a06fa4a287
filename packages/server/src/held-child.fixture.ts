import { Agent, createTool, Harness, SqliteStore } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'
import { z } from 'zod'

/*
 * A program that works in a thread of its own, without a server. It prints the id of the thread, works until somebody
 * approves its second call, and ends when its standard input does.
 */
const storage = new SqliteStore({ url: process.env['DB'] ?? '' })
const note = createTool({
  id: 'note',
  description: 'Writes a note.',
  inputSchema: z.object({ text: z.string() }),
  requireApproval: true,
  execute: async ({ text }) => `noted ${text}`,
})
/** A model that never ends its first answer. */
const answers = process.env['HANGS'] === 'yes' ? [{ text: ['Half ', 'of '], hang: true as const }] : []
const model = scriptedModel([
  ...answers,
  { text: ['Let ', 'me ', 'write ', 'it ', 'down. '], toolCalls: [{ name: 'note', input: { text: 'one' } }] },
  { text: ['It ', 'is ', 'written.'] },
  { text: 'And again.' },
])
const harness = new Harness({
  id: 'shared',
  agent: new Agent({ id: 'agent', model, tools: { note } }),
  modes: [{ id: 'build' }],
  storage,
})
await harness.init()
const { id } = await harness.session.thread.create()
const sent = harness.session.sendMessage({ content: 'Begin' })
sent.catch(() => undefined)
process.stdout.write(`${id}\n`)
process.stdin.resume()
process.stdin.once('end', () => {
  void harness
    .destroy()
    .then(() => storage.close())
    .then(() => process.exit(0))
})
