import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { HarnessEvent } from '@inspan/protocol/harness'
import type { ModelTurn } from '@inspan/testing'
import { createTool, Harness, SqliteStore } from '../../src/index.ts'
import type { HarnessConfig } from '../../src/index.ts'
import { programDriver, type ProgramId } from './program-driver.ts'
import { installedPrograms, makePlace, scripted, TEST_MS } from './programs.ts'

const EVERYTHING = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'))

/** How the model of a program names a tool of ours. */
const NAMED: Readonly<Record<ProgramId, (name: string) => { name: string; namespace?: string }>> = {
  'claude-code': (name) => ({ name: `mcp__inspan__${name}` }),
  codex: (name) => ({ name, namespace: 'mcp__inspan' }),
}

function weighing(log: unknown[]): ReturnType<typeof createTool> {
  return createTool({
    id: 'weigh',
    description: 'Weighs things.',
    inputSchema: { type: 'object', properties: { kilos: { type: 'number' } } },
    execute: (input) => {
      log.push(input)
      return 'HEAVY-42'
    },
  })
}

/** A harness and what it emits. */
function opened(config: Omit<HarnessConfig, 'id' | 'modes'>): { harness: Harness; events: HarnessEvent[] } {
  const harness = new Harness({ id: 'host-tools', modes: [{ id: 'build' }], ...config })
  const events: HarnessEvent[] = []
  harness.subscribe((event) => void events.push(event))
  return { harness, events }
}

function failuresIn(events: readonly HarnessEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'error' ? [event.error.message] : []))
}

