import type { JsonObject, Part, PermissionRules } from '@inspan/protocol'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import { promptOf } from '../launch/prompt.ts'
import type { LivePlan } from '../live/live-cli-spec.ts'
import { withoutFlags } from '../live/args.ts'
import { settledRules } from '../live/settled-rules.ts'
import { launchClaude, ownTools, patience, type ClaudeLaunchOptions } from './launch.ts'
import { claudeCodeProfile } from './profile.ts'

/** Flags that decide in print mode, where nobody can be asked. */
const PRINT_FLAGS: ReadonlySet<string> = new Set(['--permission-mode', '--permission-prompts', '--allowedTools'])

/** Tools that the CLI offers only if they are named. We judge them like all others. */
const TO_BE_NAMED: readonly string[] = ['Glob', 'Grep', 'TaskCreate', 'TaskGet', 'TaskList', 'TaskUpdate']

/**
 * Like print mode, except that everything is asked. Our deny rules are passed on as the CLI's own; what our rules allow
 * is not allowed by the CLI but by us, call by call.
 */
export function launchClaudeLive(request: LaunchRequest, options: ClaudeLaunchOptions = {}): LivePlan {
  // The process stays, and our server has another token in every turn: the peer passes it on.
  const { toolServer: _toolServer, ...lasting } = request
  const { stdin: _stdin, args, env, ...plan } = launchClaude({ ...lasting, rules: floor(request.rules) }, options)
  return {
    ...plan,
    args: [
      ...withoutFlags(args, PRINT_FLAGS),
      '--permission-prompt-tool',
      'stdio',
      '--allowedTools',
      [...TO_BE_NAMED, ...ownTools(request)].join(','),
    ],
    // Makes the CLI report when it is idle.
    env: { ...env, ...patience(request), CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: '1' },
  }
}

/** Patterns are judged call by call: the CLI's own patterns mean something else. */
function floor(rules: PermissionRules): PermissionRules {
  return { ...settledRules(rules), patterns: [] }
}

/** Returns a message for the CLI's standard input. Throws `unsupported` for parts that it cannot be given. */
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
