import { basename } from 'node:path'
import type { AgentDriver, Capabilities } from '@inspan/protocol/driver'
import { aText, checkFields, oneOf } from '@inspan/protocol/internal'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import { refuseUnkept } from '../launch/permissions.ts'
import type { CliProfile } from '../launch/profile.ts'
import type { LiveOptions } from '../live/live-driver.ts'
import type { LivePlan } from '../live/live-cli-spec.ts'
import { ACP_CAPABILITIES, acpDriver, type AcpAgent } from './agent.ts'
import { greetAgent } from './greet.ts'
import { limitsOf } from './limits.ts'
import { acpDialect } from './mapper.ts'
import { unsupportedWarnings } from './unsupported.ts'

export interface AcpOptions extends Omit<LiveOptions, 'bin' | 'permissions'> {
  /** The agent's executable: a path, or a name on PATH. */
  readonly command: string
  readonly args?: readonly string[]
  /** Display name. Default: the base name of `command`. */
  readonly title?: string
}

const WHY = 'It is known only that it asks about some of its calls, not that it asks about all of them.'
const GRACE_MS = 3_000

/** Makes an agent of any program that speaks the Agent Client Protocol on its standard input and output. */
export function acp(options: AcpOptions): AgentDriver {
  const rules = { command: aText, title: aText, permissions: oneOf('full') }
  checkFields<AcpOptions & Pick<LiveOptions, 'permissions'>>('the options of an ACP agent', options, rules, ['command'])
  const { command, args = [], title = basename(command), ...rest } = options
  const profile = profileOf(options.id ?? 'acp', command, title)
  const env = { ...process.env, ...options.env }
  const capabilities: Capabilities = {
    ...ACP_CAPABILITIES,
    governs: 'asks-only',
    // Nobody has tried it.
    refusal: 'may-end-turn',
    resume: 'head',
    images: true,
    usage: 'turn',
  }
  const agent: AcpAgent = {
    profile,
    dialect: acpDialect,
    capabilities,
    habits: {},
    launch: (request) => launchAcp(request, args, title),
  }
  const driver = acpDriver(agent, { ...rest, cli: { path: command, isKnown: true } })
  let asked: Promise<Capabilities> | undefined
  return {
    ...driver,
    /** Starts the program once to ask for its capabilities: nothing else knows them. */
    describe: () => {
      asked ??= greetAgent({ command, args, cwd: options.cwd ?? process.cwd(), env }).then((can) => ({
        ...capabilities,
        resume: can.canLoad || can.canResume ? 'head' : 'none',
        images: can.images,
        ...(can.version === undefined ? {} : { version: can.version }),
      }))
      asked.catch(() => {
        asked = undefined
      })
      return asked
    },
  }
}

function launchAcp(request: LaunchRequest, args: readonly string[], title: string): LivePlan {
  const unkept = refuseUnkept(request, title, limitsOf(request.rules), WHY)
  return { args, warnings: [...unkept, ...unsupportedWarnings(request, title)] }
}

function profileOf(id: string, command: string, title: string): CliProfile {
  return {
    id,
    title,
    command,
    binVariable: '',
    knownVersions: [],
    // The key that the program needs is unknown, so it counts as present. The program reports a missing one itself.
    key: { variables: ['PATH'], hint: '' },
    install: '',
    stop: { signal: 'SIGTERM', graceMs: GRACE_MS },
  }
}
