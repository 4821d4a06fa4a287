import type { CliProfile } from '../../src/launch/profile.ts'

export const ninthProfile: CliProfile = {
  id: 'ninth',
  title: 'Ninth',
  command: 'ninth',
  binVariable: 'INSPAN_NINTH_BIN',
  npm: { package: 'ninth-cli', version: '1.0.0' },
  knownVersions: ['1.0.0'],
  key: {
    variables: ['NINTH_API_KEY'],
    logins: [{ directory: '.ninth', file: 'auth.json' }],
    hint: 'Set NINTH_API_KEY.',
  },
  install: 'npm install -g ninth-cli@1.0.0',
  // Or { closeStdin: true, graceMs }
  stop: { signal: 'SIGTERM', graceMs: 5_000 },
}
