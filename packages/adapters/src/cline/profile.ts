import type { CliProfile } from '../launch/profile.ts'

export const clineProfile: CliProfile = {
  id: 'cline',
  title: 'Cline',
  command: 'cline',
  binVariable: 'EVENER_CLINE_BIN',
  npm: { package: 'cline', version: '3.0.65' },
  knownVersions: ['3.0.65'],
  key: {
    variables: ['CLINE_API_KEY'],
    logins: [
      { variable: 'CLINE_DATA_DIR', directory: '.cline/data', file: 'settings/providers.json' },
      { variable: 'CLINE_DIR', directory: '.cline', file: 'data/settings/providers.json' },
    ],
    hint: 'Run "cline auth", or set CLINE_API_KEY.',
  },
  install: 'npm install -g cline@3.0.65',
  // On SIGTERM it first finishes what it is doing.
  stop: { signal: 'SIGINT', graceMs: 5_000 },
}
