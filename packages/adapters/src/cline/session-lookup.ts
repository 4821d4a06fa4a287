import { readdir, readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@inspan/protocol'
import { asText } from '../kit/fields.ts'
import { parseRecord } from '../kit/json-line.ts'
import type { Environment } from '../launch/find-cli.ts'
import type { EndedRun } from '../launch/print-driver.ts'
import { launchCline } from './launch.ts'

/** How many sessions to look at: other runs may have begun since. */
const NEWEST = 20

/**
 * Returns the session of a run that has ended. Cline does not print it, and asking for its history takes as long as a
 * turn. So it is looked up on disk: the newest session with this prompt in this directory.
 */
export async function clineSessionOf({ request, env }: EndedRun): Promise<string | undefined> {
  const prompt = launchCline(request).args.at(-1)?.trim()
  const directory = sessionDirectory(env)
  const ids = await readdir(directory).catch(() => [])
  for (const id of ids.toSorted((a, b) => beganAt(b) - beganAt(a)).slice(0, NEWEST)) {
    const session = await readSession(join(directory, id, `${id}.json`))
    if (session?.['cwd'] === request.cwd && asText(session['prompt'])?.trim() === prompt) return id
  }
  return undefined
}

function sessionDirectory(env: Environment): string {
  const root = env['CLINE_DIR'] ?? join(env['HOME'] ?? homedir(), '.cline')
  return env['CLINE_SESSION_DATA_DIR'] ?? join(env['CLINE_DATA_DIR'] ?? join(root, 'data'), 'sessions')
}

/** Ids begin with the time in milliseconds. */
function beganAt(id: string): number {
  return Number.parseInt(id, 10) || 0
}

async function readSession(file: string): Promise<JsonObject | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  return text === undefined ? undefined : parseRecord(text)
}
