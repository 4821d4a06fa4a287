import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { it } from 'node:test'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import { antigravity, claudeCode, cline, codex, goose, kiloCode, opencode, pi } from '../src/index.ts'

const COLUMNS = [
  'governs',
  'steer',
  'resume',
  'fork',
  'handover',
  'interrupt',
  'usage',
  'images',
  'systemPrompt',
  'mcp',
  'subagents',
] as const satisfies readonly (keyof Capabilities)[]

type Make = (options: { readonly bin: string; readonly transport: 'print' | 'live' }) => AgentDriver

const AGENTS: Readonly<Record<string, Make>> = {
  'Claude Code': claudeCode,
  Codex: codex,
  OpenCode: opencode,
  'Kilo Code': kiloCode,
  Goose: goose,
  Cline: cline,
  Pi: pi,
}

/** What it says of itself, also when it is not there. */
async function row(title: string, mode: string, driver: AgentDriver): Promise<readonly string[]> {
  const can = await driver.describe()
  return [title, mode, ...COLUMNS.map((column) => inWords(can[column]))]
}

function inWords(value: string | boolean): string {
  if (typeof value === 'string') return value
  return value ? 'yes' : 'no'
}

it('an agent whose subagents ask nobody has them only where that was allowed', async () => {
  const subagents = async (make: typeof goose | typeof cline | typeof opencode): Promise<readonly boolean[]> => {
    const options = { bin: '/nowhere', transport: 'live' } as const
    const [kept, free] = [make(options), make({ ...options, allowUngoverned: true })]
    return [(await kept.describe()).subagents, (await free.describe()).subagents]
  }
  assert.deepEqual(await subagents(goose), [false, true])
  assert.deepEqual(await subagents(cline), [false, true])
  assert.deepEqual(await subagents(opencode), [false, false])
})

it('docs/internals/adapters.md has for every agent what the agent reports of itself', async () => {
  const rows: (readonly string[])[] = []
  for (const [title, make] of Object.entries(AGENTS)) {
    for (const transport of ['print', 'live'] as const) {
      rows.push(await row(title, transport, make({ bin: '/nowhere', transport })))
    }
  }
  rows.push(await row('Antigravity', 'print', antigravity({ bin: '/nowhere' })))
  const page = await readFile(new URL('../../../docs/internals/adapters.md', import.meta.url), 'utf8')
  const cells = page
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    )
  const begin = cells.findIndex((line) => line[1] === 'mode')
  assert.deepEqual(cells[begin], ['', 'mode', ...COLUMNS])
  assert.deepEqual(cells.slice(begin + 2, begin + 2 + rows.length), rows)
})
