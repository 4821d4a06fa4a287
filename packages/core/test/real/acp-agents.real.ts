/** Agents without an adapter of their own, over `acp()`: the real programs against a provider with a script. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { appendFile, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { acp } from '@inspan/adapters'
import { startProvider, type Provider, type ModelTurn } from '@inspan/testing'
import { Harness } from '../../src/index.ts'
import { startGeminiGateway } from './gemini-gateway.ts'
import { installedCli } from './installed-cli.ts'

interface Subject {
  readonly id: string
  readonly title: string
  readonly args: readonly string[]
  /** The name of its tool that runs a command, and what that tool needs besides. */
  readonly shell: { readonly name: string; readonly input?: Readonly<Record<string, string | boolean>> }
  /** Files in its home. */
  readonly files?: Readonly<Record<string, string>>
  readonly env: (url: string) => Readonly<Record<string, string>>
  /** How it comes to ask before it runs a command. */
  readonly asksBecause?: string
}

const SUBJECTS: readonly Subject[] = [
  {
    id: 'copilot',
    title: 'GitHub Copilot',
    args: ['--acp'],
    shell: { name: 'bash', input: { description: 'Run it', sessionId: 'a', mode: 'sync' } },
    env: (url) => ({
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_TYPE: 'openai',
      COPILOT_PROVIDER_API_KEY: 'any',
      COPILOT_MODEL: 'gpt-4o',
      COPILOT_OFFLINE: 'true',
    }),
  },
  {
    id: 'gemini',
    title: 'Gemini CLI',
    // With a model of its own choice it asks another model first which one to take.
    args: ['--acp', '--model', 'gemini-2.5-flash'],
    shell: { name: 'run_shell_command', input: { description: 'Run it' } },
    files: { '.gemini/settings.json': JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }) },
    env: (url) => ({ GEMINI_API_KEY: 'any', GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
  },
  {
    id: 'grok',
    title: 'Grok',
    args: ['agent', 'stdio'],
    shell: { name: 'run_terminal_command', input: { description: 'Run it' } },
    files: { '.grok/config.toml': '[permission]\nask = ["Bash(*)"]\n' },
    env: (url) => ({ XAI_API_KEY: 'any', GROK_XAI_API_BASE_URL: `${url}/v1` }),
    asksBecause:
      'Its own settings decide what it asks about. The test has `ask = ["Bash(*)"]` in `~/.grok/config.toml`.',
  },
  {
    id: 'qwen-code',
    title: 'Qwen Code',
    args: ['--acp', '--auth-type', 'openai', '--approval-mode', 'default'],
    shell: { name: 'run_shell_command', input: { description: 'Run it', is_background: false } },
    env: (url) => ({ OPENAI_API_KEY: 'any', OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'gpt-4o' }),
    asksBecause: 'With `--approval-mode default`. Without this option it offers a choice of its own instead.',
  },
]

interface Stage {
  readonly harness: Harness
  readonly provider: Provider
  readonly cwd: string
  /** What happened so far. */
  readonly seen: { text: string; asked: string[]; ends: string[]; errors: string[] }
}

