import { randomUUID } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Environment } from '../launch/find-cli.ts'
import type { SessionChoice } from '../launch/native-session.ts'
import type { PlaceRequest } from '../launch/print-driver.ts'
import { piSessionRoot } from './sessions.ts'
import { cutSession } from './session-file.ts'

/**
 * Returns the session as it was at the anchor. Pi forks whole session files only, so it gets a copy that ends there. A
 * session that ends there itself, in this directory, is resumed as it is.
 */
export async function placePiSession({ session, env, cwd, dir }: PlaceRequest): Promise<SessionChoice> {
  const { nativeId, anchor } = session
  const file = await findSession(nativeId, env)
  if (file === undefined) return { kind: 'new', id: randomUUID(), because: 'its session is gone' }
  const cut = cutSession(await readFile(file, 'utf8'), anchor)
  if (cut === undefined) {
    return { kind: 'new', id: randomUUID(), because: 'its session no longer holds what was said last' }
  }
  const at = anchor === undefined ? {} : { anchor }
  if (session.kind === 'resume' && cut.isWhole && cut.cwd === cwd) return { kind: 'resume', nativeId: file, ...at }
  const copy = join(dir, basename(file))
  await writeFile(copy, `${cut.lines.join('\n')}\n`, { mode: 0o600 })
  const id = session.kind === 'fork' ? session.id : randomUUID()
  return { kind: 'fork', nativeId: copy, anchor: anchor ?? '', id }
}

async function findSession(id: string, env: Environment): Promise<string | undefined> {
  const files = await readdir(piSessionRoot(env), { recursive: true, withFileTypes: true }).catch(() => [])
  const found = files.find((file) => file.isFile() && file.name.endsWith(`_${id}.jsonl`))
  return found === undefined ? undefined : join(found.parentPath, found.name)
}
