import type { JsonObject } from '@evener/protocol'
import type { ToolOutcome, ToolTable } from '../kit/tool-table.ts'
import type { AcpToolCall } from './tool-call.ts'

/** Words in the agent's mouth that are not its own: the program's, or the program's report of a failure. */
export type NotTheAgent = { readonly synthetic: true } | { readonly failure: string }

/** What one agent does in its own way. Everything that is left out is as the protocol has it. */
export interface AcpHabits {
  /** What its tools do, by their own names. */
  readonly tools?: ToolTable
  /** The tool's own name. */
  toolName?(call: AcpToolCall): string | undefined
  /** The MCP server that the tool comes from. */
  serverName?(call: AcpToolCall): string | undefined
  /**
   * The tool starts a subagent whose words and calls come under the agent's own name: whatever comes until it has ended is
   * the subagent's.
   */
  readonly subagentTool?: string
  /** Calls are announced before their input is there. */
  readonly inputFollows?: boolean
  /** How a call ended, where that is not what its status says. */
  outcome?(call: AcpToolCall): ToolOutcome | undefined
  /** It says that a call has ended, and will say it again with the result. */
  isProvisional?(update: JsonObject): boolean
  /** New output of a call that runs. */
  progress?(update: JsonObject): string | undefined
  /** Looks at the first words of a message. */
  speaker?(text: string, update: JsonObject): NotTheAgent | undefined
  /** The tokens it reports with its answer are not those of the whole turn. */
  readonly hasPartialUsage?: boolean
  /** Why a line of standard error says nothing; `undefined` when it does. */
  noise?(line: string): string | undefined
}

/** Names that our rules know, for agents that only tell what kind of tool it is. */
export const KIND_NAMES: Readonly<Record<string, string>> = {
  read: 'read_file',
  edit: 'edit_file',
  delete: 'delete_file',
  move: 'move_file',
  search: 'grep',
  execute: 'execute_command',
  fetch: 'web_fetch',
  think: 'think',
  switch_mode: 'switch_mode',
}

export function toolNameOf(call: AcpToolCall, habits: AcpHabits): string {
  return call.name ?? habits.toolName?.(call) ?? KIND_NAMES[call.kind ?? ''] ?? 'tool'
}

/** It is known what the call does. */
export function isKnownCall(call: AcpToolCall, { inputFollows = false }: AcpHabits): boolean {
  return call.hasBegun || (!inputFollows && (call.isAsked || call.hasInput))
}
