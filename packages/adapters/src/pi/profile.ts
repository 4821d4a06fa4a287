import type { CliProfile } from '../launch/profile.ts'

export const piProfile: CliProfile = {
  id: 'pi',
  title: 'Pi',
  command: 'pi',
  binVariable: 'INSPAN_PI_BIN',
  npm: { package: '@earendil-works/pi-coding-agent', version: '1.5.0' },
  knownVersions: ['1.5.0'],
  key: {
    variables: [
      'ANTHROPIC_API_KEY',
      'ANTHROPIC_AUTH_TOKEN',
      'ANTHROPIC_OAUTH_TOKEN',
      'OPENAI_API_KEY',
      'GEMINI_API_KEY',
      'OPENROUTER_API_KEY',
    ],
    logins: [
      { variable: 'PI_CODING_AGENT_DIR', directory: '.pi/agent', file: 'auth.json' },
      { variable: 'PI_CODING_AGENT_DIR', directory: '.pi/agent', file: 'models.json' },
    ],
    hint: 'Set the key of your provider (such as ANTHROPIC_API_KEY), or run "pi" and log in.',
  },
  install: 'npm install -g @earendil-works/pi-coding-agent@1.5.0',
  // Not SIGINT: only on SIGTERM does it end its tools as well.
  stop: { signal: 'SIGTERM', graceMs: 5_000 },
}
