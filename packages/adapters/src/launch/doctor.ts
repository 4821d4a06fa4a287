import { InspanError } from '@inspan/protocol'
import { findCli, keySource, type Environment } from './find-cli.ts'
import type { CliProfile } from './profile.ts'

/** What a user wants to know about one CLI before using it. */
export interface DoctorRow {
  readonly id: string
  readonly title: string
  readonly found: boolean
  readonly path?: string
  readonly version?: string
  /** The version that this adapter was tested with. */
  readonly tested?: string
  readonly isKnown: boolean
  readonly hasKey: boolean
  /** Where its key is: the name of a variable, or the file of its login. Never the key. */
  readonly keySource?: string
  /** Tells how to get a key. */
  readonly key: string
  readonly install: string
  /** Why the CLI cannot be used. */
  readonly problem?: string
  /** The same as a code: `not-installed`, `wrong-path`, `not-executable` or `broken`. */
  readonly reason?: string
}

/** Looks for each CLI. Does not fail because one is missing or broken. */
export async function doctor(profiles: readonly CliProfile[], env: Environment = process.env): Promise<DoctorRow[]> {
  return Promise.all(profiles.map((profile) => examine(profile, env)))
}

async function examine(profile: CliProfile, env: Environment): Promise<DoctorRow> {
  const { id, title, npm, key, install } = profile
  const source = await keySource(profile, env)
  const row = {
    id,
    title,
    ...(npm === undefined ? {} : { tested: npm.version }),
    hasKey: source !== undefined,
    ...(source === undefined ? {} : { keySource: source }),
    key: key.hint,
    install,
  }
  try {
    const { path, version, isKnown } = await findCli(profile, { env })
    return { ...row, found: true, path, isKnown, ...(version === undefined ? {} : { version }) }
  } catch (error) {
    if (!InspanError.is(error)) throw error
    const reason = String(error.details['reason'])
    return { ...row, found: error.code !== 'not-found', isKnown: false, problem: error.message, reason }
  }
}
