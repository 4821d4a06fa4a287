import type { MCPConfiguration } from '@inspan/protocol/chat'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import { offeredTools, type NativeTools } from '../launch/offered-tools.ts'
import type { RunWarning } from '../launch/run-note.ts'
import { clineProfile } from './profile.ts'

const TEAM: readonly string[] = [
  'team_attach_outcome_fragment',
  'team_await_runs',
  'team_broadcast',
  'team_cancel_run',
  'team_cleanup',
  'team_create_outcome',
  'team_finalize_outcome',
  'team_list_outcomes',
  'team_list_runs',
  'team_mission_log',
  'team_read_mailbox',
  'team_review_outcome_fragment',
  'team_run_task',
  'team_send_message',
  'team_shutdown_teammate',
  'team_spawn_teammate',
  'team_status',
  'team_task',
]
/** If nobody is there, Cline answers itself, with the first choice. */
const ASKS: readonly string[] = ['ask_question']

const TOOLS: NativeTools = {
  categories: {
    read: ['read_files', 'search_codebase'],
    edit: ['editor', 'apply_patch'],
    execute: ['run_commands'],
    other: ['fetch_web_content', 'web_search'],
  },
  harmless: ['skills', 'spawn_agent', ...TEAM],
  kinds: {
    shell: ['run_commands'],
    read: ['read_files'],
    search: ['search_codebase'],
    list: [],
    write: ['editor', 'apply_patch'],
    edit: ['editor', 'apply_patch'],
    'web-search': ['web_search'],
    'web-fetch': ['fetch_web_content'],
    subagent: ['spawn_agent', 'team_spawn_teammate'],
    skill: ['skills'],
  },
}
const WHY = 'It runs its tools itself and shows them afterwards.'

export interface ClineRules {
  /** Tools to disable, also in subagents. */
  readonly disabled: readonly string[]
  readonly mcp: MCPConfiguration
  readonly warnings: readonly RunWarning[]
}

/** Translates our rules into disabled tools. */
export function clineRules(request: LaunchRequest): ClineRules {
  const { title } = clineProfile
  const tools = offeredTools(request, TOOLS, { title, why: WHY, hidesMcpTools: true })
  const known = [...Object.values(TOOLS.categories).flat(), ...TOOLS.harmless]
  return {
    disabled: [
      ...ASKS,
      ...known.filter((name) => !tools.offered.has(name)),
      ...tools.deniedStrangers,
      ...tools.deniedMcpTools.map(({ server, tool }) => `${server}__${tool}`),
    ],
    mcp: tools.mcp,
    warnings: tools.warnings,
  }
}
