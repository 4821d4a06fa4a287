import { join } from 'node:path'
import type { HarnessConfig } from '@inspan/core'
import type { Terminal } from './command.ts'
import { homeOf } from './home.ts'

/** Returns a folder whose AGENTS.md and skills are followed if `inspan trust` was said about it. */
export async function projectAt(
  folder: string,
  terminal: Pick<Terminal, 'cwd' | 'env'>,
): Promise<NonNullable<HarnessConfig['project']>> {
  const { TrustedFolders } = await import('@inspan/core')
  return { folder, trust: new TrustedFolders({ file: trustedFile(terminal) }) }
}

/** Returns the file with the folders that are trusted. */
export function trustedFile(terminal: Pick<Terminal, 'cwd' | 'env'>): string {
  return join(homeOf(terminal), 'trusted-folders.json')
}
