import assert from 'node:assert/strict'
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, suite, test, type TestContext } from 'node:test'
import { claudeCode, codex } from '@inspan/adapters'
import type { AgentDriver } from '@inspan/protocol/driver'
import type { HarnessEvent } from '@inspan/protocol/harness'
import { startProvider, type Provider, type Turn } from '@inspan/testing'
import { createTool, Harness } from '../../src/index.ts'
import { installedCli } from './installed-cli.ts'

const TEST_MS = 20 * 60_000
const INSTALL_MS = 60 * 60_000

interface Place {
  readonly home: string
  readonly work: string
  readonly temp: string
}

async function makePlace(t: TestContext, ends: (() => Promise<void>)[]): Promise<Place> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'inspan-host-tools-')))
  t.after(async () => {
    for (const end of ends) await end()
    await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  })
  const dirs = { home: join(root, 'home'), work: join(root, 'work'), temp: join(root, 'temp') }
  for (const dir of Object.values(dirs)) await mkdir(dir)
  return dirs
}

type Transport = 'live' | 'print'
type Make = (bin: string, place: Place, provider: Provider, transport: Transport) => AgentDriver

const claude: Make = (bin, { home, temp, work }, provider, transport) =>
  claudeCode({
    bin,
    cwd: work,
    transport,
    env: {
      HOME: home,
      TMPDIR: temp,
      ANTHROPIC_BASE_URL: provider.url,
      ANTHROPIC_API_KEY: 'sk-ant-test',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '1',
    },
  })

const gpt: Make = (bin, { home, temp, work }, provider, transport) =>
  codex({
    bin,
    cwd: work,
    transport,
    model: 'gpt-5.5',
    config: {
      model_provider: 'scripted',
      'model_providers.scripted': {
        name: 'scripted',
        base_url: `${provider.url}/v1`,
        env_key: 'CODEX_API_KEY',
        wire_api: 'responses',
        request_max_retries: 1,
        stream_max_retries: 1,
      },
    },
    env: { HOME: home, TMPDIR: temp, CODEX_HOME: undefined, CODEX_API_KEY: 'sk-test' },
  })

suite('our tools in foreign agents', () => {
  const bins = { 'claude-code': '', codex: '' }
  before(
    async () => {
      for (const id of ['claude-code', 'codex'] as const) bins[id] = await installedCli(id)
    },
    { timeout: INSTALL_MS },
  )

  for (const [id, make, tool] of [
    ['claude-code', claude, { name: 'mcp__inspan__weigh' }],
    ['codex', gpt, { name: 'weigh', namespace: 'mcp__inspan' }],
  ] as const) {
    for (const transport of ['live', 'print'] as const) {
      test(
        `${id} (${transport}) calls one in two turns, each with a token of its own: asked about and recorded once`,
        { timeout: TEST_MS },
        async (t) => {
          const ends: (() => Promise<void>)[] = []
          const place = await makePlace(t, ends)
          const turns: Turn[] = [2, 3].flatMap((kilos) => [
            { toolCalls: [{ ...tool, input: { kilos } }] },
            { text: 'WEIGHED.' },
          ])
          const provider = await startProvider({ turns })
          t.after(() => provider.close())
          const log: unknown[] = []
          const weigh = createTool({
            id: 'weigh',
            description: 'Weighs things.',
            inputSchema: { type: 'object', properties: { kilos: { type: 'number' } } },
            execute: (input) => {
              log.push(input)
              return 'HEAVY-42'
            },
          })
          const harness = new Harness({
            id: 'host-tools',
            agent: make(bins[id], place, provider, transport),
            modes: [{ id: 'build' }],
            tools: { weigh },
          })
          ends.push(() => harness.destroy())
          const events: HarnessEvent[] = []
          harness.subscribe((event) => {
            events.push(event)
            if (event.type !== 'tool_approval_required') return
            void harness.session.respondToToolApproval({ toolCallId: event.toolCallId, decision: 'approve' })
          })
          await harness.sendMessage({ content: 'Weigh it.' })
          await harness.sendMessage({ content: 'Weigh the other.' })
          const shown = JSON.stringify(events.map(({ type }) => type))
          assert.deepEqual(
            events.flatMap((event) => (event.type === 'error' ? [event.error.message] : [])),
            [],
          )
          assert.deepEqual(log, [{ kilos: 2 }, { kilos: 3 }], shown)
          assert.equal(events.filter(({ type }) => type === 'tool_approval_required').length, 2)
          assert.equal(events.filter(({ type }) => type === 'tool_end').length, 2)
          const last = provider.requests.findLast(({ route }) => route === 'main')
          assert.match(last?.text ?? '', /HEAVY-42/)
        },
      )
    }
  }
})
