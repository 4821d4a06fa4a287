import type { AgentDriver } from '@inspan/protocol/driver'
import { cliDriver, type CliContext, type CliOptions } from '../launch/cli-driver.ts'
import type { PrintOptions } from '../launch/print-driver.ts'
import type { LiveCliSpec } from './live-cli-spec.ts'
import { LiveSession } from './live-session.ts'

export interface LiveOptions extends PrintOptions {
  /** Milliseconds that the process stays without a turn. `null`: as long as the session. Default: 15 minutes. */
  readonly idleMs?: number | null
  /**
   * Milliseconds that the CLI may take to confirm that a turn is stopped. Afterwards Inspan ends it, and does not know
   * where its session ends. Default: 10 seconds.
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
