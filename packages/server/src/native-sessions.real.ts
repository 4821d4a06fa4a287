/** `resume` over a server, with sessions that the real coding agents made without us. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { claudeCode, codex, opencode, pi } from '@inspan/adapters'
import { connect } from '@inspan/client'
import { Harness } from '@inspan/core'
import type { AgentDriver } from '@inspan/protocol/driver'
import { startProvider } from '@inspan/testing'
import { serve } from './serve.ts'

const INSTALL = fileURLToPath(new URL('../../adapters/test/real/install-cli.ts', import.meta.url))
/** Many times what a test and the installation of a program take: the machine may be busy, the line slow. */
const TEST_MS = 60 * 60_000

type Env = Readonly<Record<string, string | undefined>>

interface RealAgent {
  /** The arguments with which a person would put one prompt to the program. */
  readonly args: (prompt: string) => readonly string[]
  readonly env: Env
  readonly driver: AgentDriver
}

interface Folders {
  readonly bin: string
  readonly home: string
  /** The address of the scripted provider. */
  readonly url: string
}

const AGENTS: Readonly<Record<string, (folders: Folders) => Promise<RealAgent>>> = {
  'claude-code': async ({ bin, home, url }) => {
    const env = {
      HOME: home,
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'sk-ant-test',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '1',
    }
    return { env, args: (prompt) => ['-p', prompt], driver: claudeCode({ bin, env, settings: ['project'] }) }
  },
  codex: async ({ bin, home, url }) => {
    const env = { HOME: home, CODEX_HOME: undefined, CODEX_API_KEY: 'sk-test' }
    const provider = {
      name: 'scripted',
      base_url: `${url}/v1`,
      env_key: 'CODEX_API_KEY',
      wire_api: 'responses',
      request_max_retries: 1,
      stream_max_retries: 1,
    }
    const lines = Object.entries(provider).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
    const config = ['model = "gpt-5.5"', 'model_provider = "scripted"', '[model_providers.scripted]', ...lines]
    await mkdir(join(home, '.codex'))
    await writeFile(join(home, '.codex', 'config.toml'), config.join('\n'))
    return {
      env,
      args: (prompt) => ['exec', '--skip-git-repo-check', prompt],
      driver: codex({ bin, env, model: 'gpt-5.5' }),
    }
  },
  opencode: async ({ bin, home, url }) => {
    const models = { 'model-1': { tool_call: true, limit: { context: 200_000, output: 8_000 } } }
    const options = { baseURL: `${url}/v1`, apiKey: 'sk-test' }
    const config = { provider: { scripted: { npm: '@ai-sdk/openai-compatible', options, models } } }
    const env = {
      HOME: home,
      XDG_CACHE_HOME: join(home, '.cache'),
      XDG_CONFIG_HOME: join(home, '.config'),
      XDG_DATA_HOME: join(home, '.local/share'),
      XDG_STATE_HOME: join(home, '.local/state'),
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
    }
    await mkdir(join(home, '.config', 'opencode'), { recursive: true })
    await writeFile(join(home, '.config', 'opencode', 'opencode.json'), JSON.stringify(config))
    const model = 'scripted/model-1'
    return {
      env,
      // Word by word: OpenCode keeps quotes around an argument that has spaces.
      args: (prompt) => ['run', '--model', model, ...prompt.split(' ')],
      driver: opencode({ bin, env, model }),
    }
  },
  pi: async ({ bin, home, url }) => {
    const folder = join(home, '.pi', 'agent')
    await mkdir(folder, { recursive: true })
    const models = [{ id: 'model-1', input: ['text'], contextWindow: 200_000, maxTokens: 8_000 }]
    const scripted = { baseUrl: `${url}/v1`, api: 'openai-completions', apiKey: 'sk-test', models }
    await writeFile(join(folder, 'models.json'), JSON.stringify({ providers: { scripted } }))
    const env = {
      HOME: home,
      PI_CODING_AGENT_DIR: folder,
      PI_OFFLINE: '1',
      PI_TELEMETRY: '0',
      ANTHROPIC_API_KEY: undefined,
    }
    const model = 'scripted/model-1'
    return { env, args: (prompt) => ['--model', model, '-p', prompt], driver: pi({ bin, env, model }) }
  },
}

/** Runs the program as a person would, without anything of ours. */
async function runAlone(bin: string, args: readonly string[], cwd: string, env: Env): Promise<void> {
  // As a shell sets it: OpenCode takes its folder from there.
  const place = { ...process.env, ...env, PWD: cwd }
  const child = spawn(bin, args, { cwd, env: place, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  }
  const [code] = (await once(child, 'close')) as [number | null]
  assert.equal(code, 0, output)
}

suite('a session that a real agent made without us', () => {
  for (const [id, make] of Object.entries(AGENTS)) {
    test(`${id}: is listed, imported, and continued by the agent`, { timeout: TEST_MS }, async (t) => {
      const base = await realpath(await mkdtemp(join(tmpdir(), 'inspan-native-')))
      t.after(() => rm(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }))
      const [home, folder, elsewhere] = ['home', 'project', 'elsewhere'].map((name) => join(base, name)) as [
        string,
        string,
        string,
      ]
      for (const each of [home, folder, elsewhere]) await mkdir(each)
      const bin = (await promisify(execFile)(process.execPath, [INSTALL, id])).stdout.trim()
      await using provider = await startProvider([
        { text: 'I will remember.' },
        { text: 'Nobody will know.' },
        { text: 'It was seven.' },
      ])
      const agent = await make({ bin, home, url: provider.url })
      await runAlone(bin, agent.args('Remember the number seven.'), folder, agent.env)
      await runAlone(bin, agent.args('This is private.'), elsewhere, agent.env)

      const harness = new Harness({ id: 'native', modes: [{ id: 'agent', agent: agent.driver }] })
      const server = await serve({ harness, folders: [folder] })
      const client = await connect({ url: server.url, token: server.token })
      t.after(async () => {
        await client.close()
        await server.close()
        await harness.destroy()
      })
      const sessions = await client.routes.sessions()
      assert.deepEqual(
        sessions.map(({ agentId, cwd }) => [agentId, cwd]),
        [[id, folder]],
        'only the session of the folder that the server offers',
      )
      const sessionId = sessions[0]?.id ?? ''
      const imported = await client.routes.importSession(sessionId)
      await client.open(imported)
      const shown = (): string[] => client.getState().messages.map(({ content, role }) => `${role}: ${content.trim()}`)
      assert.deepEqual(shown(), ['user: Remember the number seven.', 'assistant: I will remember.'])

      const before = provider.requests.length
      const receipt = await client.send({ type: 'resume', sessionId, prompt: 'Which number was it?' }).receipt
      assert.equal(receipt.status, 'done', receipt.message)
      await new Promise<void>((resolve) => {
        const look = (): void => {
          if (client.getState().head.lastRun?.runId === receipt.runId) resolve()
        }
        client.subscribe(look)
        look()
      })
      assert.deepEqual(shown().slice(2), ['user: Which number was it?', 'assistant: It was seven.'])
      const asked = provider.requests.slice(before).map(({ body }) => JSON.stringify(body))
      const turn = asked.find((body) => body.includes('Which number was it?')) ?? ''
      // Once, from the agent's own history: it is not told again what it knows.
      assert.equal(turn.split('Remember the number seven.').length, 2, turn)
      assert.match(turn, /I will remember\./)
    })
  }
})
