import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { UsageError, type InspanCommand, type Terminal } from '../command.ts'
import { trustedFile } from '../project.ts'
import { visible } from '@inspan/protocol/internal'

export const trustCommand: InspanCommand = {
  name: 'trust',
  help: [
    'Usage: inspan trust [folder] [options]',
    '',
    'Lets agents follow what a folder tells them: its AGENTS.md and its skills. Without a folder, the current one.',
    'Look at these files first: whoever wrote them decides what your agents do.',
    '',
    '  --revoke  no longer trust the folder',
    '  --list    print the trusted folders',
    '',
    'Examples:',
    '  inspan trust',
    '  inspan trust ~/projects/site --revoke',
  ].join('\n'),
  run,
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { revoke: { type: 'boolean', default: false }, list: { type: 'boolean', default: false } },
  })
  if (positionals.length > 1) throw new UsageError('name one folder')
  if (values.list && (values.revoke || positionals.length > 0)) throw new UsageError('--list stands alone')
  const { TrustedFolders } = await import('@inspan/core')
  const trusted = new TrustedFolders({ file: trustedFile(terminal) })
  if (values.list) {
    for (const folder of await trusted.list()) terminal.out(visible(folder))
    return 0
  }
  const folder = resolve(terminal.cwd, positionals[0] ?? '.')
  if (!values.revoke) {
    terminal.out(`Trusted: ${visible(await trusted.trust(folder))}`)
    return 0
  }
  if (await trusted.revoke(folder)) {
    terminal.out(`No longer trusted: ${visible(folder)}`)
    return 0
  }
  terminal.err(`${visible(folder)} was not trusted.`)
  return 1
}
