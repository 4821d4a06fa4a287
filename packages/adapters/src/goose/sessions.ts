import { randomUUID } from 'node:crypto'
import type { JsonObject, JsonValue } from '@inspan/protocol'
import { asArray, asObject, asText, NO_FIELDS } from '../kit/fields.ts'
import { askProgram } from '../launch/ask-program.ts'
import type { Environment, FoundCli } from '../launch/find-cli.ts'
import type { SessionChoice } from '../launch/native-session.ts'
import type { EndedRun, PlaceRequest } from '../launch/print-driver.ts'
import { gooseExtensions, hasExtensions } from './extensions.ts'
import { sessionName } from './launch.ts'

const DEADLINE_MS = 60_000

interface Asker {
  readonly cli: FoundCli
  readonly env: Environment
  readonly cwd: string
  readonly signal?: AbortSignal
}

/** Returns the session to resume. One that was begun under other rules would keep its tools, so a new one is begun. */
export async function placeGooseSession(request: PlaceRequest): Promise<SessionChoice> {
  const { session, limits } = request
  const found = (await listSessions(request)).find((listed) => listed['id'] === session.nativeId)
  if (found === undefined) return anew('its session is gone')
  const { extensions } = gooseExtensions(limits)
  return hasExtensions(found, extensions) ? session : anew('its session was begun with other tools')
}

/** Returns the id that Goose gave to its new session. */
export async function gooseSessionOf({ cli, request, env }: EndedRun): Promise<string | undefined> {
  const { session, cwd } = request
  if (session.kind !== 'new') return session.nativeId
  const name = sessionName(session.id)
  const found = (await listSessions({ cli, env, cwd })).find((listed) => listed['name'] === name)
  return asText(found?.['id'])
}

function anew(because: string): SessionChoice {
  return { kind: 'new', id: randomUUID(), because }
}

async function listSessions({ cli, env, cwd, signal }: Asker): Promise<readonly JsonObject[]> {
  const answer = await askProgram({
    command: cli.path,
    args: ['session', 'list', '--format', 'json'],
    cwd,
    env,
    deadlineMs: DEADLINE_MS,
    ...(signal === undefined ? {} : { signal }),
  })
  let list: JsonValue
  try {
    list = JSON.parse(answer) as JsonValue
  } catch {
    return []
  }
  return (asArray(list) ?? []).map((item) => asObject(item) ?? NO_FIELDS)
}
