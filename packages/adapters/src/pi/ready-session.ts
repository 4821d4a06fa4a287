import { randomBytes, randomUUID } from 'node:crypto'
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@evener/protocol'
import { parseRecord } from '../kit/json-line.ts'
import type { Environment } from '../launch/find-cli.ts'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import { placePiSession } from './place-session.ts'
import { piProfile } from './profile.ts'
import { cutSession } from './session-file.ts'

export interface ReadySession {
  /** The session to go on with; absent: a new one. */
  readonly file?: string
  /** Why an earlier one is not gone on with. */
  readonly because?: string
}

/** A session file whose end is the anchor. */
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
  // It works in the directory that its session was begun in.
  if (found.kind === 'fork') return { file: await keepFork(lines, randomUUID(), cwd, env) }
  if (!isWhole) await branchAfter(lines.at(-1) ?? '', found.nativeId)
  return { file: found.nativeId }
}

/**
 * A session is a tree whose newest entry says where it goes on. One that says nothing to the model makes it go on after
 * the given entry; what came after that stays in the file.
 */
async function branchAfter(line: string, file: string): Promise<void> {
  const entry: JsonObject = {
    type: 'custom',
    id: randomBytes(4).toString('hex'),
    parentId: parseRecord(line)?.['id'] ?? null,
    timestamp: new Date().toISOString(),
    customType: 'evener',
  }
  await appendFile(file, `${JSON.stringify(entry)}\n`)
}

/** What was cut off from a session becomes one of its own. */
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
