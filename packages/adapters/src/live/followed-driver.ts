import type { AgentDriver } from '@inspan/protocol/driver'
import { checkDriverOptions } from '../launch/check-options.ts'
import { cliFinder, foundCli } from '../launch/cli-finder.ts'
import type { Environment, FoundCli } from '../launch/find-cli.ts'
import { FollowedSession, type SessionFacts } from './followed-session.ts'
import type { LiveOptions } from './live-driver.ts'
import type { LiveHarness } from './live-harness.ts'
import { LiveSession } from './live-session.ts'

export interface FollowedOptions extends LiveOptions {
  /** Where the CLI is, if it does not have to be looked for. */
  readonly cli?: FoundCli
}

/** Like `liveDriver`, for CLIs whose native session is not known from their output alone. */
export function followedDriver(
  harnessOf: (facts: SessionFacts) => LiveHarness,
  options: FollowedOptions = {},
): AgentDriver {
  const { profile, dialect, capabilities } = harnessOf({ nativeId: undefined, isSettled: false, isGone: false })
  checkDriverOptions(profile.title, options)
  const id = options.id ?? profile.id
  const env: Environment = { ...process.env, ...options.env }
  const cliOf = options.cli === undefined ? cliFinder(profile, env, options.bin) : foundCli(options.cli)
  return {
    port: 1,
    id,
    describe: () => cliOf.describe(capabilities),
    open: async (binding, host) => {
      const cli = await cliOf.find()
      const header = { harness: dialect.id, ...(cli.version === undefined ? {} : { version: cli.version }) }
      return new FollowedSession(
        (bound, to, facts) => new LiveSession({ id, harness: harnessOf(facts), options, env, cli, header }, bound, to),
        binding,
        host,
      )
    },
  }
}
