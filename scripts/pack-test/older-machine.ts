import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { nodeRelease } from './node-release.ts'
import { run } from './run.ts'

/** The newest npm 10 line that Node 18 and 20 can run. */
const NPM = '10.9.4'

/** Makes a folder with `node` of this version and `npm`, as on a machine that has nothing newer. */
export async function olderMachine(version: string, cache: string, folder: string): Promise<string> {
  const node = join(await nodeRelease(version, cache), 'node')
  const npm = join(await npmRelease(cache), 'bin', 'npm-cli.js')
  await mkdir(folder, { recursive: true })
  await symlink(node, join(folder, 'node'))
  await writeFile(join(folder, 'npm'), `#!/bin/sh\nexec '${node}' '${npm}' "$@"\n`)
  await chmod(join(folder, 'npm'), 0o755)
  return folder
}

/** Returns the folder of npm itself, installed from npm and cached below `cache`. */
async function npmRelease(cache: string): Promise<string> {
  const folder = join(cache, `npm-${NPM}`)
  if (existsSync(join(folder, 'package.json'))) return folder
  const workshop = await mkdtemp(join(cache, 'install-'))
  try {
    await writeFile(join(workshop, 'package.json'), JSON.stringify({ private: true }))
    await run('npm', ['install', `npm@${NPM}`, '--no-audit', '--no-fund', '--prefer-offline'], { cwd: workshop })
    // Another test run may have created it first.
    await rename(join(workshop, 'node_modules', 'npm'), folder).catch((error: unknown) => {
      if (!existsSync(join(folder, 'package.json'))) throw error
    })
  } finally {
    await rm(workshop, { recursive: true, force: true })
  }
  return folder
}
