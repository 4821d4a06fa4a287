import type { CliProfile } from '../launch/profile.ts'

export const codexProfile: CliProfile = {
  id: 'codex',
  title: 'Codex',
  command: 'codex',
  binVariable: 'INSPAN_CODEX_BIN',
  npm: { package: '@openai/codex', version: '0.169.0' },
  knownVersions: ['0.169.0'],
  key: {
    variables: ['CODEX_API_KEY'],
    logins: [{ variable: 'CODEX_HOME', directory: '.codex', file: 'auth.json' }],
    hint: 'Set CODEX_API_KEY, or run "codex login".',
  },
  install: 'npm install -g @openai/codex@0.169.0',
  // Not SIGINT: after that the sandbox leaves empty directories behind.
  stop: { signal: 'SIGTERM', graceMs: 5_000 },
}