async function stage(
  t: TestContext,
  subject: Subject,
  script: Parameters<typeof startProvider>[0],
  decision: 'approve' | 'decline',
): Promise<Stage> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'inspan-acp-')))
  const [home, cwd] = [join(folder, 'home'), join(folder, 'work')]
  for (const each of [home, cwd]) await mkdir(each)
  for (const [name, text] of Object.entries(subject.files ?? {})) {
    await mkdir(dirname(join(home, name)), { recursive: true })
    await writeFile(join(home, name), text)
  }
  const command = await installedCli(subject.id)
  const provider = await startProvider(script)
  const gateway = subject.id === 'gemini' ? await startGeminiGateway(provider.url) : undefined
  const agent = acp({
    command,
    args: subject.args,
    cwd,
    title: subject.id,
    env: { HOME: home, ...subject.env(gateway?.url ?? provider.url) },
    // These programs translate none of our rules. What they ask about is still decided by them.
    allowUngoverned: true,
  })
  const permissions = { categories: { execute: 'ask' } } as const
  const harness = new Harness({ id: 'acp', agent, modes: [{ id: 'work' }], permissions })
  t.after(async () => {
    await harness.destroy()
    await gateway?.close()
    await provider.close()
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  })
  const seen: Stage['seen'] = { text: '', asked: [], ends: [], errors: [] }
  harness.subscribe(async (event) => {
    if (event.type === 'text') seen.text += event.text
    if (event.type === 'error') seen.errors.push(event.error.message)
    if (event.type === 'agent_end') seen.ends.push(event.reason ?? '')
    if (event.type === 'tool_approval_required') {
      seen.asked.push(JSON.stringify(event.args))
      await harness.session.respondToToolApproval({ decision, toolCallId: event.toolCallId })
    }
  })
  return { harness, provider, cwd, seen }
}

function calling({ shell }: Subject, command: string): ModelTurn {
  return { toolCalls: [{ name: shell.name, input: { ...shell.input, command } }] }
}

/** Writes what a test has shown where a run of all suites collects it, for the table in docs/guide/agents.md. */
async function prove({ id, title }: Subject, ability: string, note?: string): Promise<void> {
  const folder = process.env['INSPAN_REAL_PROOFS']
  if (folder === undefined || folder === '') return
  const version = /@(\d[^/]*)\/node_modules/.exec(await installedCli(id))?.[1]
  const proof = { program: title, version, mode: 'acp', ability, works: true, ...(note === undefined ? {} : { note }) }
  await appendFile(join(folder, `${id}-acp-${process.pid}.jsonl`), `${JSON.stringify(proof)}\n`)
}

for (const subject of SUBJECTS) {
  suite(`${subject.title} over acp()`, { timeout: 15 * 60_000 }, () => {
    test('prints a text, and receives in the next turn what was said', async (t) => {
      // Some take notes or sum up after a turn, and are answered too.
      const script = Array.from({ length: 9 }, () => ({ text: 'Hello.' }))
      const { harness, provider, seen } = await stage(t, subject, script, 'decline')
      await harness.sendMessage({ content: 'My word is heliotrope.' })
      assert.deepEqual(seen, { text: 'Hello.', asked: [], ends: ['complete'], errors: [] })
      await prove(subject, 'text')
      await harness.sendMessage({ content: 'What was my word?' })
      assert.ok(provider.requests.some(({ text }) => /heliotrope.*What was my word\?/s.test(text)))
      assert.deepEqual([seen.text, seen.ends], ['Hello.Hello.', ['complete', 'complete']])
      await prove(subject, 'next-turn')
    })

    test('runs a command that a person has approved', async (t) => {
      const script = [calling(subject, 'touch made.txt'), { text: 'Done.' }]
      const { cwd, harness, seen } = await stage(t, subject, script, 'approve')
      await harness.sendMessage({ content: 'Make a file.' })
      assert.equal(seen.asked.length, 1)
      assert.match(seen.asked[0] ?? '', /touch made\.txt/)
      assert.deepEqual([seen.text, seen.ends], ['Done.', ['complete']])
      assert.ok(existsSync(join(cwd, 'made.txt')))
      await prove(subject, 'approve', subject.asksBecause)
    })

    test('does not run a command that a person has declined', async (t) => {
      const script = [calling(subject, 'touch made.txt'), { text: 'Then not.' }]
      const { cwd, harness, seen } = await stage(t, subject, script, 'decline')
      await harness.sendMessage({ content: 'Make a file.' })
      assert.equal(seen.asked.length, 1)
      assert.ok(!existsSync(join(cwd, 'made.txt')))
      await prove(subject, 'decline', subject.asksBecause)
    })
  })
}
