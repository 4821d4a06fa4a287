import type { CliProfile } from '../launch/profile.ts'
import { keyOf } from '../opencode/profile.ts'

export const kiloCodeProfile: CliProfile = {
  id: 'kilo-code',
  title: 'Kilo Code',
  command: 'kilo',
  binVariable: 'INSPAN_KILO_CODE_BIN',
  npm: { package: '@kilocode/cli', version: '7.7.9' },
  knownVersions: ['7.7.9'],
  key: keyOf('KILO_API_KEY', 'kilo'),
  install: 'npm install -g @kilocode/cli@7.7.9',
  // Its wrapper passes the signal on. Tools that it leaves running are found by the run tag and ended.
  stop: { signal: 'SIGTERM', graceMs: 3_000 },
}
