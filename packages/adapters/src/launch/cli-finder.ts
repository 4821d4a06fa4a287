import { InspanError } from '@inspan/protocol'
import type { Capabilities } from '@inspan/protocol/driver'
import type { LedgerSums } from '../kit/ledger.ts'
import { findCli, type Environment, type FoundCli } from './find-cli.ts'
import type { CliProfile } from './profile.ts'
import type { RunWarning } from './run-note.ts'

export interface CliFinder {
  /** Looks again each time, as the CLI may have been installed or updated since. */
  readonly find: () => Promise<FoundCli>
  /** Adds the version of the CLI to its capabilities. Leaves it out if the CLI is not installed. */
  readonly describe: (capabilities: Capabilities) => Promise<Capabilities>
}

export function cliFinder(profile: CliProfile, env: Environment, bin: string | undefined): CliFinder {
  const find = (): Promise<FoundCli> => findCli(profile, { env, ...(bin === undefined ? {} : { bin }) })
  return { find, describe: (capabilities) => described(capabilities, find) }
}

/** Returns a finder for a CLI that was found already. */
export function foundCli(cli: FoundCli): CliFinder {
  const find = async (): Promise<FoundCli> => cli
  return { find, describe: (capabilities) => described(capabilities, find) }
}

async function described(capabilities: Capabilities, find: CliFinder['find']): Promise<Capabilities> {
  const found = await find().catch((error: unknown) => {
    if (InspanError.is(error)) return undefined
    throw error
  })
  return found?.version === undefined ? capabilities : { ...capabilities, version: found.version }
}

/** Returns a warning that says how much of an untested version's output was not understood. */
export function untestedVersion(profile: CliProfile, cli: FoundCli, sums: LedgerSums): readonly RunWarning[] {
  if (cli.isKnown) return []
  const { title, knownVersions } = profile
  const message =
    `${title} ${cli.version ?? 'of unknown version'} is not a version this was tested with (${knownVersions.join(', ')}): ` +
    `${sums.unknown} of ${sums.lines} lines were not understood.`
  return [{ message, code: 'untested-version' }]
}
