import { claudeCodeDialect } from '../src/claude-code/mapper.ts'
import { mapFixture, mapRun, unstamped, type RunOptions } from './support.ts'

/** Records as Claude Code writes them, and what they are mapped to. */

export const SESSION: string = 'session-1'

export function activity(name: string, options?: RunOptions): readonly object[] {
  return unstamped(mapFixture(claudeCodeDialect, name, options).activity)
}

export function map(lines: readonly unknown[], options?: RunOptions): readonly object[] {
  return unstamped(mapRun(claudeCodeDialect, lines, options).activity)
}

export const init: object = { type: 'system', subtype: 'init', cwd: '/repo', session_id: SESSION }

export function toolUse(id: string, name: string, input: unknown, more: object = {}): object {
  return {
    type: 'assistant',
    message: { id: `m-${id}`, role: 'assistant', content: [{ type: 'tool_use', id, name, input }] },
    parent_tool_use_id: null,
    session_id: SESSION,
    ...more,
  }
}

export function toolResult(id: string, block: object = {}, more: object = {}): object {
  return {
    type: 'user',
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, ...block }] },
    parent_tool_use_id: null,
    session_id: SESSION,
    ...more,
  }
}

export function says(text: string, more: object = {}): object {
  return {
    type: 'assistant',
    message: { id: `m-${text}`, role: 'assistant', content: [{ type: 'text', text }] },
    parent_tool_use_id: null,
    session_id: SESSION,
    ...more,
  }
}

/** One call and its result. */
export function call(name: string, input: unknown, block: object = {}, more: object = {}): readonly object[] {
  return map([init, toolUse('t1', name, input), toolResult('t1', block, more)])
}
