import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

interface Peer {
  /** The folder it is installed in: its name and version. */
  readonly folder: string
  readonly packages: readonly string[]
}

/** The libraries that Inspan is compared with, each with what its users install to keep threads. */
export const PEERS = {
  mastra: {
    folder: 'mastra-1.71.0',
    packages: ['@mastra/core@1.71.0', '@mastra/memory@1.31.0', '@mastra/libsql@1.23.1', 'ai@7.0.169', 'zod@4.6.7'],
  },
  aiSdkHarness: {
    folder: 'ai-sdk-harness-1.0.122-ws',
    packages: ['@ai-sdk/harness@1.0.122', 'ws@8.21.0', 'ai@7.0.169', 'zod@4.6.7'],
  },
} as const satisfies Readonly<Record<string, Peer>>

/** Installs into a separate folder, moved when complete, so that a partial installation is never used. */
export function installPeer(peer: Peer): string {
  const { XDG_CACHE_HOME } = process.env
  const cache = XDG_CACHE_HOME === undefined || XDG_CACHE_HOME === '' ? join(homedir(), '.cache') : XDG_CACHE_HOME
  const folder = join(cache, 'inspan', 'peers', peer.folder)
  if (existsSync(folder)) return folder
  const partial = `${folder}.partial`
  rmSync(partial, { recursive: true, force: true })
  mkdirSync(partial, { recursive: true })
  writeFileSync(join(partial, 'package.json'), '{"private":true}')
  console.error(`Installing ${peer.packages[0]} …`)
  const args = ['install', '--prefix', partial, '--no-audit', '--no-fund', '--loglevel=error', ...peer.packages]
  const { status } = spawnSync('npm', args, { cwd: partial, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error(`npm could not install ${peer.packages[0]}: see its output above.`)
  renameSync(partial, folder)
  return folder
}
