import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '@inspan/protocol'
import type { PrintOptions } from '../../../src/launch/print-driver.ts'
import { piProfile } from '../../../src/pi/profile.ts'
import type { AgentSetup, RealCli, RealScript } from '../bench.ts'
import { pathWithRipgrep } from '../ripgrep.ts'
import { toyServer } from '../toy-server.ts'

const PATH = await pathWithRipgrep()

const call = (name: string, input: JsonObject): RealScript => ({ turns: [{ toolCalls: [{ name, input }] }] })
const bash = (command: string): RealScript => call('bash', { command })

/** Pi reads providers and retries from files in its own directory. */
function configure(dir: string, { provider, hasKey }: AgentSetup): void {
  mkdirSync(dir, { recursive: true })
  writeFileSync(
    join(dir, 'settings.json'),
    JSON.stringify({ retry: { enabled: true, maxRetries: 2, baseDelayMs: 50 } }),
  )
  if (!hasKey) return
  const models = ['model-1', 'model-2'].map((id) => ({
    id,
    reasoning: true,
    input: ['text', 'image'],
    contextWindow: 200_000,
    maxTokens: 8_000,
  }))
  const scripted = {
    baseUrl: `${provider.url}/v1`,
    api: 'openai-completions',
    apiKey: 'sk-test',
    models,
  }
  writeFileSync(join(dir, 'models.json'), JSON.stringify({ providers: { scripted } }))
}

/** Pi for the tests that run it, in print and live mode. */
export const piScenarios: Omit<RealCli, 'agent'> = {
  profile: piProfile,
  scripts: {
    'command-succeeds': () => bash('echo fine > /dev/null && echo fine'),
    'command-fails': () => bash('echo bad; exit 3'),
    'read-range': () => call('read', { path: 'hello.txt', offset: 2, limit: 3 }),
    write: () => call('write', { path: 'new.txt', content: 'made\n' }),
    edit: () => call('edit', { path: 'src/app.js', edits: [{ oldText: '= 41', newText: '= 42' }] }),
    search: () => call('grep', { pattern: 'needle' }),
    list: () => call('ls', { path: 'src' }),
    parallel: () => ({
      turns: [
        {
          toolCalls: ['one', 'two'].map((word) => ({
            name: 'bash',
            input: { command: `echo ${word} > /dev/null; echo ${word}` },
          })),
        },
      ],
    }),
    skill: () => call('read', { path: '.agents/skills/greet/SKILL.md' }),
    mcp: () => call('mcp__toy__echo', { text: 'hi' }),
    'endless-command': () => bash('setsid tail -f /dev/null & touch started.txt; tail -f /dev/null'),
    touch: () => bash('touch touched.txt'),
    'write-outside': ({ home }) => call('write', { path: join(home, 'outside.txt'), content: 'made\n' }),
  },
  expected: {
    // The skills of Pi are files that it reads.
    skill: ({ work }) => [{ type: 'read', path: join(work, '.agents/skills/greet/SKILL.md'), isSuccess: true }],
  },
  options: { mcp: { mcp: toyServer } },
  notes: { skill: 'Its skills are files that it reads.' },
  unsupported: {
    'head-moved': 'it is resumed at our anchor, never at its end',
    subagent: 'it has none',
    'write-outside': 'it cannot be confined to its directory',
  },
}

/** Options for a driver of Pi that uses the test's provider. */
export function piOptions(setup: AgentSetup): PrintOptions {
  const { bin, place, hasKey, options } = setup
  const dir = join(place.home, '.pi', 'agent')
  configure(dir, setup)
  return {
    bin,
    model: hasKey ? 'scripted/model-1' : 'anthropic/claude-sonnet-4-5',
    ...options,
    env: {
      PATH,
      HOME: place.home,
      TMPDIR: place.temp,
      PI_CODING_AGENT_DIR: dir,
      PI_OFFLINE: '1',
      PI_TELEMETRY: '0',
      ANTHROPIC_API_KEY: undefined,
    },
  }
}
