import type { CliProfile } from '../launch/profile.ts'

export const claudeCodeProfile: CliProfile = {
  id: 'claude-code',
  title: 'Claude Code',
  command: 'claude',
  binVariable: 'INSPAN_CLAUDE_CODE_BIN',
  npm: { package: '@anthropic-ai/claude-code', version: '2.1.326' },
  knownVersions: ['2.1.326'],
  key: {
    variables: [
      'ANTHROPIC_API_KEY',
      'ANTHROPIC_AUTH_TOKEN',
      'CLAUDE_CODE_OAUTH_TOKEN',
      'CLAUDE_CODE_USE_BEDROCK',
      'CLAUDE_CODE_USE_VERTEX',
      'CLAUDE_CODE_USE_FOUNDRY',
    ],
    logins: [{ variable: 'CLAUDE_CONFIG_DIR', directory: '.claude', file: '.credentials.json' }],
    hint: 'Set ANTHROPIC_API_KEY, or run "claude" and log in.',
  },
  install: 'npm install -g @anthropic-ai/claude-code@2.1.326',
  // On SIGINT it ends its tools and writes a last record.
  stop: { signal: 'SIGINT', graceMs: 5_000 },
}
