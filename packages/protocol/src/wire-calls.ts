import type { ActivityEvent } from './activity.ts'
import type { Head } from './head.ts'
import type { JsonObject } from './json.ts'
import type { ThreadMessage, ToolCallPart, ToolResultPart } from './message.ts'
import { hasArgs, settledResult, type SettledResult } from './part-facts.ts'
import { printedText } from './printed-text.ts'
import type { Wait } from './wait.ts'

export interface HarnessToolCall {
  readonly id: string
  readonly name: string
  readonly status: 'running' | 'awaiting-approval' | 'complete' | 'error' | 'denied'
  /** Absent while the input streams in. */
  readonly input?: JsonObject
  /** The result, or the tool's output so far. */
  readonly output?: string
  /** What the call did, as far as the agent's output tells: a command with its exit code, a path that was written. */
  readonly activity?: readonly ActivityEvent[]
  /** The call of a foreign subagent that this call belongs to. */
  readonly parentToolCallId?: string
}

/** False for waits that a program, a clock or a subagent ends. */
export function isForPerson(wait: Pick<Wait, 'kind'>): boolean {
  return wait.kind !== 'tool' && wait.kind !== 'limit' && wait.kind !== 'child'
}

/** A call with its result. The result may be in a later message, and the call may lie before the window. */
interface PlacedCall {
  readonly toolCallId: string
  readonly toolName: string
  readonly part?: ToolCallPart
  readonly isCutOff: boolean
  result?: ToolResultPart
}

/** Matches the calls of a window of messages with their results, in one pass. */
export class WireCalls {
  readonly #head: Head
  /** The latest call by id: agents may use an id again. */
  readonly #latest = new Map<string, PlacedCall>()

  constructor(head: Head) {
    this.#head = head
  }

  /** Returns the calls to show in this message. Messages have to be added oldest first. */
  add(message: ThreadMessage): readonly PlacedCall[] {
    const placed: PlacedCall[] = []
    const isCutOff = message.state === 'interrupted'
    for (const part of message.parts) {
      if (part.type === 'tool-call') {
        const call: PlacedCall = { toolCallId: part.toolCallId, toolName: part.toolName, part, isCutOff }
        this.#latest.set(part.toolCallId, call)
        placed.push(call)
      } else if (part.type === 'tool-result') {
        const call = this.#latest.get(part.toolCallId)
        if (call !== undefined) call.result = part
        else placed.push({ toolCallId: part.toolCallId, toolName: part.toolName, isCutOff, result: part })
      }
    }
    return placed
  }

  /** Must be called after all messages were added. */
  shown(call: PlacedCall): HarnessToolCall {
    const settled = call.result === undefined ? undefined : settledResult(call.result)
    const output = settled === undefined ? call.result?.output : outputOf(settled)
    const activity = (call.result?.activity ?? call.part?.activity)?.events ?? []
    const parent = (call.part ?? call.result)?.parentToolCallId
    return {
      id: call.toolCallId,
      name: call.toolName,
      status: this.#status(call, settled),
      ...(call.part !== undefined && hasArgs(call.part) ? { input: call.part.args } : {}),
      ...(output === undefined || output === '' ? {} : { output }),
      ...(activity.length === 0 ? {} : { activity }),
      ...(parent === undefined ? {} : { parentToolCallId: parent }),
    }
  }

  #status(call: PlacedCall, settled: SettledResult | undefined): HarnessToolCall['status'] {
    const state = call.part?.call
    if (state?.outcome === 'denied') return 'denied'
    if (settled !== undefined) return settled.isError || isBad(state?.outcome) ? 'error' : 'complete'
    if (state?.stage === 'ended') return isBad(state.outcome) ? 'error' : 'complete'
    if (state?.stage === 'waiting' && this.#waitsForPerson(state.waitId)) return 'awaiting-approval'
    // Nothing will carry the call out any more.
    return this.#head.run === null || call.isCutOff ? 'error' : 'running'
  }

  #waitsForPerson(waitId: string | undefined): boolean {
    const wait = waitId === undefined ? undefined : this.#head.waits.get(waitId)
    return wait !== undefined && isForPerson(wait)
  }
}

function isBad(outcome: string | undefined): boolean {
  return outcome !== undefined && outcome !== 'ok'
}

function outputOf(settled: SettledResult): string | undefined {
  const { result, error } = settled
  if (result === null) return error?.message
  return printedText(result) ?? (typeof result === 'string' ? result : JSON.stringify(result))
}
