import type { ActivityEvent } from '@inspan/protocol'

/** Activity in a line of text: what was done, to what, and how it ended (`✗` failed, `?` not told). */
export function brief(activity: readonly ActivityEvent[]): readonly string[] {
  return activity.map(describe)
}

function describe(event: ActivityEvent): string {
  switch (event.type) {
    case 'agent':
      return `agent: ${event.message}`
    case 'command':
      return `command ${event.command}${event.exitCode === undefined ? '' : ` → ${event.exitCode}`}${ended(event)}`
    case 'read':
    case 'write':
      return `${event.type} ${event.path}${lines(event)}${ended(event)}`
    case 'search':
      return `search ${event.query}${event.path === undefined ? '' : ` in ${event.path}`}${ended(event)}`
    case 'list':
      return `list${event.path === undefined ? '' : ` ${event.path}`}${ended(event)}`
    case 'skill':
      return `skill ${event.skillName ?? '?'} ${event.path}${ended(event)}`
    case 'orchestration':
      return `${event.action} ${event.subagentName ?? '?'}${ended(event)}`
    case 'error':
    case 'warning':
      return `${event.type}${event.code === undefined ? '' : ` [${event.code}]`}: ${event.message}`
    case 'unknown':
      return 'unknown'
  }
}

function ended({ isSuccess }: { readonly isSuccess?: boolean }): string {
  return isSuccess === undefined ? ' ?' : isSuccess ? '' : ' ✗'
}

function lines({ startLine, endLine }: { readonly startLine?: number; readonly endLine?: number }): string {
  return startLine === undefined ? '' : `:${startLine}-${endLine ?? ''}`
}
