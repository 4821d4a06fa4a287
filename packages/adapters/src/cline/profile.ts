import { asObject, NO_FIELDS } from '../kit/fields.ts'
import { parseRecord } from '../kit/json-line.ts'
import type { CliProfile } from '../launch/profile.ts'

/** Fields of the entry that Cline's first run, without a login, writes for its own provider. */
const SAYS_NO_LOGIN: ReadonlySet<string> = new Set(['provider', 'model'])

function isLogin(content: string): boolean {
  const providers = asObject(parseRecord(content)?.['providers']) ?? NO_FIELDS
  return Object.entries(providers).some(([id, entry]) => {
    const settings = asObject(asObject(entry)?.['settings']) ?? NO_FIELDS
    // An entry for another provider counts as a login: a local model, for example, needs no key.
    return id !== 'cline' || Object.keys(settings).some((name) => !SAYS_NO_LOGIN.has(name))
  })
}

export const clineProfile: CliProfile = {
  id: 'cline',
  title: 'Cline',
  command: 'cline',
  binVariable: 'INSPAN_CLINE_BIN',
  npm: { package: 'cline', version: '3.0.65' },
  knownVersions: ['3.0.65'],
  key: {
    variables: ['CLINE_API_KEY'],
    logins: [
      { variable: 'CLINE_DATA_DIR', directory: '.cline/data', file: 'settings/providers.json', isLogin },
      { variable: 'CLINE_DIR', directory: '.cline', file: 'data/settings/providers.json', isLogin },
    ],
    hint: 'Run "cline auth", or set CLINE_API_KEY.',
  },
  install: 'npm install -g cline@3.0.65',
  // On SIGTERM it would first finish its current work.
  stop: { signal: 'SIGINT', graceMs: 5_000 },
}
