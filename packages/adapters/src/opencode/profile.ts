import type { CliProfile } from '../launch/profile.ts'

export const opencodeProfile: CliProfile = {
  id: 'opencode',
  title: 'OpenCode',
  command: 'opencode',
  binVariable: 'INSPAN_OPENCODE_BIN',
  npm: { package: 'opencode-ai', version: '1.18.34' },
  knownVersions: ['1.18.34'],
  key: keyOf('OPENCODE_API_KEY', 'opencode'),
  install: 'npm install -g opencode-ai@1.18.34',
  // It exits at once and leaves its tools running: those are found by the run tag and ended.
  stop: { signal: 'SIGTERM', graceMs: 3_000 },
}

/** Where OpenCode, or a program made from it, finds the key of a provider. `name`: that of the program and its files. */
export function keyOf(variable: string, name: string): CliProfile['key'] {
  const config = { variable: 'XDG_CONFIG_HOME', directory: '.config' }
  return {
    variables: [
      variable,
      'ANTHROPIC_API_KEY',
      'OPENAI_API_KEY',
      'GEMINI_API_KEY',
      'GOOGLE_GENERATIVE_AI_API_KEY',
      'OPENROUTER_API_KEY',
    ],
    logins: [
      { variable: 'XDG_DATA_HOME', directory: '.local/share', file: `${name}/auth.json` },
      { ...config, file: `${name}/${name}.json` },
      { ...config, file: `${name}/${name}.jsonc` },
    ],
    hint: `Set the key of your provider (such as ANTHROPIC_API_KEY), or run "${name} auth login".`,
  }
}
