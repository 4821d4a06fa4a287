import type { CliProfile } from '../launch/profile.ts'

export const gooseProfile: CliProfile = {
  id: 'goose',
  title: 'Goose',
  command: 'goose',
  otherCommands: ['goose-binary-linux-x64'],
  binVariable: 'INSPAN_GOOSE_BIN',
  npm: { package: '@aaif/goose-binary-linux-x64', version: '1.52.0' },
  knownVersions: ['1.52.0'],
  key: {
    variables: ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GOOGLE_API_KEY', 'OPENROUTER_API_KEY', 'DATABRICKS_TOKEN'],
    logins: [
      { directory: '.config/goose', file: 'config.yaml' },
      { variable: 'GOOSE_PATH_ROOT', directory: '.config', file: 'config/config.yaml' },
    ],
    hint: 'Set GOOSE_PROVIDER, GOOSE_MODEL and the key of that provider, or run "goose configure".',
  },
  install: 'npm install -g @aaif/goose-binary-linux-x64@1.52.0',
  // On SIGINT it writes a last record. Tools that it leaves running are found by the run tag and ended.
  stop: { signal: 'SIGINT', graceMs: 5_000 },
}
