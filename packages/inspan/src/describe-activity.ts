import type { ActivityEvent } from '@inspan/protocol'

/** Describes what an agent did in one line for a person. */
export function describeActivity(event: ActivityEvent): string {
  switch (event.type) {
    case 'agent':
      return event.message
    case 'command':
      return `$ ${event.command}${event.exitCode === undefined ? mark(event.isSuccess) : ` (exit ${event.exitCode})`}`
    case 'read':
    case 'write':
      return `${event.type} ${event.path}${lines(event)}${mark(event.isSuccess)}`
    case 'search':
      return `search ${JSON.stringify(event.query)}${event.path === undefined ? '' : ` in ${event.path}`}${mark(event.isSuccess)}`
    case 'list':
      return `list ${event.path ?? '.'}${mark(event.isSuccess)}`
    case 'skill':
      return `skill ${event.skillName ?? event.path}${mark(event.isSuccess)}`
    case 'orchestration':
      return `${event.action.replace('_', ' ')}${event.subagentName === undefined ? '' : ` ${event.subagentName}`}${mark(event.isSuccess)}`
    case 'error':
    case 'warning':
      return `${event.type}${event.code === undefined ? '' : ` ${event.code}`}: ${event.message}`
    case 'unknown':
      return `unknown ${shorten(typeof event.raw === 'string' ? event.raw : JSON.stringify(event.raw))}`
  }
}

const SHOWN_CHARS = 100

function shorten(text: string): string {
  return text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)}…`
}

function mark(isSuccess: boolean | undefined): string {
  return isSuccess === false ? ' (failed)' : ''
}

function lines(event: { readonly startLine?: number; readonly endLine?: number }): string {
  return event.startLine === undefined ? '' : `:${event.startLine}-${event.endLine ?? ''}`
}
