import type { AgentHooks, HarnessAgentConfig, HarnessCapabilities } from '@inspan/protocol/chat'
import type { ScriptedToolCall, ModelTurn } from '../script.ts'
import type { HarnessSubject } from './harness-contract.ts'

/** A call of a tool that the harness runs itself. */
export type HarnessTool = Pick<ScriptedToolCall, 'name' | 'input'>

/** One promise of a harness. The agent `a` exists when `run` is called. */
export interface HarnessItem {
  readonly title: string
  readonly script: (tool: HarnessTool) => readonly ModelTurn[]
  /** The config of the agent, if the promise is about one. */
  readonly config?: HarnessAgentConfig
  /** The hooks of the agent, if the promise is about them. */
  readonly hooks?: AgentHooks
  /** The capability without which a harness may refuse. */
  readonly needs?: keyof HarnessCapabilities | ((can: HarnessCapabilities) => boolean)
  /** What has to be refused without the capability, if it is not the config. Default: `requireToolApproval`. */
  readonly attempt?: (subject: HarnessSubject) => Promise<unknown>
  /** What has to happen without the capability, if it is not a refusal. Returns it in words. */
  readonly instead?: (subject: HarnessSubject) => Promise<string>
  /** The promise is about a tool that the harness runs. */
  readonly needsTool?: true
  run(subject: HarnessSubject): Promise<void>
}
