/** A chat in the terminal. Tools ask before they change something; `y` approves. */
import { createInterface } from 'node:readline/promises'
import { Agent, createTool, Harness, SqliteStore } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'
import { z } from 'zod'

const notes: string[] = []
const addNote = createTool({
  id: 'add_note',
  description: 'Adds a note to the list.',
  category: 'edit',
  inputSchema: z.object({ text: z.string() }),
  execute: ({ text }) => `note ${notes.push(text)} added`,
})

// MODEL=anthropic/claude-sonnet-4-5 uses a real model. Without it, these answers are played.
const model =
  process.env['MODEL'] ??
  scriptedModel([
    { text: ['Hello! ', 'Tell me what to write down.'] },
    { toolCalls: [{ name: 'add_note', input: { text: 'buy milk' } }] },
    { text: 'Noted.' },
  ])

const storage = new SqliteStore({ url: process.env['DB'] ?? ':memory:' })
const harness = new Harness({
  id: 'terminal-chat',
  agent: new Agent({ id: 'assistant', instructions: 'Keep notes for the user.', model, tools: { add_note: addNote } }),
  storage,
  modes: [{ id: 'chat' }],
  permissions: { categories: { edit: 'ask' } },
})

const terminal = createInterface({ input: process.stdin, output: process.stdout, terminal: false })
const lines = terminal[Symbol.asyncIterator]()
const nextLine = async (): Promise<string | undefined> => {
  const { done, value } = await lines.next()
  return done === true ? undefined : value
}

harness.subscribe(async (event) => {
  if (event.type === 'text') process.stdout.write(event.text)
  if (event.type === 'error') process.stdout.write(`\n! ${event.error.message}\n`)
  if (event.type === 'tool_approval_required') {
    process.stdout.write(`\n? ${event.toolName} ${JSON.stringify(event.args)} [y/n] `)
    const decision = (await nextLine())?.trim() === 'y' ? 'approve' : 'decline'
    process.stdout.write(`${decision}d\n`)
    await harness.session.respondToToolApproval({ decision, toolCallId: event.toolCallId })
  }
})

process.stdout.write('Type a message, or end the input to leave.\n> ')
for (let line = await nextLine(); line !== undefined; line = await nextLine()) {
  if (line.trim() !== '') await harness.sendMessage({ content: line })
  process.stdout.write('\n> ')
}
process.stdout.write(`\n${notes.length} note(s): ${notes.join(', ')}\n`)
await harness.destroy()
await storage.close()
