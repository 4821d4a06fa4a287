import type { RunRoot } from './membership.ts'

/** The host's commands to its guard, one line each. `add` and `remove` are answered, so that the host can wait. */
export type GuardCommand =
  | { readonly type: 'add'; readonly runId: string }
  | { readonly type: 'root'; readonly runId: string; readonly root: RunRoot }
  | { readonly type: 'remove'; readonly runId: string }

export function encodeCommand(command: GuardCommand): string {
  if (command.type !== 'root') return `${command.type} ${command.runId}\n`
  const { pid, startTime, exitedAt } = command.root
  return `root ${command.runId} ${pid} ${startTime ?? '-'} ${exitedAt ?? '-'}\n`
}

export function parseCommand(line: string): GuardCommand | undefined {
  const [type, runId, pid, startTime, exitedAt] = line.split(' ')
  if (runId === undefined || runId === '') return undefined
  if (type === 'add' || type === 'remove') return { type, runId }
  if (type !== 'root' || !isCount(pid)) return undefined
  const root = { pid: Number(pid), startTime: isCount(startTime) ? Number(startTime) : null }
  return { type, runId, root: isCount(exitedAt) ? { ...root, exitedAt: Number(exitedAt) } : root }
}

export function encodeAnswer(type: 'add' | 'remove', runId: string): string {
  return `${type === 'add' ? 'added' : 'removed'} ${runId}\n`
}

export function parseAddedAnswer(line: string): string | undefined {
  return line.startsWith('added ') ? line.slice('added '.length) : undefined
}

function isCount(text: string | undefined): text is string {
  return text !== undefined && /^\d+$/.test(text)
}
