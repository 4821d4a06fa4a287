import { existsSync } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { arch, platform, release } from 'node:os'
import { resolve } from 'node:path'
import { checkAgents } from '../check-agents.ts'
import type { InspanCommand, Terminal } from '../command.ts'
import { dataFile } from '../data-file.ts'
import { homeOf } from '../home.ts'
import { logFile } from '../log-file.ts'
import { parseOnlyOptions } from '../parse-options.ts'
import { version } from '../version.ts'

const LOG_LINES = 200

export const reportCommand: InspanCommand = {
  name: 'report',
  help: [
    'Usage: inspan report [options]',
    '',
    'Collects what a bug report needs: versions, which coding agents work here, the size of the database, the end of the',
    'log. No conversation, no key; what looks like a secret, your name and your home folder are left out. Read it before',
    'you pass it on.',
    '',
    '  --output <file>  the file to write (default: inspan-report.json)',
    '  --json           print it instead',
    '',
    'Example: inspan report --output bug.json',
  ].join('\n'),
  run,
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const values = parseOnlyOptions(args, {
    output: { type: 'string', default: 'inspan-report.json' },
    json: { type: 'boolean', default: false },
  })
  const text = await redacted(`${JSON.stringify(await collect(terminal), null, 2)}\n`, terminal)
  if (values.json) {
    terminal.write(text)
    return 0
  }
  await writeFile(resolve(terminal.cwd, values.output), text, { mode: 0o600 })
  terminal.err(`Written to ${values.output}. Read it before you pass it on.`)
  return 0
}

async function collect(terminal: Terminal): Promise<object> {
  const file = dataFile(undefined, terminal)
  const agents = await checkAgents(terminal)
  return {
    inspan: version(),
    node: process.version,
    system: `${platform()} ${release()} ${arch()}`,
    isTerminal: terminal.isTty,
    term: terminal.env['TERM'] ?? '',
    agents: agents.map(({ found, hasKey, id, isKnown, problem, version: installed }) => ({
      id,
      found,
      isKnown,
      hasKey,
      ...(installed === undefined ? {} : { version: installed }),
      ...(problem === undefined ? {} : { problem }),
    })),
    database: existsSync(file) ? { bytes: (await stat(file)).size } : null,
    // Names only: values may be secret.
    variables: Object.keys(terminal.env).filter((name) => name.startsWith('INSPAN_')),
    log: await logTail(terminal),
  }
}

async function logTail(terminal: Terminal): Promise<readonly string[]> {
  const text = await readFile(logFile(terminal), 'utf8').catch(() => '')
  return text.trimEnd().split('\n').slice(-LOG_LINES)
}

async function redacted(text: string, terminal: Terminal): Promise<string> {
  const { redactSecrets } = await import('@inspan/core')
  const { HOME, LOGNAME, USER, USERPROFILE } = terminal.env
  const folders = [homeOf(terminal), HOME, USERPROFILE].filter((folder) => folder !== undefined && folder.length > 1)
  const names = [USER, LOGNAME].filter((name) => name !== undefined && name.length > 2)
  // Values of variables that are named like secrets, wherever they turn up.
  const secrets = Object.entries(terminal.env).flatMap(([name, value = '']) =>
    /key|token|secret|password/i.test(name) && value.length >= 8 ? [value] : [],
  )
  const plain = [
    ...secrets.map((each) => [each, '[secret]'] as const),
    ...folders.map((each) => [each ?? '', '~'] as const),
    ...names.map((each) => [each ?? '', '[user]'] as const),
  ].reduce((left, [found, instead]) => left.replaceAll(JSON.stringify(found).slice(1, -1), instead), text)
  return redactSecrets()(plain)
}
