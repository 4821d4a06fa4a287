import type { AgentDriver, AgentSession, Binding, Capabilities, Host, NativeSessions } from '@inspan/protocol/driver'
import { checkDriverOptions } from './check-options.ts'
import { cliFinder, foundCli, type CliFinder } from './cli-finder.ts'
import type { Environment, FoundCli } from './find-cli.ts'
import type { PrintOptions } from './print-driver.ts'
import type { CliProfile } from './profile.ts'

/** Describes a CLI, in whichever way it is run. */
export interface CliSpec {
  readonly profile: CliProfile
  /** What the CLI can do, in the version that the profile pins. */
  readonly capabilities: Capabilities
  /** Returns access to the CLI's own sessions. Present if `Capabilities.sessions`. */
  readonly sessionsOf?: (env: Environment, find: CliFinder['find']) => NativeSessions
}

/** What all sessions of a driver share, with the CLI that was found for one of them. */
export interface CliContext {
  readonly id: string
  readonly env: Environment
  readonly cli: FoundCli
}

export interface CliOptions extends PrintOptions {
  /** Where the CLI is, if it does not have to be looked for. */
  readonly cli?: FoundCli
}

/** Makes a driver that looks for its CLI each time a session is opened. */
export function cliDriver(
  { profile, capabilities, sessionsOf }: CliSpec,
  options: CliOptions,
  open: (context: CliContext, binding: Binding | null, host: Host) => AgentSession,
): AgentDriver {
  checkDriverOptions(profile.title, options)
  const id = options.id ?? profile.id
  const env: Environment = { ...process.env, ...options.env }
  const { find, describe } = options.cli === undefined ? cliFinder(profile, env, options.bin) : foundCli(options.cli)
  return {
    port: 1,
    id,
    describe: () => describe(capabilities),
    open: async (binding, host) => open({ id, env, cli: await find() }, binding, host),
    ...(sessionsOf === undefined ? {} : { sessions: sessionsOf(env, find) }),
  }
}
