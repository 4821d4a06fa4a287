import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { UsageError, type InspanCommand, type Terminal } from '../command.ts'
import { localTime } from '../local-time.ts'
import { oneLine } from '../one-line.ts'
import { parseOptions } from '../parse-options.ts'
import { Progress } from '../progress.ts'
import { visible } from '@inspan/protocol/internal'

/** Coding agents whose own conversations can be listed and continued. */
export const WITH_SESSIONS = ['claude-code', 'codex', 'opencode', 'pi'] as const

export const sessionsCommand: InspanCommand = {
  name: 'sessions',
  help: [
    'Usage: inspan sessions [folder] [options]',
    '',
    `Lists the conversations that ${WITH_SESSIONS.join(', ')} have kept in a folder, newest first, also those`,
    'begun without inspan. "inspan chat --session <id>" continues one: its history is imported, and the agent resumes its',
    'own session.',
    '',
    '  --harness <id>  only this agent',
    '  --json          print them as lines of JSON',
    '',
    'Examples:',
    '  inspan sessions',
    '  inspan chat --session 0199a1b2-…',
  ].join('\n'),
  run,
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { positionals, values } = parseOptions(args, {
    harness: { type: 'string' },
    json: { type: 'boolean', default: false },
  })
  if (positionals.length > 1) throw new UsageError('name one folder')
  const wanted = values.harness === undefined ? WITH_SESSIONS : WITH_SESSIONS.filter((id) => id === values.harness)
  if (wanted.length === 0) throw new UsageError(`--harness takes one of ${WITH_SESSIONS.join(', ')}`)
  const folder = resolve(terminal.cwd, positionals[0] ?? '.')
  const sessions = await listSessions(folder, wanted, terminal)
  for (const session of sessions) {
    const { agentId, id, title = '', updatedAt } = session
    const shown = `${agentId.padEnd(11)}  ${id}  ${localTime(updatedAt)}  ${oneLine(visible(title))}`
    terminal.out(values.json ? JSON.stringify(session) : shown)
  }
  if (sessions.length === 0 && !values.json) terminal.err(`No coding agent has kept a conversation in ${folder}.`)
  return 0
}

interface SessionLine {
  readonly id: string
  readonly agentId: string
  readonly title?: string
  readonly updatedAt: number
  readonly cwd: string
}

export async function listSessions(
  folder: string,
  ids: readonly (typeof WITH_SESSIONS)[number][],
  terminal: Terminal,
): Promise<readonly SessionLine[]> {
  using progress = new Progress(terminal)
  progress.show('Looking for conversations …')
  const { clis } = await import('@inspan/adapters/reading')
  const found = await Promise.all(
    clis
      .filter(({ profile }) => ids.some((id) => id === profile.id))
      .map(async (cli) => {
        const env = { HOME: homedir(), ...terminal.env }
        const listed = await cli
          .agent({ cwd: folder, env })
          .sessions?.list(folder)
          .catch(() => [])
        return (listed ?? []).map((session) => ({ ...session, agentId: cli.profile.id }))
      }),
  )
  return found.flat().sort((a, b) => b.updatedAt - a.updatedAt)
}
