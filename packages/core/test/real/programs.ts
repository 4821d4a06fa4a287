import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, type TestContext } from 'node:test'
import { startProvider, type Provider, type ProviderRequest, type ScriptedTurn } from '@inspan/testing'
import { installedCli } from './installed-cli.ts'
import type { ProgramId } from './program-driver.ts'

/** Many times what a test and the installation of two programs take, as the machine may be busy and the line slow. */
export const TEST_MS: number = 20 * 60_000
const INSTALL_MS = 60 * 60_000

/** Where a program works, and nothing else does. */
export interface ProgramFolders {
  readonly root: string
  readonly work: string
  /** What ends before the folders go: a program that still runs would make them again. */
  readonly ends: (() => Promise<void>)[]
}

export async function makePlace(t: TestContext): Promise<ProgramFolders> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'inspan-real-')))
  const ends: ProgramFolders['ends'] = []
  t.after(async () => {
    for (const end of ends) await end()
    await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  })
  for (const name of ['home', 'work', 'temp']) await mkdir(join(root, name))
  return { root, work: join(root, 'work'), ends }
}

export async function scripted(t: TestContext, turns: readonly ScriptedTurn<ProviderRequest>[]): Promise<Provider> {
  const provider = await startProvider({ turns })
  t.after(() => provider.close())
  return provider
}

/** Installs the programs before the tests of a suite, and returns where they are then. */
export function installedPrograms(): Readonly<Record<ProgramId, string>> {
  const bins = { 'claude-code': '', codex: '' }
  before(
    async () => {
      for (const id of ['claude-code', 'codex'] as const) bins[id] = await installedCli(id)
    },
    { timeout: INSTALL_MS },
  )
  return bins
}
