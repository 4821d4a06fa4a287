import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Binding, MCPConfiguration, StoredMessage } from '@evener/protocol'
import { aMessage, type RealCli, type RealScript } from '../real/bench.ts'
import { errorCodes } from '../real/other-ways.ts'
import { ownBench } from '../real/own-bench.ts'
import { testCli } from '../real/scenarios.ts'
import { claudeCode } from './driver.ts'
import { claudeCodeProfile } from './profile.ts'

const toy: MCPConfiguration = {
  toy: {
    type: 'stdio',
    command: process.execPath,
    args: [fileURLToPath(new URL('../real/mcp-echo.mjs', import.meta.url))],
    env: { TOY_TOKEN: 'secret' },
  },
}

const call = (name: string, input: Readonly<Record<string, string | number | boolean>>): RealScript => ({
  turns: [{ toolCalls: [{ name, input }] }],
})
const bash = (command: string): RealScript => call('Bash', { command })

const cli: RealCli = {
  profile: claudeCodeProfile,
  agent: ({ bin, place, provider, hasKey, options }) =>
    claudeCode({
      bin,
      settings: ['project'],
      ...options,
      env: {
        HOME: place.home,
        TMPDIR: place.temp,
        ANTHROPIC_BASE_URL: provider.url,
        ANTHROPIC_API_KEY: hasKey ? 'sk-ant-test' : undefined,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        CLAUDE_CODE_MAX_RETRIES: '1',
      },
    }),
  scripts: {
    'command-succeeds': () => bash('echo fine > /dev/null && echo fine'),
    'command-fails': () => bash('echo bad; exit 3'),
    'read-range': ({ work }) => call('Read', { file_path: join(work, 'hello.txt'), offset: 2, limit: 3 }),
    write: ({ work }) => call('Write', { file_path: join(work, 'new.txt'), content: 'made\n' }),
    edit: ({ work }) => ({
      turns: [
        { toolCalls: [{ name: 'Read', input: { file_path: join(work, 'src/app.js') } }] },
        {
          toolCalls: [
            { name: 'Edit', input: { file_path: join(work, 'src/app.js'), old_string: '= 41', new_string: '= 42' } },
          ],
        },
      ],
    }),
    search: () => call('Grep', { pattern: 'needle' }),
    list: () => bash('ls src'),
    parallel: () => ({
      turns: [
        {
          toolCalls: [
            { name: 'Bash', input: { command: 'echo one > /dev/null; echo one' } },
            { name: 'Bash', input: { command: 'echo two > /dev/null; echo two' } },
          ],
        },
      ],
    }),
    subagent: () => ({
      routes: [{ match: 'SUBTASK-77', turns: [{ text: 'All is fine.' }] }],
      turns: [
        {
          toolCalls: [
            {
              name: 'Agent',
              input: {
                description: 'Check files',
                prompt: 'SUBTASK-77 look at the files',
                subagent_type: 'general-purpose',
                run_in_background: false,
              },
            },
          ],
        },
      ],
    }),
    skill: () => call('Skill', { skill: 'greet' }),
    mcp: () => ({
      turns: [
        { toolCalls: [{ name: 'ToolSearch', input: { query: 'select:mcp__toy__echo', max_results: 5 } }] },
        { toolCalls: [{ name: 'mcp__toy__echo', input: { text: 'hi' } }] },
      ],
    }),
    'endless-command': () => bash('setsid tail -f /dev/null & touch started.txt; tail -f /dev/null'),
    'write-outside': ({ home }) => call('Write', { file_path: join(home, 'outside.txt'), content: 'made\n' }),
    touch: () => bash('touch touched.txt'),
  },
  expected: {
    edit: ({ work }) => [
      { type: 'read', path: join(work, 'src/app.js'), isSuccess: true },
      { type: 'write', path: join(work, 'src/app.js'), isSuccess: true },
    ],
  },
  options: { mcp: { mcp: toy } },
  unsupported: { 'head-moved': 'it is resumed at our anchor, never at its end' },
}

testCli(cli)

describe('Claude Code, its own way', () => {
  const goesOn = { turn: { runId: 'run-2' } }
  const said = (binding: Binding): readonly StoredMessage[] => [
    aMessage('Halfway there.', { sessionId: binding.nativeId, messageId: binding.anchor ?? '' }),
  ]

  it('goes on with what was said when it was killed right after it had said it', async (t) => {
    const endless = { name: 'Bash', input: { command: 'tail -f /dev/null' } }
    const bench = await ownBench(t, cli, {
      turns: [{ text: 'Halfway there.', toolCalls: [endless] }, { text: 'Arrived.' }],
    })
    const first = await bench.turn({
      meanwhile: async (_session, { order, processes }, over) => {
        while (!over.aborted && !order.some((entry) => /^bind \S+ [^-]/.test(entry))) await pause(1)
        process.kill(processes[0]?.pid ?? 0, 'SIGKILL')
      },
    })
    assert.equal(errorCodes(first.events).length, 1)
    const { binding } = first
    assert.ok(binding?.anchor)
    const second = await bench.turn({ ...goesOn, binding, history: said(binding) })
    assert.deepEqual(errorCodes(second.events), [])
    assert.match(bench.request(1), /Halfway there\./)
  })

  it('begins a new session when it had not saved what it had said, and is told of it', async (t) => {
    const bench = await ownBench(t, cli, { turns: [{ text: 'Halfway there.' }, { text: 'Arrived.' }] })
    const { binding } = await bench.turn()
    assert.ok(binding?.anchor)
    await forget(bench.place.home, binding.anchor)
    const second = await bench.turn({ ...goesOn, binding, history: said(binding) })
    assert.deepEqual(errorCodes(second.events), [])
    assert.ok(second.warnings.some((warning) => /begins a new session.*No message found/.test(warning)))
    assert.notEqual(second.binding?.nativeId, binding.nativeId)
    assert.match(bench.request(1), /Halfway there\./)
  })

  it('begins a new session when it is not where its own one is', async (t) => {
    const bench = await ownBench(t, cli, { turns: [{ text: 'Halfway there.' }, { text: 'Arrived.' }] })
    const { binding } = await bench.turn()
    assert.ok(binding)
    const second = await bench.turn({
      binding,
      history: said(binding),
      turn: { runId: 'run-2', cwd: bench.place.temp },
    })
    assert.deepEqual(errorCodes(second.events), [])
    assert.match(bench.request(1), /Halfway there\./)
  })
})

/** Takes a message out of the files that sessions are kept in. */
async function forget(home: string, uuid: string): Promise<void> {
  const projects = join(home, '.claude', 'projects')
  for (const file of await readdir(projects, { recursive: true })) {
    if (!file.endsWith('.jsonl')) continue
    const lines = (await readFile(join(projects, file), 'utf8')).split('\n')
    await writeFile(join(projects, file), lines.filter((line) => !line.includes(`"uuid":"${uuid}"`)).join('\n'))
  }
}
