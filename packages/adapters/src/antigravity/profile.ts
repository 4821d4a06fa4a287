import type { CliProfile } from '../launch/profile.ts'

/** Antigravity is not on npm, so no version is pinned or tested. */
export const antigravityProfile: CliProfile = {
  id: 'antigravity',
  title: 'Antigravity',
  command: 'agy',
  binVariable: 'INSPAN_ANTIGRAVITY_BIN',
  knownVersions: [],
  key: {
    variables: [],
    logins: [{ directory: '.gemini', file: 'antigravity-cli' }],
    hint: 'Run "agy" and log in with a Google account: it takes no keys.',
  },
  install: 'the Antigravity CLI, from the makers of Antigravity',
  stop: { signal: 'SIGINT', graceMs: 3_000 },
}
