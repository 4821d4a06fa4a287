import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentEvent } from '@inspan/protocol'
import { aMessage, assertActivity, type Bench, type Expected, type RunFolders, type ToolScenario } from './bench.ts'
import { startRemoteToyServer } from './remote-toy-server.ts'
import { answered, assertUsage, FILES, finishOf, type Scenario } from './scenario.ts'

/** A scenario in which a tool is used and the resulting activity is checked. */
function tool(
  name: ToolScenario,
  title: string,
  expected: (place: RunFolders) => readonly Expected[],
  after: (bench: Bench, events: readonly AgentEvent[]) => Promise<void> = async () => undefined,
): Scenario {
  return {
    name,
    title,
    files: FILES,
    play: async (bench) => {
      const { cli, place } = bench
      const { events, activity } = await bench.turn({ options: cli.options?.[name] ?? {} })
      assertActivity(activity, (cli.expected?.[name] ?? expected)(place))
      assert.equal(answered(events), 'Done.')
      assert.equal(finishOf(events).finishReason, 'stop')
      await after(bench, events)
    },
  }
}

const contentOf = async ({ place }: Bench, file: string): Promise<string> => readFile(join(place.work, file), 'utf8')

/** Returns a text that is too long for an argument and has few tokens. */
function long(of: string): string {
  return `BEGINNING OF ${of}\n${'line of many words that say nothing at all\n'.repeat(3_200)}END OF ${of}`
}

