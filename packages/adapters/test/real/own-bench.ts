import { access } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { makeBench, makePlace, putFile, type Bench, type RunFolders, type RealCli, type RealScript } from './bench.ts'
import { installedCli } from './clis.ts'

/** Makes a bench for what only one CLI does, or does its own way. */
export async function ownBench(
  t: TestContext,
  cli: RealCli,
  script: RealScript | ((place: RunFolders) => RealScript),
  files: Readonly<Record<string, string>> = {},
): Promise<Bench> {
  const bin = await installedCli(cli.profile)
  const place = await makePlace(t)
  for (const [name, content] of Object.entries(files)) await putFile(join(place.work, name), content)
  return makeBench(t, cli, bin, place, typeof script === 'function' ? script(place) : script)
}

export async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
