import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { harnesses } from '@evener/adapters'

/** The path of a program in its pinned version, installed where the suites of adapters have it. */
export async function installedCli(id: string): Promise<string> {
  const profile = harnesses.find((harness) => harness.profile.id === id)?.profile
  if (profile?.npm === undefined) throw new Error(`${id} cannot be had from npm.`)
  const { npm, command } = profile
  const cache = process.env['XDG_CACHE_HOME'] ?? ''
  const dir = join(cache === '' ? join(homedir(), '.cache') : cache, 'evener', 'clis', `${id}@${npm.version}`)
  const bin = join(dir, 'node_modules', '.bin', command)
  if (!existsSync(bin)) await install(dir, `${npm.package}@${npm.version}`)
  return bin
}

async function install(dir: string, what: string): Promise<void> {
  const args = ['install', '--prefix', dir, '--no-audit', '--no-fund', '--loglevel=error', what]
  const npm = spawn('npm', args, { stdio: 'inherit' })
  const code = await new Promise((resolve) => npm.once('close', resolve))
  if (code !== 0) throw new Error(`npm could not install ${what}.`)
}