/** What a CLI is told, says and does. */
export const toolScenarios: readonly Scenario[] = [
  {
    name: 'text',
    title: 'says a text, with its usage',
    script: [{ text: ['Hello ', 'there.'], usage: { inputTokens: 100, outputTokens: 20 } }],
    play: async (bench) => {
      const { events, activity, binding } = await bench.turn()
      assertActivity(activity, [{ type: 'agent', message: 'Hello there.' }])
      const said = events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : []))
      assert.equal(said.join(''), 'Hello there.')
      assert.equal(finishOf(events).finishReason, 'stop')
      await assertUsage(bench, events, { inputTokens: 100, outputTokens: 20 })
      assert.ok(binding?.nativeId)
      assert.equal(binding.version, bench.cli.profile.npm?.version)
      if ((await bench.agent().describe()).usage === 'none')
        return { can: 'text', but: 'It does not report its usage.' }
    },
  },
  tool('command-succeeds', 'runs a command that succeeds', () => [
    { type: 'command', command: /echo fine/, isSuccess: true },
  ]),
  tool('command-fails', 'runs a command that fails, with its exit code', () => [
    { type: 'command', command: /exit 3/, exitCode: 3, isSuccess: false },
  ]),
  tool('read-range', 'reads a range of lines', ({ work }) => [
    { type: 'read', path: join(work, 'hello.txt'), startLine: 2, endLine: 4, isSuccess: true },
  ]),
  tool(
    'write',
    'writes a file',
    ({ work }) => [{ type: 'write', path: join(work, 'new.txt'), isSuccess: true }],
    async (bench) => assert.match(await contentOf(bench, 'new.txt'), /^made\n?$/),
  ),
  tool(
    'edit',
    'edits a file',
    ({ work }) => [{ type: 'write', path: join(work, 'src/app.js'), isSuccess: true }],
    async (bench) => assert.match(await contentOf(bench, 'src/app.js'), /answer = 42/),
  ),
  tool('search', 'searches', () => [{ type: 'search', query: 'needle', isSuccess: true }]),
  tool('list', 'lists a directory', ({ work }) => [{ type: 'list', path: join(work, 'src'), isSuccess: true }]),
  tool('parallel', 'runs calls side by side', () => [
    { type: 'command', command: /echo (?:one|two)/, isSuccess: true },
    { type: 'command', command: /echo (?:one|two)/, isSuccess: true },
  ]),
  tool(
    'subagent',
    'starts a subagent and reports its end',
    () => [
      { type: 'orchestration', action: 'subagent_started' },
      { type: 'orchestration', action: 'subagent_completed', isSuccess: true },
    ],
    async (bench) => assert.equal((await bench.agent(bench.cli.options?.subagent).describe()).subagents, true),
  ),
  tool('skill', 'uses a skill', ({ work }) => [
    { type: 'skill', path: new RegExp(`^${work}/.*/skills/greet/SKILL.md$`), isSuccess: true },
  ]),
  tool(
    'mcp',
    'calls a tool of an MCP server',
    () => [{ type: 'unknown' }],
    async (bench, events) => {
      assert.equal((await bench.agent().describe()).mcp, true)
      const result = events.find((event) => event.type === 'tool-result' && event.serverName === 'toy')
      assert.ok(result?.type === 'tool-result')
      assert.match(JSON.stringify(result.result), /echo: hi secret/)
    },
  ),
  {
    name: 'mcp-remote',
    title: 'calls a tool of an MCP server over HTTP that requires a header',
    scriptOf: 'mcp',
    files: FILES,
    play: async (bench, t) => {
      const { mcp, refused } = await startRemoteToyServer(t)
      const { events } = await bench.turn({ options: { ...bench.cli.options?.mcp, mcp } })
      const results = events.flatMap((event) => (event.type === 'tool-result' ? [JSON.stringify(event.result)] : []))
      assert.ok(
        results.some((result) => result.includes('echo: hi over HTTP')),
        `its results: ${results.join(' ')}`,
      )
      assert.equal(answered(events), 'Done.')
      assert.deepEqual(refused, [])
    },
  },
  {
    name: 'reasoning',
    title: 'shows its reasoning apart from its words',
    script: [{ reasoning: 'Let me think about it.', text: 'Done.' }],
    play: async (bench) => {
      const { events, activity } = await bench.turn({ options: bench.cli.options?.reasoning ?? {} })
      assertActivity(activity, [{ type: 'agent', message: 'Done.' }])
      const reasoning = events.flatMap((event) => (event.type === 'reasoning-delta' ? [event.text] : []))
      assert.match(reasoning.join(''), /Let me think about it\./)
    },
  },
  {
    name: 'handover',
    title: 'receives what others said in the thread',
    script: [{ text: 'Done.' }],
    play: async (bench) => {
      const { events } = await bench.turn({ history: [aMessage('The plan is PLAN-99.')] })
      assert.equal(answered(events), 'Done.')
      assert.match(bench.request(0), /The plan is PLAN-99\./)
    },
  },
  {
    name: 'instructions',
    title: 'is given instructions and a model, and other instructions later',
    script: ['First answer.', 'Second answer.'].map((text) => ({ text })),
    play: async (bench) => {
      const first = await bench.turn({ turn: { instructions: 'Speak like PIRATES do.' } })
      assert.match(bench.request(0), /Speak like PIRATES do\./)
      assert.ok(first.binding)
      await bench.turn({ binding: first.binding, turn: { instructions: 'Speak like SAILORS do.' } })
      assert.match(bench.request(1), /Speak like SAILORS do\./)
    },
  },
  {
    name: 'long-texts',
    title: 'is given a prompt and instructions that are too long for an argument',
    proves: 'text',
    script: [{ text: 'Done.' }],
    play: async (bench) => {
      const { systemPrompt, usage } = await bench.agent().describe()
      const instructions = systemPrompt === 'none' ? {} : { instructions: long('INSTRUCTIONS') }
      const { events } = await bench.turn({
        turn: { ...instructions, input: [{ id: '0', type: 'text', text: long('PROMPT') }] },
      })
      assert.equal(answered(events), 'Done.')
      const asked = bench.request(0)
      assert.match(asked, /BEGINNING OF PROMPT[^]{131072,}END OF PROMPT/)
      if (systemPrompt !== 'none') assert.match(asked, /BEGINNING OF INSTRUCTIONS[^]{131072,}END OF INSTRUCTIONS/)
      if (usage === 'none') return { can: 'text', but: 'It does not report its usage.' }
    },
  },
  {
    name: 'image',
    title: 'is shown an image',
    script: [{ text: 'A dot.' }],
    play: async (bench) => {
      const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
      const { events } = await bench.turn({
        options: bench.cli.options?.image ?? {},
        turn: {
          input: [
            { id: '0', type: 'text', text: 'What is this?' },
            { id: '1', type: 'image', mimeType: 'image/png', data },
          ],
        },
      })
      assert.equal(answered(events), 'A dot.')
      assert.match(bench.request(0), /iVBORw0KGgo/)
    },
  },
]
