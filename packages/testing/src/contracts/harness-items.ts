import assert from 'node:assert/strict'
import type {
  ChatEvent,
  ChatMessagePart,
  ChatStreamResult,
  HarnessAgentConfig,
  StreamOptions,
} from '@inspan/protocol/chat'
import type { ModelTurn } from '../script.ts'
import type { HarnessSubject } from './harness-contract.ts'
import type { HarnessItem, HarnessTool } from './harness-item.ts'

const ASK: HarnessAgentConfig = { tools: [{ name: 'ask', inputSchema: { type: 'object' } }] }
/** A field of their own, of those harnesses that have a search. */
const SEARCH: HarnessAgentConfig & { readonly toolSearch: object } = { toolSearch: { alwaysActive: [] } }
const calls = (tool: HarnessTool, ...ids: string[]): ModelTurn => ({
  toolCalls: ids.map((id) => ({ id, ...tool })),
})

export const HARNESS_ITEMS: readonly HarnessItem[] = [
  {
    title: 'refuses agents and threads that it does not know',
    script: () => [],
    run: async ({ harness }) => {
      const thread = await harness.createThread('a')
      assert.throws(() => harness.getMcpServerInfo('x'))
      await assert.rejects(harness.createThread('x'))
      await assert.rejects(harness.getThreadIds('x'))
      await assert.rejects(harness.destroyAgent('x'))
      await assert.rejects(harness.stream('x', thread, 'Hi'))
      await assert.rejects(harness.destroyThread('a', 'x'))
      await assert.rejects(harness.cloneThread('a', 'x'))
      await assert.rejects(harness.getMessages('a', 'x'))
      await assert.rejects(harness.clearMessages('a', 'x'))
      await assert.rejects(harness.stream('a', 'x', 'Hi'))
      await assert.rejects(harness.addMessages('a', 'x', [{ id: 'm', role: 'user', content: 'Hi' }]))
      assert.deepEqual(harness.getMcpServerInfo('a'), [])
      assert.equal(await harness.destroyAgent('a'), true)
      await assert.rejects(harness.destroyAgent('a'))
    },
  },
  {
    title: 'begins a turn with start, streams the text, and ends it with one finish',
    script: () => [{ text: ['Hello ', 'there'] }],
    run: async ({ events, harness }) => {
      const seen = await events(await harness.createThread('a'), 'Hi')
      assert.deepEqual(errorsOf(seen), [])
      assert.equal(seen[0]?.type, 'start')
      assert.equal(seen.at(-1)?.type, 'finish')
      assert.equal(count(seen, 'start'), 1)
      assert.equal(count(seen, 'finish'), 1)
      assert.equal(textOf(seen), 'Hello there')
    },
  },
  {
    title: 'reports a failure as an event and finishes with the reason error',
    script: () => [{ error: { status: 400, message: 'No.' }, repeat: true }],
    run: async ({ events, harness }) => {
      const seen = await events(await harness.createThread('a'), 'Hi')
      assert.ok(count(seen, 'error') >= 1)
      const finish = seen.at(-1)
      assert.ok(finish?.type === 'finish' && finish.finishReason === 'error')
    },
  },
  {
    title: 'refuses input that cannot be sent before there is a stream',
    script: () => [],
    run: async ({ harness }) => {
      const thread = await harness.createThread('a')
      const call = { type: 'tool-call', toolCallId: '1', toolName: 't', args: {} } as const
      for (const bad of ['', [], [call]]) await assert.rejects(harness.stream('a', thread, bad))
      assert.deepEqual(await harness.getMessages('a', thread), [])
    },
  },
  {
    title: 'keeps the conversation, with a time on every message',
    script: () => [{ text: 'One.' }],
    run: async ({ events, harness }) => {
      const thread = await harness.createThread('a')
      await events(thread, 'Hi')
      const messages = await harness.getMessages('a', thread)
      assert.deepEqual(
        messages.slice(0, 1).map(({ content, role }) => [role, content]),
        [['user', 'Hi']],
      )
      assert.match(JSON.stringify(messages), /One\./)
      assert.ok(messages.every(({ createdAt }) => createdAt instanceof Date))
    },
  },
  {
    title: 'adds and clears messages without asking the model',
    script: () => [],
    run: async ({ harness }) => {
      const thread = await harness.createThread('a')
      await harness.addMessages('a', thread, [{ id: 'm', role: 'user', content: 'Note.' }])
      assert.deepEqual(
        (await harness.getMessages('a', thread)).map(({ content }) => content),
        ['Note.'],
      )
      await harness.clearMessages('a', thread)
      assert.deepEqual(await harness.getMessages('a', thread), [])
    },
  },
  {
    title: 'forgets what was cleared, and goes on',
    script: () => [{ text: 'The walrus is called Bo.' }, { text: 'Which walrus?' }],
    run: async (subject) => {
      const thread = await subject.harness.createThread('a')
      await subject.events(thread, 'Name a walrus.')
      await subject.harness.clearMessages('a', thread)
      assert.equal(textOf(await subject.events(thread, 'What is its name?')), 'Which walrus?')
      subject.assertTold('What is its name?')
      subject.assertNotTold('What is its name?', 'Name a walrus.')
      subject.assertNotTold('What is its name?', 'called Bo.')
    },
  },
  {
    title: 'clones a thread that then goes its own way',
    script: () => [{ text: 'One.' }, { text: 'Two.' }],
    run: async ({ events, harness }) => {
      const thread = await harness.createThread('a')
      await events(thread, 'Hi')
      const clone = await harness.cloneThread('a', thread)
      const before = await harness.getMessages('a', thread)
      assert.deepEqual(await harness.getMessages('a', clone), before)
      await events(clone, 'More')
      assert.deepEqual(await harness.getMessages('a', thread), before)
      assert.deepEqual((await harness.getThreadIds('a')).toSorted(), [thread, clone].toSorted())
    },
  },
  {
    title: 'runs threads side by side and one turn per thread at a time',
    script: () => [{ text: 'Zero.' }, { text: 'One.' }, { text: 'Two.' }],
    run: async ({ events, harness }) => {
      const threads = [await harness.createThread('a'), await harness.createThread('a')]
      // Programs set up their home at their first start, and some can do that only once at a time.
      await events(await harness.createThread('a'), 'Hi')
      const turns = await Promise.all(threads.map((thread) => events(thread, 'Hi')))
      assert.deepEqual(turns.flatMap(errorsOf), [])
      assert.deepEqual(turns.map(textOf).toSorted(), ['One.', 'Two.'])
    },
  },
  {
    title: 'ends a turn at an abort with one finish',
    // A line of its own: programs that print plain text are read line by line.
    script: () => [{ text: ['one\n', 'two '], hang: true }],
    run: async ({ harness }) => {
      const abort = new AbortController()
      const thread = await harness.createThread('a')
      const result = await harness.stream('a', thread, 'Hi', { abortSignal: abort.signal })
      await until(result, 'text-delta')
      abort.abort()
      const rest = await Array.fromAsync(result.eventStream)
      assert.equal(count(rest, 'finish'), 1)
      assert.equal(rest.at(-1)?.type, 'finish')
    },
  },
  {
    title: 'goes on when its reader leaves, and is read on later',
    script: () => [{ text: ['one ', 'two'] }],
    run: async ({ harness }) => {
      const result = await harness.stream('a', await harness.createThread('a'), 'Hi')
      await until(result, 'start')
      assert.equal(textOf(await Array.fromAsync(result.eventStream)), 'one two')
    },
  },
  {
    title: 'has its threads and messages back after a restart',
    script: () => [{ text: 'One.' }],
    run: async (subject) => {
      const thread = await subject.harness.createThread('a')
      await subject.events(thread, 'Hi')
      const before = await subject.harness.getMessages('a', thread)
      await subject.restart()
      assert.deepEqual(await subject.harness.getThreadIds('a'), [thread])
      assert.deepEqual(await subject.harness.getMessages('a', thread), before)
    },
  },
  {
    title: 'tells the model what was said before, also after a restart',
    script: () => [{ text: 'The walrus is called Bo.' }, { text: 'Two.' }, { text: 'Three.' }],
    run: async (subject) => {
      const thread = await subject.harness.createThread('a')
      await subject.events(thread, 'Name a walrus.')
      assert.equal(textOf(await subject.events(thread, 'Again.')), 'Two.')
      subject.assertTold('Name a walrus.', 'The walrus is called Bo.', 'Again.')
      await subject.restart()
      assert.equal(textOf(await subject.events(thread, 'Once more.')), 'Three.')
      subject.assertTold('Name a walrus.', 'The walrus is called Bo.', 'Again.', 'Once more.')
    },
  },
  {
    title: 'keeps threads over an update of the config',
    script: () => [{ text: 'One.' }],
    run: async ({ events, harness }) => {
      const thread = await harness.createThread('a')
      const limits = { contextWindow: 1_000, supportedFormats: null }
      const model = { id: 'test/model', provider: 'test', nativeId: 'model', ...limits }
      await harness.updateAgent('a', { model, isDefault: true, headers: async () => ({}) }, { name: 'Renamed' })
      assert.equal(textOf(await events(thread, 'Hi')), 'One.')
    },
  },
  {
    title: 'asks for approvals one by one',
    needsTool: true,
    needs: 'approvals',
    script: (tool) => [calls(tool, 'one', 'two'), { text: 'End.' }],
    run: async ({ harness }) => {
      const thread = await harness.createThread('a')
      const result = await harness.stream('a', thread, 'Go', { requireToolApproval: 'serial' })
      const first = await until(result, 'tool-approval-request')
      await harness.approveToolCall('a', thread, first.toolCall.toolCallId)
      const second = await until(result, 'tool-approval-request')
      assert.notEqual(second.toolCall.toolCallId, first.toolCall.toolCallId)
      await harness.approveToolCall('a', thread, second.toolCall.toolCallId)
      const rest = await Array.fromAsync(result.eventStream)
      assert.equal(textOf(rest), 'End.')
      await assert.rejects(harness.approveToolCall('a', thread, first.toolCall.toolCallId))
    },
  },
  {
    title: 'goes on after a call was declined',
    needsTool: true,
    needs: 'goesOnAfterDecline',
    script: (tool) => [calls(tool, 'one'), { text: 'End.' }],
    run: async (subject) => assert.equal(textOf(await declined(subject)), 'End.'),
    instead: async (subject) => {
      if (subject.harness.getCapabilities?.('a').approvals === 'none') return 'it asks nobody'
      const events = await declined(subject)
      assert.equal(textOf(events), '')
      assert.equal(count(events, 'finish'), 1)
      return 'a declined call ends its turn'
    },
  },
  {
    title: 'shows all requests of a batch before the first answer',
    needsTool: true,
    needs: 'batchApprovals',
    attempt: async ({ harness }) =>
      harness.stream('a', await harness.createThread('a'), 'Go', { requireToolApproval: 'batch' }),
    script: (tool) => [calls(tool, 'one', 'two'), { text: 'End.' }],
    run: async ({ harness }) => {
      const thread = await harness.createThread('a')
      const result = await harness.stream('a', thread, 'Go', { requireToolApproval: 'batch' })
      const ids = [
        (await until(result, 'tool-approval-request')).toolCall.toolCallId,
        (await until(result, 'tool-approval-request')).toolCall.toolCallId,
      ]
      for (const id of ids.toReversed()) await harness.approveToolCall('a', thread, id)
      const rest = await Array.fromAsync(result.eventStream)
      assert.equal(count(rest, 'tool-result'), 2)
      assert.equal(textOf(rest), 'End.')
    },
  },
  {
    title: 'remembers an approval for the tool',
    needsTool: true,
    needs: 'approvals',
    script: (tool) => [calls(tool, 'one'), calls(tool, 'two'), { text: 'End.' }],
    run: async ({ harness }) => {
      const thread = await harness.createThread('a')
      const result = await harness.stream('a', thread, 'Go', { requireToolApproval: true })
      const { toolCall } = await until(result, 'tool-approval-request')
      await harness.approveToolCall('a', thread, toolCall.toolCallId, { remember: true })
      const rest = await Array.fromAsync(result.eventStream)
      assert.equal(count(rest, 'tool-approval-request'), 0)
      assert.equal(count(rest, 'tool-result'), 2)
    },
  },
  {
    title: 'waits for the results of tools that the caller runs',
    needs: 'consumerTools',
    config: ASK,
    script: () => [calls({ name: 'ask' }, 'one', 'two'), { text: 'End.' }],
    run: async ({ harness }) => {
      const thread = await harness.createThread('a')
      const result = await harness.stream('a', thread, 'Go', { requireToolApproval: true })
      await until(result, 'tool-call')
      await until(result, 'tool-call')
      for (const toolCallId of ['two', 'one']) {
        await harness.submitToolResult('a', thread, { toolCallId, toolName: 'ask', result: toolCallId })
      }
      const rest = await Array.fromAsync(result.eventStream)
      assert.equal(count(rest, 'tool-result'), 2)
      assert.equal(count(rest, 'tool-approval-request'), 0)
      assert.equal(textOf(rest), 'End.')
    },
  },
  {
    title: 'compacts a thread into a new one, and leaves the old one as it was',
    needs: 'compaction',
    script: () => [{ text: LONG }, { text: 'In short.' }],
    attempt: async ({ harness }) => harness.compactThread('a', await harness.createThread('a')),
    run: async ({ events, harness }) => {
      const thread = await harness.createThread('a')
      await events(thread, 'Hi')
      const before = await harness.getMessages('a', thread)
      const compacted = await harness.compactThread('a', thread)
      assert.match(JSON.stringify(await harness.getMessages('a', compacted)), /In short\./)
      assert.deepEqual(await harness.getMessages('a', thread), before)
    },
  },
  {
    title: 'takes rules from a file',
    needs: 'instructions',
    config: { rules: ['RULES.md'] },
    script: () => [{ text: 'One.' }],
    run: async ({ assertTold, events, harness }) => {
      assert.equal(textOf(await events(await harness.createThread('a'), 'Hi')), 'One.')
      assertTold('Be brief.')
    },
  },
  {
    title: 'takes skills from a folder',
    needs: 'skills',
    config: { skills: ['skills'] },
    script: () => [{ text: 'One.' }],
    run: async ({ assertTold, events, harness }) => {
      assert.equal(textOf(await events(await harness.createThread('a'), 'Hi')), 'One.')
      assertTold('Greets people.')
    },
  },
  {
    title: 'can be told to wait for the end of a limit',
    needs: 'limits',
    script: () => [{ text: 'One.' }],
    attempt: async ({ harness }) => harness.stream('a', await harness.createThread('a'), 'Hi', { onLimit: 'park' }),
    run: async ({ events, harness }) => {
      const seen = await events(await harness.createThread('a'), 'Hi', { onLimit: 'park' })
      assert.equal(textOf(seen), 'One.')
    },
  },
  {
    title: 'takes an image, or refuses it before there is a stream',
    needs: 'attachments',
    script: () => [{ text: 'A dot.' }],
    attempt: (subject) => shown(subject, { type: 'image', mimeType: 'image/png', data: PICTURE }),
    run: async (subject) => {
      const seen = await shown(subject, { type: 'image', mimeType: 'image/png', data: PICTURE })
      assert.equal(textOf(seen), 'A dot.')
      // Some programs write the rest of it anew.
      subject.assertTold(PICTURE.slice(0, 11))
    },
  },
  {
    title: 'takes a PDF file, or refuses it before there is a stream',
    needs: ({ attachments }) => attachments === 'all',
    script: () => [{ text: 'A page.' }],
    attempt: (subject) => shown(subject, { type: 'file', mimeType: 'application/pdf', data: 'JVBERi0xLjQK' }),
    run: async (subject) => {
      const seen = await shown(subject, { type: 'file', mimeType: 'application/pdf', data: 'JVBERi0xLjQK' })
      assert.equal(textOf(seen), 'A page.')
      subject.assertTold('JVBERi0xLjQK')
    },
  },
  {
    title: 'takes an image as context, or refuses it',
    needs: ({ attachments }) => attachments === 'all',
    script: () => [{ text: 'A dot.' }],
    attempt: pictured,
    run: async (subject) => {
      assert.equal(textOf(await subject.events(await pictured(subject), 'What is this?')), 'A dot.')
      subject.assertTold(PICTURE.slice(0, 11))
    },
  },
  {
    title: 'takes a limit of model calls, or refuses it before there is a stream',
    needs: 'maxSteps',
    script: () => [{ text: 'One.' }],
    attempt: (subject) => sent(subject, { maxSteps: 20 }),
    run: async (subject) => assert.equal(textOf(await sent(subject, { maxSteps: 20 })), 'One.'),
  },
  {
    title: 'takes a budget in tokens, or refuses it before there is a stream',
    needs: 'usage',
    script: () => [{ text: 'One.' }],
    attempt: (subject) => sent(subject, { budget: { tokens: 1_000_000 } }),
    run: async (subject) => assert.equal(textOf(await sent(subject, { budget: { tokens: 1_000_000 } })), 'One.'),
  },
  {
    title: 'takes a level of effort, or refuses it before there is a stream',
    needs: 'effort',
    script: () => [{ text: 'One.' }],
    attempt: (subject) => sent(subject, { effort: 'low' }),
    run: async (subject) => {
      const levels = subject.harness.getCapabilities?.('a').effort ?? ['low']
      assert.equal(
        textOf(await sent(subject, { effort: levels.includes('low') ? 'low' : (levels[0] ?? 'low') })),
        'One.',
      )
    },
  },
  {
    title: 'lets a hook replace the results of tools',
    needsTool: true,
    needs: 'toolResultHook',
    hooks: { onToolResult: () => ({ result: 'Replaced by the hook.' }) },
    script: (tool) => [calls(tool, 'one'), { text: 'End.' }],
    run: async ({ assertTold, events, harness }) => {
      const seen = await events(await harness.createThread('a'), 'Go')
      const results = seen.flatMap((event) => (event.type === 'tool-result' ? [event.result] : []))
      assert.deepEqual(results, ['Replaced by the hook.'])
      assertTold('Replaced by the hook.')
    },
  },
  {
    title: 'lets its model search for tools',
    needs: 'toolSearch',
    config: SEARCH,
    script: () => [{ text: 'One.' }],
    run: async ({ events, harness }) => {
      assert.equal(textOf(await events(await harness.createThread('a'), 'Hi')), 'One.')
    },
  },
  {
    title: 'lists the MCP servers of its config',
    needs: 'mcp',
    config: { mcpServers: { off: { type: 'stdio', command: 'nobody', enabled: false } } },
    script: () => [{ text: 'One.' }],
    run: async ({ events, harness }) => {
      assert.equal(textOf(await events(await harness.createThread('a'), 'Hi')), 'One.')
      const servers = harness.getMcpServerInfo('a').map(({ name, status, tools }) => [name, status, tools])
      assert.deepEqual(servers, [['off', 'disabled', []]])
    },
  },
]

