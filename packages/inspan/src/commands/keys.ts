import { checkAgents } from '../check-agents.ts'
import type { InspanCommand, Terminal } from '../command.ts'
import { parseOnlyOptions } from '../parse-options.ts'

export const keysCommand: InspanCommand = {
  name: 'keys',
  help: [
    'Usage: inspan keys [options]',
    '',
    'Shows for every provider and coding agent whether there is a key and where it comes from. Keys are never shown, and',
    'inspan keeps none: it reads them from the environment, and coding agents use their own logins.',
    '',
    '  --all   also list providers without a key',
    '  --json  print one line of JSON for each',
    '',
    'Examples:',
    '  inspan keys',
    '  ANTHROPIC_API_KEY=… inspan keys --json',
  ].join('\n'),
  run,
}

interface KeyRow {
  readonly kind: 'provider' | 'agent'
  readonly id: string
  readonly hasKey: boolean
  /** Where the key is, or where one would be looked for. */
  readonly source: string
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const values = parseOnlyOptions(args, {
    all: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  })
  const rows = [...(await providerRows(terminal)), ...(await agentRows(terminal))]
  const shown = values.all ? rows : rows.filter(({ hasKey }) => hasKey)
  for (const row of shown) terminal.out(values.json ? JSON.stringify(row) : describe(row))
  if (shown.length === 0 && !values.json) {
    terminal.err('There is no key yet. "inspan keys --all" shows where keys are looked for.')
  }
  return 0
}

async function providerRows({ env }: Terminal): Promise<readonly KeyRow[]> {
  const { knownKeyVariables } = await import('@inspan/core')
  return knownKeyVariables().map(({ provider, variables }) => {
    const found = variables.find((name) => (env[name] ?? '') !== '')
    return {
      kind: 'provider',
      id: provider,
      hasKey: found !== undefined,
      source: found === undefined ? `set ${variables.join(' or ')}` : `environment variable ${found}`,
    }
  })
}

async function agentRows(terminal: Terminal): Promise<readonly KeyRow[]> {
  const rows = await checkAgents(terminal)
  return rows
    .filter(({ found }) => found)
    .map(({ hasKey, id, key, keySource }) => ({ kind: 'agent', id, hasKey, source: keySource ?? key }))
}

function describe({ hasKey, id, source }: KeyRow): string {
  return `${hasKey ? '✓' : '✗'} ${id}: ${source}`
}
