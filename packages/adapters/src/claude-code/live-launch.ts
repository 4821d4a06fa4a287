import type { JsonObject, Part, PermissionRules } from '@evener/protocol'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import { promptOf } from '../launch/prompt.ts'
import type { LivePlan } from '../live/live-harness.ts'
import { withoutFlags } from '../live/args.ts'
import { settledRules } from '../live/settled-rules.ts'
import { launchClaude, type ClaudeLaunchOptions } from './launch.ts'
import { claudeCodeProfile } from './profile.ts'

/** What decides in print mode, where nobody can be asked. */
const PRINT_FLAGS: ReadonlySet<string> = new Set(['--permission-mode', '--permission-prompts', '--allowedTools'])

/** It does not offer these unless they are named. They are judged by us like all others. */
const TO_BE_NAMED: readonly string[] = ['Glob', 'Grep', 'TaskCreate', 'TaskGet', 'TaskList', 'TaskUpdate']

/**
 * As in print mode, but everything is asked: our denies are its own denies, and what our rules allow is not allowed by
 * it but by us, call by call.
 */
export function launchClaudeLive(request: LaunchRequest, options: ClaudeLaunchOptions = {}): LivePlan {
  const { stdin: _stdin, args, env, ...plan } = launchClaude({ ...request, rules: floor(request.rules) }, options)
  return {
    ...plan,
    args: [
      ...withoutFlags(args, PRINT_FLAGS),
      '--permission-prompt-tool',
      'stdio',
      '--allowedTools',
      TO_BE_NAMED.join(','),
    ],
    // It says by itself when it has nothing left to do.
    env: { ...env, CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: '1' },
  }
}

/** Patterns are judged call by call: its own mean something else. */
function floor(rules: PermissionRules): PermissionRules {
  return { ...settledRules(rules), patterns: [] }
}

/** Said to it on its standard input. Throws `unsupported` for what it cannot be given. */
export function userMessage(parts: readonly Part[]): JsonObject {
  const { text, images } = promptOf(parts, claudeCodeProfile.title)
  return {
    type: 'user',
    message: {
      role: 'user',
      content: [
        ...images.map(({ mimeType, data }) => ({
          type: 'image',
          source: { type: 'base64', media_type: mimeType, data },
        })),
        ...(text === '' ? [] : [{ type: 'text', text }]),
      ],
    },
    parent_tool_use_id: null,
    session_id: '',
  }
}