/** A picture of one point. */
const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Makes a thread that begins with a picture. */
async function pictured({ harness }: HarnessSubject): Promise<string> {
  const thread = await harness.createThread('a')
  const content: ChatMessagePart[] = [{ type: 'image', mimeType: 'image/png', data: PICTURE }]
  await harness.addMessages('a', thread, [{ id: 'm', role: 'user', content }])
  return thread
}

/** Sends a text with a file. */
async function shown({ harness }: HarnessSubject, file: ChatMessagePart): Promise<ChatEvent[]> {
  const thread = await harness.createThread('a')
  const { eventStream } = await harness.stream('a', thread, [{ type: 'text', text: 'What is this?' }, file])
  return Array.fromAsync(eventStream)
}

/** Sends a text with options. */
async function sent({ harness }: HarnessSubject, options: StreamOptions): Promise<ChatEvent[]> {
  const { eventStream } = await harness.stream('a', await harness.createThread('a'), 'Hi', options)
  return Array.fromAsync(eventStream)
}

const LONG = 'The harbour of the town has four cranes, and the second one is broken. '.repeat(20)

/** Declines the one request of a turn and returns what follows. */
async function declined({ harness }: HarnessSubject): Promise<ChatEvent[]> {
  const thread = await harness.createThread('a')
  const result = await harness.stream('a', thread, 'Go', { requireToolApproval: true })
  const { toolCall } = await until(result, 'tool-approval-request')
  await harness.declineToolCall('a', thread, toolCall.toolCallId)
  return Array.fromAsync(result.eventStream)
}

function count(events: readonly ChatEvent[], type: ChatEvent['type']): number {
  return events.filter((event) => event.type === type).length
}

function errorsOf(events: readonly ChatEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'error' ? [event.error.message] : []))
}

function textOf(events: readonly ChatEvent[]): string {
  return events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')
}

async function until<Type extends ChatEvent['type']>(
  { eventStream }: ChatStreamResult,
  type: Type,
): Promise<Extract<ChatEvent, { type: Type }>> {
  for await (const event of eventStream) {
    if (event.type === type) return event as Extract<ChatEvent, { type: Type }>
  }
  return assert.fail(`there was no ${type}`)
}
