import { join } from 'node:path'
import type { CliProfile } from '../../src/launch/profile.ts'
import { installedModules } from './clis.ts'

const RIPGREP: CliProfile = {
  id: 'ripgrep',
  title: 'ripgrep',
  command: 'rg',
  binVariable: 'INSPAN_RIPGREP_BIN',
  npm: { package: '@vscode/ripgrep', version: '1.18.0' },
  knownVersions: ['1.18.0'],
  key: { variables: [], hint: '' },
  install: 'npm install -g @vscode/ripgrep@1.18.0',
  stop: { signal: 'SIGTERM', graceMs: 0 },
}

/** Returns a PATH with `rg`: some CLIs search with it, and would download it otherwise. */
export async function pathWithRipgrep(): Promise<string> {
  const modules = await installedModules(RIPGREP)
  return `${join(modules, '@vscode', `ripgrep-${process.platform}-${process.arch}`, 'bin')}:${process.env['PATH'] ?? ''}`
}
