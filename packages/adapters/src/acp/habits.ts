import type { JsonObject } from '@inspan/protocol'
import type { ReportedOutcome, ToolTable } from '../kit/tool-table.ts'
import type { AcpToolCall } from './tool-call.ts'

/** A message that is not the agent's own: text by the program, or the program's report of a failure. */
export type NotTheAgent = { readonly synthetic: true } | { readonly failure: string }

/** How one agent differs from the protocol. What is absent follows the protocol. */
export interface AcpHabits {
  /** What its tools do, by their own names. */
  readonly tools?: ToolTable
  /** Returns the tool's own name. */
  toolName?(call: AcpToolCall): string | undefined
  /** Returns the MCP server that the tool comes from. */
  serverName?(call: AcpToolCall): string | undefined
  /**
   * The tool that starts a subagent whose words and calls come under the agent's own name: whatever comes until the
   * call has ended is the subagent's.
   */
  readonly subagentTool?: string
  /** Calls are announced before their input is known. */
  readonly inputFollows?: boolean
  /** Returns how a call ended, if its status does not tell. */
  outcome?(call: AcpToolCall): ReportedOutcome | undefined
  /** Whether an update reports the end of a call that will be reported again with the result. */
  isProvisional?(update: JsonObject): boolean
  /** Returns new output of a running call. */
  progress?(update: JsonObject): string | undefined
  /** Tells by the first words of a message whether it is not the agent's. */
  speaker?(text: string, update: JsonObject): NotTheAgent | undefined
  /** The tokens reported with the answer are not those of the whole turn. */
  readonly hasPartialUsage?: boolean
  /** Returns why a line of standard error is noise; `undefined` if it is not. */
  noise?(line: string): string | undefined
}

/** Tool names that our rules know, for agents that only report the kind of a tool. */
export const KIND_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    read: 'read_file',
    edit: 'edit_file',
    delete: 'delete_file',
    move: 'move_file',
    search: 'grep',
    execute: 'execute_command',
    fetch: 'web_fetch',
    think: 'think',
    switch_mode: 'switch_mode',
  }),
)

export function toolNameOf(call: AcpToolCall, habits: AcpHabits): string {
  return call.name ?? habits.toolName?.(call) ?? KIND_NAMES.get(call.kind ?? '') ?? 'tool'
}

/** Whether it is known what the call does. */
export function isKnownCall(call: AcpToolCall, { inputFollows = false }: AcpHabits): boolean {
  return call.hasBegun || (!inputFollows && (call.isAsked || call.hasInput))
}
