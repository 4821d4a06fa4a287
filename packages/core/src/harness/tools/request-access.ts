import { isAbsolute, relative, resolve } from 'node:path'
import type { Answer, JsonValue } from '@inspan/protocol'
import type { RunnableTool, ToolSuspension } from '@inspan/protocol/driver'
import { resolveLinks } from '@inspan/tools'
import { ACCESS_SETTING, allowedPaths } from '../../engine/index.ts'
import type { ThreadPort } from '../signals/thread-port.ts'
import { requiredText } from './tool-input.ts'

const INPUT_SCHEMA = {
  type: 'object',
  properties: { path: { type: 'string', minLength: 1 }, reason: { type: 'string', minLength: 1 } },
  required: ['path', 'reason'],
} as const

/**
 * Asks a person for access to a path, and remembers a yes with the thread. The question and the yes are about the place
 * that the path leads to.
 */
export function requestAccessTool(port: ThreadPort, cwd: () => string = () => process.cwd()): RunnableTool {
  return {
    name: 'request_access',
    description: 'Ask the user for access to a file or folder outside of the workspace, and wait for the decision.',
    inputSchema: INPUT_SCHEMA,
    category: 'other',
    isIdempotent: true,
    execute: async (input, { resume, state }) => {
      const given = resolve(cwd(), requiredText(input, 'path'))
      const path = resolveLinks(given)
      const reason = requiredText(input, 'reason')
      if (isWithin(path, allowedPaths(port.state.head))) return { result: granted(path) }
      // It may lead elsewhere than it did when the person was asked.
      if (resume === undefined || path !== (state ?? given)) return question(given, path, reason)
      if (!saysYes(resume)) {
        const because = resume.reason === undefined ? '' : `: ${resume.reason}`
        return { result: { content: `Access to ${path} was denied${because}.`, isError: false } }
      }
      const paths = [...allowedPaths(port.state.head), path]
      await port.record([{ type: 'config.changed', settings: { [ACCESS_SETTING]: paths } }])
      return { result: granted(path) }
    },
  }
}

function question(given: string, path: string, reason: string): ToolSuspension {
  const payload = { kind: 'sandbox_access_request', path, reason, ...(given === path ? {} : { given }) }
  return { suspend: { kind: 'access', description: `Access to ${path}: ${reason}`, payload, state: path } }
}

function granted(path: string): { content: string; isError: boolean } {
  return { content: `Access to ${path} was granted.`, isError: false }
}

function isWithin(path: string, allowed: readonly string[]): boolean {
  return allowed.some((root) => {
    const way = relative(root, path)
    return way === '' || (!isAbsolute(way) && way !== '..' && !way.startsWith('../') && !way.startsWith('..\\'))
  })
}

/** Everything that is not clearly a yes is a no. */
function saysYes({ decision, value }: Answer): boolean {
  if (decision !== 'answer') return decision === 'approve'
  const word: unknown = Array.isArray(value) ? (value as readonly JsonValue[])[0] : value
  return word === true || (typeof word === 'string' && /^(y|yes|allow|allowed|approve|approved)\b/i.test(word.trim()))
}
