import { randomBytes, randomUUID } from 'node:crypto'
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@inspan/protocol'
import { parseRecord } from '../kit/json-line.ts'
import type { Environment } from '../launch/find-cli.ts'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import { placePiSession } from './place-session.ts'
import { piProfile } from './profile.ts'
import { cutSession } from './session-file.ts'

export interface ReadySession {
  /** The session file to resume. Absent: a new session. */
  readonly file?: string
  /** Why an earlier session is not resumed. */
  readonly because?: string
}

/** Returns a session file that ends at the anchor. */
export async function readySession(request: LaunchRequest, env: Environment): Promise<ReadySession> {
  const { session, cwd, dir } = request
  if (session.kind === 'new') return {}
  const { nativeId, anchor } = session
  const found = await placePiSession({
    session: { kind: 'resume', nativeId },
    limits: request,
    cli: { path: piProfile.command, isKnown: true },
    env,
    cwd,
    dir,
    signal: new AbortController().signal,
  })
  if (found.kind === 'new') return { because: found.because ?? 'its session is gone' }
  const cut = cutSession(await readFile(found.nativeId, 'utf8'), anchor)
  if (cut === undefined) return { because: 'its session no longer holds what was said last' }
  const { lines, isWhole } = cut
  if (session.kind === 'fork') return { file: await keepFork(lines, session.id, cwd, env) }
  // Pi works in the directory of its session, so a session from another directory is forked.
  if (found.kind === 'fork') return { file: await keepFork(lines, randomUUID(), cwd, env) }
  if (!isWhole) await branchAfter(lines.at(-1) ?? '', found.nativeId)
  return { file: found.nativeId }
}

/**
 * A session is a tree whose newest entry says where it continues. Appends an entry that the model does not see, to
 * continue after the given entry. What came after that stays in the file.
 */
async function branchAfter(line: string, file: string): Promise<void> {
  const entry: JsonObject = {
    type: 'custom',
    id: randomBytes(4).toString('hex'),
    parentId: parseRecord(line)?.['id'] ?? null,
    timestamp: new Date().toISOString(),
    customType: 'inspan',
  }
  await appendFile(file, `${JSON.stringify(entry)}\n`)
}

/** Writes the lines as a session of their own and returns its file. */
async function keepFork(lines: readonly string[], id: string, cwd: string, env: Environment): Promise<string> {
  const [header = '', ...entries] = lines
  const timestamp = new Date().toISOString()
  const record: JsonObject = { ...parseRecord(header), id, cwd, timestamp }
  const folder = join(sessionsOf(env), `--${cwd.replace(/^[/\\]/, '').replaceAll(/[/\\:]/g, '-')}--`)
  await mkdir(folder, { recursive: true })
  const file = join(folder, `${timestamp.replaceAll(/[:.]/g, '-')}_${id}.jsonl`)
  await writeFile(file, `${[JSON.stringify(record), ...entries].join('\n')}\n`, { mode: 0o600 })
  return file
}

function sessionsOf(env: Environment): string {
  const root = env['PI_CODING_AGENT_DIR'] ?? join(env['HOME'] ?? homedir(), '.pi', 'agent')
  return env['PI_CODING_AGENT_SESSION_DIR'] ?? join(root, 'sessions')
}
