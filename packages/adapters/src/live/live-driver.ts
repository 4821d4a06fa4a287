import type { AgentDriver } from '@inspan/protocol/driver'
import { checkDriverOptions } from '../launch/check-options.ts'
import { cliFinder } from '../launch/cli-finder.ts'
import type { Environment, FoundCli } from '../launch/find-cli.ts'
import type { PrintOptions } from '../launch/print-driver.ts'
import type { RunHeader } from '../launch/run-note.ts'
import type { LiveHarness } from './live-harness.ts'
import { LiveSession } from './live-session.ts'

export interface LiveOptions extends PrintOptions {
  /** How long an idle process is kept. Default: 15 minutes. `null`: as long as the session. */
  readonly idleMs?: number | null
  /**
   * How long the CLI may take to confirm that a turn is stopped. Then it is ended unconfirmed, and where its session
   * ends is unknown. Default: 10 seconds.
   */
  readonly interruptMs?: number
}

/** What all turns of a session share. */
export interface LiveContext {
  readonly id: string
  readonly harness: LiveHarness
  readonly options: LiveOptions
  readonly env: Environment
  readonly cli: FoundCli
  /** The header that all turns share. */
  readonly header: RunHeader
}

/** Makes a driver of a CLI whose process stays for many turns, asks before it acts and can be steered. */
export function liveDriver(harness: LiveHarness, options: LiveOptions = {}): AgentDriver {
  checkDriverOptions(harness.profile.title, options)
  const id = options.id ?? harness.profile.id
  const env: Environment = { ...process.env, ...options.env }
  const cliOf = cliFinder(harness.profile, env, options.bin)
  return {
    port: 1,
    id,
    describe: () => cliOf.describe(harness.capabilities),
    open: async (binding, host) => {
      const cli = await cliOf.find()
      const header = { harness: harness.dialect.id, ...(cli.version === undefined ? {} : { version: cli.version }) }
      return new LiveSession({ id, harness, options, env, cli, header }, binding, host)
    },
  }
}
