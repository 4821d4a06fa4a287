import type { AgentDriver } from '@inspan/protocol/driver'
import { cliDriver, type CliContext, type CliOptions } from '../launch/cli-driver.ts'
import type { PrintOptions } from '../launch/print-driver.ts'
import type { LiveCliSpec } from './live-cli-spec.ts'
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
export interface LiveContext extends CliContext {
  readonly spec: LiveCliSpec
  readonly options: LiveOptions
}

/** Makes a driver of a CLI whose process stays for many turns, asks before it acts and can be steered. */
export function liveDriver(spec: LiveCliSpec, options: LiveOptions & CliOptions = {}): AgentDriver {
  return cliDriver(spec, options, (context, ...opened) => new LiveSession({ ...context, spec, options }, ...opened))
}
