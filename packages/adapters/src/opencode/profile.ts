import type { CliProfile } from '../launch/profile.ts'

export const opencodeProfile: CliProfile = {
  id: 'opencode',
  title: 'OpenCode',
  command: 'opencode',
  binVariable: 'INSPAN_OPENCODE_BIN',
  npm: { package: 'opencode-ai', version: '1.18.34' },
  knownVersions: ['1.18.34'],
  key: {
    variables: [
      'OPENCODE_API_KEY',
      'ANTHROPIC_API_KEY',
      'OPENAI_API_KEY',
      'GEMINI_API_KEY',
      'GOOGLE_GENERATIVE_AI_API_KEY',
      'OPENROUTER_API_KEY',
    ],
    logins: [
      { variable: 'XDG_DATA_HOME', directory: '.local/share', file: 'opencode/auth.json' },
      { variable: 'XDG_CONFIG_HOME', directory: '.config', file: 'opencode/opencode.json' },
      { variable: 'XDG_CONFIG_HOME', directory: '.config', file: 'opencode/opencode.jsonc' },
    ],
    hint: 'Set the key of your provider (such as ANTHROPIC_API_KEY), or run "opencode auth login".',
  },
  install: 'npm install -g opencode-ai@1.18.34',
  // It exits at once and leaves its tools running: those are found by the run tag and ended.
  stop: { signal: 'SIGTERM', graceMs: 3_000 },
}
