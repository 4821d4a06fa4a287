import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './run.ts'

const PROGRAM = process.platform === 'win32' ? 'node.exe' : 'node'

/** Returns the folder with the program `node` of this version, installed from npm and cached below `cache`. */
export async function nodeRelease(version: string, cache: string): Promise<string> {
  const folder = join(cache, `node-${version}`)
  if (existsSync(join(folder, PROGRAM))) return folder
  await mkdir(cache, { recursive: true })
  const workshop = await mkdtemp(join(cache, 'install-'))
  try {
    // Some versions of npm run the install script of `node`, which downloads the program, only if it is allowed.
    await writeFile(join(workshop, 'package.json'), JSON.stringify({ private: true, allowScripts: { node: true } }))
    await run('npm', ['install', `node@${version}`, '--no-audit', '--no-fund', '--prefer-offline'], { cwd: workshop })
    const installed = join(workshop, 'node_modules', 'node', 'bin')
    // Another test run may have created it first.
    await rename(installed, folder).catch((error: unknown) => {
      if (!existsSync(join(folder, PROGRAM))) throw error
    })
  } finally {
    await rm(workshop, { recursive: true, force: true })
  }
  return folder
}