suite('our tools in foreign agents', () => {
  const bins = installedPrograms()

  for (const id of ['claude-code', 'codex'] as const) {
    for (const transport of ['live', 'print'] as const) {
      test(
        `${id} (${transport}) calls one in two turns, each with a token of its own: asked about and recorded once`,
        { timeout: TEST_MS },
        async (t) => {
          const { ends, root, work } = await makePlace(t)
          const provider = await scripted(
            t,
            [2, 3].flatMap((kilos): ModelTurn[] => [
              { toolCalls: [{ ...NAMED[id]('weigh'), input: { kilos } }] },
              { text: 'WEIGHED.' },
            ]),
          )
          const log: unknown[] = []
          const { events, harness } = opened({
            agent: programDriver(id, { bin: bins[id], root, providerUrl: provider.url, cwd: work, transport }),
            tools: { weigh: weighing(log) },
          })
          ends.push(() => harness.destroy())
          harness.subscribe((event) => {
            if (event.type !== 'tool_approval_required') return
            void harness.session.respondToToolApproval({ toolCallId: event.toolCallId, decision: 'approve' })
          })
          await harness.sendMessage({ content: 'Weigh it.' })
          await harness.sendMessage({ content: 'Weigh the other.' })
          const shown = JSON.stringify(events.map(({ type }) => type))
          assert.deepEqual(failuresIn(events), [])
          assert.deepEqual(log, [{ kilos: 2 }, { kilos: 3 }], shown)
          assert.equal(events.filter(({ type }) => type === 'tool_approval_required').length, 2)
          assert.equal(events.filter(({ type }) => type === 'tool_end').length, 2)
          const last = provider.requests.findLast(({ route }) => route === 'main')
          assert.match(last?.text ?? '', /HEAVY-42/)
        },
      )
    }

    test(
      `${id} calls a tool of an MCP server, keeps the task list and asks a person`,
      { timeout: TEST_MS },
      async (t) => {
        const { ends, root, work } = await makePlace(t)
        const task = { content: 'Paint', status: 'in_progress', activeForm: 'Painting' }
        const provider = await scripted(t, [
          { toolCalls: [{ ...NAMED[id]('every_echo'), input: { message: 'ECHO-7' } }] },
          { toolCalls: [{ ...NAMED[id]('task_write'), input: { tasks: [task] } }] },
          { toolCalls: [{ ...NAMED[id]('ask_user'), input: { question: 'Which colour?' } }] },
          { text: 'PAINTED.' },
        ])
        const { events, harness } = opened({
          agent: programDriver(id, { bin: bins[id], root, providerUrl: provider.url, cwd: work, transport: 'live' }),
          mcpServers: { every: { type: 'stdio', command: process.execPath, args: [EVERYTHING] } },
          permissions: { tools: { every_echo: 'allow' } },
        })
        ends.push(() => harness.destroy())
        await harness.sendMessage({ content: 'Paint it.' })
        const [asked] = harness.session.suspensions.list()
        assert.equal(
          asked?.toolName,
          'ask_user',
          `${failuresIn(events).join()} ${events.map(({ type }) => type).join()}`,
        )
        await harness.respondToToolSuspension({ resumeData: 'RED-9' })
        assert.deepEqual(failuresIn(events), [])
        assert.deepEqual(
          harness.session.displayState.get().tasks.map(({ content, status }) => [content, status]),
          [['Paint', 'in_progress']],
        )
        const last = provider.requests.findLast(({ route }) => route === 'main')?.text ?? ''
        for (const word of ['ECHO-7', 'RED-9']) assert.ok(last.includes(word), `the model has heard ${word}`)
        assert.equal(events.filter(({ type }) => type === 'tool_approval_required').length, 0)
        assert.equal(events.filter(({ type }) => type === 'tool_end').length, 3)
      },
    )

    // Codex reads the list of tools only when it starts.
    const when = id === 'codex' ? 'next' : 'same'
    test(
      `${id} finds one of 300 tools by a search, and calls it in the ${when} turn`,
      { timeout: TEST_MS },
      async (t) => {
        const { ends, root, work } = await makePlace(t)
        const provider = await scripted(t, [
          { toolCalls: [{ ...NAMED[id]('search_tools'), input: { query: 'send a parcel' } }] },
          ...(when === 'next' ? [{ text: 'FOUND.' }] : []),
          { toolCalls: [{ ...NAMED[id]('send_parcel'), input: {} }] },
          { text: 'SENT.' },
        ])
        const items = Array.from({ length: 299 }, (_, index) => ({
          name: `handle_item_${index}`,
          description: `Handles item ${index}.`,
          inputSchema: { type: 'object' },
        }))
        const parcel = { name: 'send_parcel', description: 'Sends a parcel.', inputSchema: { type: 'object' } }
        const { events, harness } = opened({
          agent: programDriver(id, { bin: bins[id], root, providerUrl: provider.url, cwd: work, transport: 'live' }),
          toolSources: [
            {
              id: 'many',
              list: () => [...items, parcel],
              call: async (name) => ({ result: `${name} is done: PARCEL-5` }),
              close: async () => undefined,
            },
          ],
          toolSearch: {},
          permissions: { tools: { send_parcel: 'allow' } },
        })
        ends.push(() => harness.destroy())
        await harness.sendMessage({ content: 'Send it.' })
        if (when === 'next') await harness.sendMessage({ content: 'Continue.' })
        assert.deepEqual(failuresIn(events), [])
        const asked = provider.requests.filter(({ route }) => route === 'main')
        assert.equal(asked[1]?.text.includes('there in your next turn'), when === 'next')
        assert.match(asked.at(-1)?.text ?? '', /PARCEL-5/)
        assert.doesNotMatch(asked[0]?.text ?? '', /handle_item_|send_parcel/)
      },
    )

    test(`${id}: an approval waits for another process, and the call is made once`, { timeout: TEST_MS }, async (t) => {
      const { ends, root, work } = await makePlace(t)
      const weigh: ModelTurn = { toolCalls: [{ ...NAMED[id]('weigh'), input: { kilos: 2 } }] }
      const provider = await scripted(t, [weigh, weigh, { text: 'WEIGHED.' }])
      const log: unknown[] = []
      const config = {
        agent: programDriver(id, { bin: bins[id], root, providerUrl: provider.url, cwd: work, transport: 'live' }),
        tools: { weigh: weighing(log) },
      }
      const url = join(root, 'data.db')
      const before = new SqliteStore({ url })
      const first = opened({ ...config, storage: before })
      const asked = new Promise<void>((resolve) => {
        first.harness.subscribe(({ type }) => void (type === 'tool_approval_required' && resolve()))
      })
      void first.harness.sendMessage({ content: 'Weigh it.' })
      await asked
      await first.harness.destroy()
      await before.close()
      assert.deepEqual(log, [])

      const storage = new SqliteStore({ url })
      const second = opened({ ...config, storage })
      ends.push(
        () => second.harness.destroy(),
        () => storage.close(),
      )
      await second.harness.selectOrCreateThread()
      const over = new Promise<HarnessEvent>((resolve) => {
        second.harness.subscribe((event) => void (event.type === 'agent_end' && resolve(event)))
      })
      await second.harness.session.respondToToolApproval({ decision: 'approve' })
      const end = await over
      assert.deepEqual([failuresIn(second.events), end.type === 'agent_end' && end.reason], [[], 'complete'])
      assert.deepEqual(log, [{ kilos: 2 }])
      const last = provider.requests.findLast(({ route }) => route === 'main')?.text ?? ''
      assert.match(last, /HEAVY-42/)
    })
  }
})
