/** Packs every package and installs them in a folder outside the workspace, as a user would. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './run.ts'
import { copyWorkspace } from './workspace-copy.ts'

export interface PackedPlaces {
  readonly root: string
  /** The workspace is copied here, because packing changes it for a while. */
  readonly copy: string
  readonly tarballs: string
  /** Gets the packages in its node_modules. */
  readonly consumer: string
}

export async function packAll({ copy, root, tarballs }: PackedPlaces): Promise<void> {
  for (const folder of [copy, tarballs]) await mkdir(folder, { recursive: true })
  await copyWorkspace(root, copy)
  const path = [join(root, 'node_modules', '.bin')]
  // A pack that was killed halfway leaves this state.
  await run('node', ['scripts/pack.ts', 'prepare', 'packages/protocol'], { cwd: copy, path })
  // So does somebody who deletes what was built, but not what `tsc` noted about it.
  await rm(join(copy, 'packages', 'protocol', 'dist'), { recursive: true })
  await run('npm', ['pack', '--workspaces', '--pack-destination', tarballs], { cwd: copy, path })
}

/** Installs what was packed, together with these packages of others. */
export async function installPacked({ consumer, tarballs }: PackedPlaces, others: readonly string[]): Promise<void> {
  await mkdir(consumer, { recursive: true })
  await writeFile(join(consumer, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const ours = (await readdir(tarballs)).map((name) => join(tarballs, name))
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...ours, ...others], { cwd: consumer })
}
