import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const INSTALL = fileURLToPath(new URL('../../../adapters/test/real/install-cli.ts', import.meta.url))

/**
 * The path of a program in its pinned version. It is installed by the suites' own program, which takes care that two of
 * them do not install the same at the same time, and that half an installation is never found.
 */
export async function installedCli(id: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [INSTALL, id])
  return stdout.trim()
}
