import { InspanError } from '@inspan/protocol'
import { spawnRun } from '@inspan/shell/run'
import { asObject, asText, NO_FIELDS } from '../kit/fields.ts'
import { parseRecord } from '../kit/json-line.ts'
import type { Environment } from '../launch/find-cli.ts'
import { capabilitiesOf, GREETING, type AgentCapabilities } from './greeting.ts'

export interface GreetedAgent extends AgentCapabilities {
  readonly version?: string
}

export interface AgentProgram {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Environment
}

/** Agents take up to ten seconds to start, and several times that on a busy machine. */
const DEADLINE_MS = 60_000

/** Starts an agent only to ask for its capabilities. Rejects if it does not answer. */
export async function greetAgent({ command, args, cwd, env }: AgentProgram): Promise<GreetedAgent> {
  const run = await spawnRun({
    command,
    args,
    cwd,
    env,
    stdin: 'open',
    deadlineMs: DEADLINE_MS,
    onDeadline: () => void run.kill({ graceMs: 0 }),
  })
  try {
    run.stderr.discard()
    await run.write(`${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: GREETING })}\n`)
    for await (const line of run.stdout) {
      const answer = parseRecord(line.text)
      const result = answer?.['id'] === 0 ? asObject(answer['result']) : undefined
      if (result === undefined) continue
      const version = asText(asObject(result['agentInfo'])?.['version'])
      const can = capabilitiesOf(asObject(result['agentCapabilities']) ?? NO_FIELDS)
      return version === undefined ? can : { ...can, version }
    }
    throw new InspanError('unsupported', `${command} does not answer in the Agent Client Protocol.`, {
      hint: 'Check the command and its arguments: most agents need one that puts them into this mode.',
    })
  } finally {
    await run.kill()
  }
}
