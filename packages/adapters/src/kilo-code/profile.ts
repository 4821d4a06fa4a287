import type { CliProfile } from '../launch/profile.ts'

export const kiloCodeProfile: CliProfile = {
  id: 'kilo-code',
  title: 'Kilo Code',
  command: 'kilo',
  binVariable: 'INSPAN_KILO_CODE_BIN',
  npm: { package: '@kilocode/cli', version: '7.7.9' },
  knownVersions: ['7.7.9'],
  key: {
    variables: [
      'KILO_API_KEY',
      'ANTHROPIC_API_KEY',
      'OPENAI_API_KEY',
      'GEMINI_API_KEY',
      'GOOGLE_GENERATIVE_AI_API_KEY',
      'OPENROUTER_API_KEY',
    ],
    logins: [
      { variable: 'XDG_DATA_HOME', directory: '.local/share', file: 'kilo/auth.json' },
      { variable: 'XDG_CONFIG_HOME', directory: '.config', file: 'kilo/kilo.json' },
      { variable: 'XDG_CONFIG_HOME', directory: '.config', file: 'kilo/kilo.jsonc' },
    ],
    hint: 'Set the key of your provider (such as ANTHROPIC_API_KEY), or run "kilo auth login".',
  },
  install: 'npm install -g @kilocode/cli@7.7.9',
  // Its wrapper passes the signal on. Tools that it leaves running are found by the run tag and ended.
  stop: { signal: 'SIGTERM', graceMs: 3_000 },
}
