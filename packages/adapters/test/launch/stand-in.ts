import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Capabilities } from '@inspan/protocol/driver'
import { findTagged } from '@inspan/shell/run'
import { codexDialect } from '../../src/codex/mapper.ts'
import type { LaunchPlan, LaunchRequest } from '../../src/launch/launch-plan.ts'
import { PRINT_CAPABILITIES, type PrintCliSpec } from '../../src/launch/print-driver.ts'
import type { CliProfile } from '../../src/launch/profile.ts'
import { promptText } from '../../src/launch/prompt.ts'
import type { Diary } from './diary.ts'

/** A directory that is gone when the test is over. */
export async function scratch(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'inspan-test-'))
  t.after(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }))
  return dir
}

const PRELUDE = `
if (process.argv.includes('--version')) { console.log('stand-in 1.0.0'); process.exit(0) }
const { spawn } = await import('node:child_process')
const say = (record) => process.stdout.write(JSON.stringify(record) + '\\n')
const hello = () => say({ type: 'thread.started', thread_id: 'native-1' })
const text = (words) => say({ type: 'item.completed', item: { id: 'item_' + words.length, type: 'agent_message', text: words } })
const done = (tokens = 1) => say({ type: 'turn.completed', usage: { input_tokens: tokens, output_tokens: tokens } })
const forever = () => setInterval(() => {}, 1000)
const stdin = async () => { let all = ''; for await (const chunk of process.stdin) all += chunk; return all }
`

/** A real program of a few lines that prints records of Codex. */
export async function program(dir: string, body: string, name = 'stand-in'): Promise<string> {
  const bin = join(dir, `${name}.mjs`)
  await writeFile(bin, `#!${process.execPath}\n${PRELUDE}\n${body}\n`)
  await chmod(bin, 0o755)
  return bin
}

export function standInProfile(more: Partial<CliProfile> = {}): CliProfile {
  return {
    id: 'stand-in',
    title: 'Stand-in',
    command: 'stand-in.mjs',
    binVariable: 'INSPAN_STAND_IN_BIN',
    knownVersions: ['1.0.0'],
    key: { variables: ['STAND_IN_KEY'], hint: 'Set STAND_IN_KEY.' },
    install: 'npm install -g stand-in@1.0.0',
    stop: { signal: 'SIGTERM', graceMs: 5_000 },
    ...more,
  }
}

const CAPABILITIES: Capabilities = { ...PRINT_CAPABILITIES, resume: 'head', usage: 'cumulative' }

export function standIn(more: Partial<PrintCliSpec> = {}): PrintCliSpec {
  return {
    profile: standInProfile(),
    dialect: codexDialect,
    capabilities: CAPABILITIES,
    launch: ({ input, session }: LaunchRequest): LaunchPlan => ({
      args: session.kind === 'resume' ? ['resume', session.nativeId] : [],
      stdin: promptText(input, 'Stand-in'),
    }),
    ...more,
  }
}

/** The living processes of the runs that were started. */
export async function survivors({ processes }: Diary): Promise<number> {
  const found = await Promise.all(processes.map(({ runTag }) => findTagged(runTag)))
  return found.flat().length
}
