import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { OpencodeAgentOptions } from '@inspan/adapters'
import type { HarnessFactory } from '@inspan/protocol/chat'
import type { ScriptedToolCall } from '@inspan/testing'
import {
  AcpHarnessFactory,
  ClaudeCodeHarnessFactory,
  ClineHarnessFactory,
  CodexHarnessFactory,
  GooseHarnessFactory,
  KiloCodeHarnessFactory,
  OpencodeHarnessFactory,
  PiHarnessFactory,
} from '../index.ts'

/** Where a program runs in a test: its path, its home, and the address of the scripted provider. */
export interface RealPlace {
  readonly bin: string
  readonly home: string
  readonly url: string
}

export interface RealFactory {
  /** The program, if it is not the name of the factory. */
  readonly program?: string
  readonly make: (place: RealPlace) => HarnessFactory
  /** A command in the program's own words, for the items about approval. */
  readonly tool: Pick<ScriptedToolCall, 'name' | 'input'>
}

const COMMAND = 'echo fine'

const OPENCODE_TOOL = { name: 'bash', input: { command: COMMAND, description: 'Prints a word' } }

const INSTALL = fileURLToPath(new URL('../../../adapters/test/real/install-cli.ts', import.meta.url))

/** The path of a program in its pinned version, installed by the suites' own program. */
export async function installedCli(id: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [INSTALL, id])
  return stdout.trim()
}

/** Opencode and what is built on it take a provider from their config, and keep everything below these folders. */
function opencodeOptions({ bin, home, url }: RealPlace, prefix: string): OpencodeAgentOptions {
  const models = {
    'model-1': {
      tool_call: true,
      modalities: { input: ['text', 'image'], output: ['text'] },
      limit: { context: 200_000, output: 8_000 },
    },
  }
  const options = { baseURL: `${url}/v1`, apiKey: 'sk-test' }
  return {
    bin,
    model: 'scripted/model-1',
    config: { provider: { scripted: { npm: '@ai-sdk/openai-compatible', options, models } } },
    env: {
      HOME: home,
      XDG_CACHE_HOME: join(home, '.cache'),
      XDG_CONFIG_HOME: join(home, '.config'),
      XDG_DATA_HOME: join(home, '.local/share'),
      XDG_STATE_HOME: join(home, '.local/state'),
      [`${prefix}_DISABLE_DEFAULT_PLUGINS`]: '1',
      [`${prefix}_DISABLE_LSP_DOWNLOAD`]: '1',
      [`${prefix}_DISABLE_MODELS_FETCH`]: '1',
      KILO_TELEMETRY_LEVEL: 'off',
      KILO_DISABLE_SESSION_INGEST: '1',
      KILO_DISABLE_CODEBASE_INDEXING: '1',
    },
  }
}

function clineLogin(home: string, baseUrl: string): void {
  const folder = join(home, '.cline', 'data', 'settings')
  mkdirSync(folder, { recursive: true })
  const provider = 'openai-compatible'
  const settings = { provider, apiKey: 'sk-test', model: 'model-1', baseUrl }
  const entry = { settings, updatedAt: '2026-01-01T00:00:00.000Z', tokenSource: 'manual' }
  const providers = { version: 1, lastUsedProvider: provider, modes: {}, providers: { [provider]: entry } }
  writeFileSync(join(folder, 'providers.json'), JSON.stringify(providers))
}

function piFolder(home: string, url: string): string {
  const dir = join(home, '.pi', 'agent')
  mkdirSync(dir, { recursive: true })
  writeFileSync(
    join(dir, 'settings.json'),
    JSON.stringify({ retry: { enabled: true, maxRetries: 1, baseDelayMs: 50 } }),
  )
  const models = [{ id: 'model-1', input: ['text', 'image'], contextWindow: 200_000, maxTokens: 8_000 }]
  const scripted = { baseUrl: `${url}/v1`, api: 'openai-completions', apiKey: 'sk-test', models }
  writeFileSync(join(dir, 'models.json'), JSON.stringify({ providers: { scripted } }))
  return dir
}

/** The factories for programs, set up to reach nobody but the scripted provider. */
export const REAL_FACTORIES: Readonly<Record<string, RealFactory>> = {
  'claude-code': {
    tool: { name: 'Bash', input: { command: COMMAND } },
    make: ({ bin, home, url }) =>
      new ClaudeCodeHarnessFactory({
        bin,
        settings: ['project'],
        env: {
          HOME: home,
          ANTHROPIC_BASE_URL: url,
          ANTHROPIC_API_KEY: 'sk-ant-test',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
          CLAUDE_CODE_MAX_RETRIES: '1',
        },
      }),
  },
  codex: {
    tool: { name: 'exec_command', input: { cmd: COMMAND } },
    make: ({ bin, home, url }) =>
      new CodexHarnessFactory({
        bin,
        model: 'gpt-5.5',
        config: {
          model_provider: 'scripted',
          'model_providers.scripted': {
            name: 'scripted',
            base_url: `${url}/v1`,
            env_key: 'CODEX_API_KEY',
            wire_api: 'responses',
            request_max_retries: 1,
            stream_max_retries: 1,
          },
        },
        env: { HOME: home, CODEX_HOME: undefined, CODEX_API_KEY: 'sk-test' },
      }),
  },
  pi: {
    tool: { name: 'bash', input: { command: COMMAND } },
    make: ({ bin, home, url }) =>
      new PiHarnessFactory({
        bin,
        model: 'scripted/model-1',
        env: {
          HOME: home,
          PI_CODING_AGENT_DIR: piFolder(home, url),
          PI_OFFLINE: '1',
          PI_TELEMETRY: '0',
          ANTHROPIC_API_KEY: undefined,
        },
      }),
  },
  // A program that speaks the protocol and reports failures in it.
  acp: {
    program: 'opencode',
    tool: OPENCODE_TOOL,
    make: (place) => {
      const { bin = '', config, env, model } = opencodeOptions(place, 'OPENCODE')
      const content = JSON.stringify({ ...config, model, permission: { bash: 'ask' } })
      return new AcpHarnessFactory({ command: bin, args: ['acp'], env: { ...env, OPENCODE_CONFIG_CONTENT: content } })
    },
  },
  goose: {
    tool: { name: 'shell', input: { command: COMMAND } },
    make: ({ bin, home, url }) =>
      new GooseHarnessFactory({
        bin,
        provider: 'openai',
        // A model that it knows to take images.
        model: 'gpt-4o',
        env: {
          HOME: home,
          GOOSE_PATH_ROOT: join(home, 'goose'),
          GOOSE_DISABLE_KEYRING: '1',
          GOOSE_TELEMETRY_OFF: '1',
          OPENAI_API_KEY: 'sk-test',
          OPENAI_HOST: url,
          OPENAI_BASE_PATH: 'v1/chat/completions',
        },
      }),
  },
  opencode: { tool: OPENCODE_TOOL, make: (place) => new OpencodeHarnessFactory(opencodeOptions(place, 'OPENCODE')) },
  'kilo-code': { tool: OPENCODE_TOOL, make: (place) => new KiloCodeHarnessFactory(opencodeOptions(place, 'KILO')) },
  cline: {
    tool: { name: 'run_commands', input: { commands: [COMMAND] } },
    make: ({ bin, home, url }) => {
      clineLogin(home, `${url}/v1`)
      return new ClineHarnessFactory({
        bin,
        provider: 'openai-compatible',
        env: { HOME: home, CLINE_API_KEY: 'sk-test', DO_NOT_TRACK: '1' },
      })
    },
  },
}
