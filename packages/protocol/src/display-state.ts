import type { AskingSubagent } from './harness-event/tool.ts'
import { NO_TOKENS, type HarnessMessage, type TokenUsage } from './harness-message.ts'
import type { TaskItem } from './task.ts'

export interface ActiveToolState {
  readonly name: string
  readonly args: unknown
  readonly status: 'streaming_input' | 'running' | 'completed' | 'error'
  readonly partialResult?: string
  readonly result?: unknown
  readonly isError?: boolean
  readonly shellOutput?: string
}

export interface ToolInputBuffer {
  readonly text: string
  readonly toolName: string
}

export interface PendingToolApproval {
  readonly toolCallId: string
  readonly toolName: string
  readonly args: unknown
  /** One line for a person: what the approval is for, and why. */
  readonly description: string
  readonly subagent?: AskingSubagent
}

export interface PendingToolSuspension {
  readonly toolCallId: string
  readonly toolName: string
  readonly args: unknown
  readonly suspendPayload: unknown
  /** JSON Schema of the answer, as text. */
  readonly resumeSchema?: string
}

export interface ActiveSubagentState {
  readonly agentType: string
  /** Of a subagent that another one started: the key of that one. */
  readonly parentToolCallId?: string
  readonly displayName?: string
  readonly task: string
  readonly modelId?: string
  readonly forked?: boolean
  /** The run that started it does not wait for it. */
  readonly background?: true
  readonly toolCalls: readonly { readonly name: string; readonly isError: boolean }[]
  readonly textDelta: string
  readonly status: 'running' | 'completed' | 'error'
  readonly durationMs?: number
  readonly result?: string
}

export type OMStatus = 'idle' | 'observing' | 'reflecting'

export type OMBufferedStatus = 'idle' | 'running' | 'complete'

/** What observational memory prepares in the background. */
export interface OMBufferedState {
  readonly observations: {
    readonly status: OMBufferedStatus
    readonly chunks: number
    readonly messageTokens: number
    readonly projectedMessageRemoval: number
    readonly observationTokens: number
  }
  readonly reflection: {
    readonly status: OMBufferedStatus
    readonly inputObservationTokens: number
    readonly observationTokens: number
  }
}

export interface OMProgressState {
  readonly status: OMStatus
  readonly pendingTokens: number
  readonly threshold: number
  readonly thresholdPercent: number
  readonly observationTokens: number
  readonly reflectionThreshold: number
  readonly reflectionThresholdPercent: number
  readonly buffered: OMBufferedState
  readonly generationCount: number
  readonly stepNumber: number
  readonly cycleId?: string
  readonly startTime?: number
  /** The size of the observations before the running reflection compresses them. */
  readonly preReflectionTokens: number
}

export interface ModifiedFile {
  readonly operations: readonly string[]
  readonly firstModified: Date
}

/**
 * Everything a UI needs to draw the conversation. A snapshot: it never changes after it was handed out. In JSON, maps
 * are objects and dates are ISO texts.
 */
export interface HarnessDisplayState {
  readonly isRunning: boolean
  /** The newest message of the run. Stays after its end until the next run. */
  readonly currentMessage: HarnessMessage | null
  readonly queuedFollowUps: number
  readonly tokenUsage: TokenUsage
  /** By tool call id, like `toolInputBuffers` and `pendingSuspensions`. */
  readonly activeTools: ReadonlyMap<string, ActiveToolState>
  readonly toolInputBuffers: ReadonlyMap<string, ToolInputBuffer>
  /** The oldest of `pendingApprovals`. */
  readonly pendingApproval: PendingToolApproval | null
  /** Oldest first. */
  readonly pendingApprovals: readonly PendingToolApproval[]
  readonly pendingSuspensions: ReadonlyMap<string, PendingToolSuspension>
  /** By tool call id. That of a subagent's subagent follows the key of its parent: `call-1/call-2`. */
  readonly activeSubagents: ReadonlyMap<string, ActiveSubagentState>
  readonly omProgress: OMProgressState
  readonly bufferingMessages: boolean
  readonly bufferingObservations: boolean
  /** By path. */
  readonly modifiedFiles: ReadonlyMap<string, ModifiedFile>
  readonly tasks: readonly TaskItem[]
  readonly previousTasks: readonly TaskItem[]
}

/** Returns a map that `JSON.stringify` writes as an object. */
export function snapshotMap<Value>(entries: Iterable<readonly [string, Value]> = []): Map<string, Value> {
  const map = new Map(entries)
  // Not enumerable, so that it compares as any other map.
  return Object.defineProperty(map, 'toJSON', { value: () => Object.fromEntries(map) })
}

export function defaultDisplayState(): HarnessDisplayState {
  return {
    isRunning: false,
    currentMessage: null,
    queuedFollowUps: 0,
    tokenUsage: NO_TOKENS,
    activeTools: snapshotMap(),
    toolInputBuffers: snapshotMap(),
    pendingApproval: null,
    pendingApprovals: [],
    pendingSuspensions: snapshotMap(),
    activeSubagents: snapshotMap(),
    omProgress: defaultOMProgressState(),
    bufferingMessages: false,
    bufferingObservations: false,
    modifiedFiles: snapshotMap(),
    tasks: [],
    previousTasks: [],
  }
}

export function defaultOMProgressState(): OMProgressState {
  return {
    status: 'idle',
    pendingTokens: 0,
    threshold: 30_000,
    thresholdPercent: 0,
    observationTokens: 0,
    reflectionThreshold: 40_000,
    reflectionThresholdPercent: 0,
    buffered: {
      observations: {
        status: 'idle',
        chunks: 0,
        messageTokens: 0,
        projectedMessageRemoval: 0,
        observationTokens: 0,
      },
      reflection: { status: 'idle', inputObservationTokens: 0, observationTokens: 0 },
    },
    generationCount: 0,
    stepNumber: 0,
    preReflectionTokens: 0,
  }
}
