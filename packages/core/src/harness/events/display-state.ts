import type { TaskItem, ThreadMessage } from '@inspan/protocol'
import {
  defaultDisplayState,
  snapshotMap,
  toHarnessContent,
  toHarnessMessage,
  toTokenUsage,
  type ActiveSubagentState,
  type ActiveToolState,
  type HarnessDisplayState,
  type HarnessEvent,
  type HarnessMessage,
  type ModifiedFile,
  type ToolInputBuffer,
} from '@inspan/protocol/harness'
import { defined, memoryProgress } from '@inspan/protocol/internal'
import type { Head } from '@inspan/protocol/log'
import { freezeDeep } from '../../common/frozen.ts'
import { pendingApprovals, pendingSuspensions } from './pending-waits.ts'

/** The numbers of tokens from which on memory works: the session's `om`. */
export interface MemoryThresholds {
  readonly observer: { threshold(): number }
  readonly reflector: { threshold(): number }
}

type MemorySlices = Pick<HarnessDisplayState, 'omProgress' | 'bufferingMessages' | 'bufferingObservations'>

/** A map that is copied only when somebody looks at it after a change. */
class MapSlice<Value> {
  /** Made on first use: most slices never hold anything. */
  #live: Map<string, Value> | undefined
  #copy: ReadonlyMap<string, Value> | undefined

  get(): ReadonlyMap<string, Value> {
    this.#copy ??= this.#live === undefined ? NO_ENTRIES : readOnly(snapshotMap(this.#live))
    return this.#copy
  }

  at(key: string): Value | undefined {
    return this.#live?.get(key)
  }

  set(key: string, value: Value): void {
    this.#live ??= new Map()
    this.#live.set(key, value)
    this.#copy = undefined
  }

  delete(key: string): void {
    if (this.#live?.delete(key) === true) this.#copy = undefined
  }

  clear(): void {
    this.#live = undefined
    this.#copy = undefined
  }

  entries(): [string, Value][] {
    return [...(this.#live ?? [])]
  }
}

/**
 * What a UI draws, updated with every event at a cost that does not depend on how much is shown. A snapshot is made on
 * request, from the slices that changed since the last one.
 */
export class DisplayState {
  #isRunning = false
  #message: HarnessMessage | ThreadMessage | null = null
  #head: Head | undefined
  #previousTasks: readonly TaskItem[] = []
  readonly #tools = new MapSlice<ActiveToolState>()
  readonly #inputs = new MapSlice<ToolInputBuffer>()
  readonly #subagents = new MapSlice<ActiveSubagentState>()
  readonly #files = new MapSlice<ModifiedFile>()
  /** Calls of subagents that have not ended. */
  readonly #openCalls = new WeakSet<ActiveSubagentState['toolCalls'][number]>()
  #memory: MemorySlices = NOTHING
  readonly #approvals = lastOf((waits: Head['waits']) => freezeDeep(pendingApprovals(waits)))
  readonly #suspensions = lastOf((waits: Head['waits']) => readOnly(snapshotMap(pendingSuspensions(waits))))
  readonly #usage = lastOf(({ own }: Head['usage']) => freezeDeep(toTokenUsage(own)))
  #snapshot: HarnessDisplayState | undefined
  #thresholds: MemoryThresholds | undefined
  /** Memory has reported its own thresholds. */
  #isMeasured = false
  readonly #subagentName: (agentType: string) => string | undefined

  /** `subagentName` returns the display name of a type of subagent. */
  constructor(subagentName: (agentType: string) => string | undefined) {
    this.#subagentName = subagentName
  }

  /** Returns the snapshot: the same object until something changes. */
  get(): HarnessDisplayState {
    if (!this.#isMeasured && this.#thresholds !== undefined) this.#measure(this.#thresholds)
    this.#snapshot ??= this.#take()
    return this.#snapshot
  }

  /** Sets the thresholds that are shown until memory reports its own. */
  measureMemoryBy(thresholds: MemoryThresholds): void {
    this.#thresholds = thresholds
  }

  /** Starts over with another thread or none: nothing of the old one is shown. */
  reset(head: Head | undefined, isRunning: boolean): void {
    this.#isRunning = isRunning
    this.#message = null
    this.#head = head
    this.#previousTasks = []
    this.#tools.clear()
    this.#inputs.clear()
    this.#subagents.clear()
    this.#files.clear()
    this.#memory = NOTHING
    this.#isMeasured = false
    this.#snapshot = undefined
  }

  /** Shows nothing of the last run: the thread was moved to another point. Files that it has changed stay changed. */
  rewind(): void {
    this.#message = null
    this.#tools.clear()
    this.#inputs.clear()
    this.#subagents.clear()
    this.#snapshot = undefined
  }

  /** Shows what a run did before the session was bound to its thread. */
  catchUp(messages: readonly ThreadMessage[]): void {
    const own = messages.filter(({ parentToolCallId }) => parentToolCallId === undefined)
    this.#message = own.findLast(({ role }) => role === 'assistant') ?? own.at(-1) ?? null
    for (const part of own.flatMap(({ parts }) => [...parts])) {
      const content = toHarnessContent(part)
      if (content?.type === 'tool_call') {
        this.#tools.set(content.id, { name: content.name, args: content.args, status: 'running' })
      } else if (content?.type === 'tool_result') this.#toolEnded(content.id, content)
    }
    this.#snapshot = undefined
  }

  clearModifiedFiles(): void {
    this.#files.clear()
    this.#snapshot = undefined
  }

  /** Takes over a new head. Returns true when something that is shown has changed. */
  follow(head: Head): boolean {
    const before = this.#head
    if (before === head) return false
    this.#head = head
    const isChanged =
      before === undefined ||
      before.waits !== head.waits ||
      before.queue !== head.queue ||
      before.usage !== head.usage ||
      before.settings !== head.settings ||
      before.tasks !== head.tasks
    if (before !== undefined && before.tasks !== head.tasks) this.#previousTasks = before.tasks
    if (isChanged) this.#snapshot = undefined
    return isChanged
  }

  /** Shows a growing message in the log's form. Its public form is made when a snapshot is taken. */
  show(message: ThreadMessage): void {
    this.#message = message
    this.#snapshot = undefined
  }

  noteFile(path: string, operation: string, at: number): void {
    const known = this.#files.at(path)
    this.#files.set(path, {
      operations: [...(known?.operations ?? []), operation],
      firstModified: known?.firstModified ?? new Date(at),
    })
    this.#snapshot = undefined
  }

  apply(event: HarnessEvent): void {
    this.#snapshot = undefined
    switch (event.type) {
      case 'agent_start':
        // Emitted again for a session that joins a run at work, which is shown already.
        if (this.#isRunning) return
        this.#isRunning = true
        this.#message = null
        // Calls that are still open have waited for an answer and go on with it.
        for (const [id, { status }] of this.#tools.entries()) {
          if (status === 'completed' || status === 'error') this.#tools.delete(id)
        }
        this.#inputs.clear()
        return
      case 'agent_end':
        this.#isRunning = false
        if (event.reason !== 'suspended') this.#clearSubagents()
        this.#inputs.clear()
        for (const [id, tool] of this.#tools.entries()) {
          const isOpen = tool.status === 'running' || tool.status === 'streaming_input'
          if (isOpen && event.reason !== 'suspended') this.#tools.set(id, { ...tool, status: 'error', isError: true })
        }
        return
      case 'message_update':
        // The log's form of the message is shown already, and no listener can change that.
        if (this.#message?.id !== event.message.id) this.#message = event.message
        return
      case 'message_start':
      case 'message_end':
        this.#message = event.message
        return
      case 'tool_input_start':
        this.#inputs.set(event.toolCallId, { text: '', toolName: event.toolName })
        this.#tools.set(event.toolCallId, { name: event.toolName, args: {}, status: 'streaming_input' })
        return
      case 'tool_input_delta': {
        const before = this.#inputs.at(event.toolCallId)
        const toolName = event.toolName ?? before?.toolName ?? ''
        this.#inputs.set(event.toolCallId, { text: (before?.text ?? '') + event.argsTextDelta, toolName })
        return
      }
      case 'tool_input_end':
        this.#inputs.delete(event.toolCallId)
        return
      case 'tool_start':
        this.#tools.set(event.toolCallId, { name: event.toolName, args: event.args, status: 'running' })
        return
      case 'tool_update':
        this.#changeTool(event.toolCallId, {
          partialResult:
            typeof event.partialResult === 'string' ? event.partialResult : JSON.stringify(event.partialResult),
        })
        return
      case 'shell_output':
        this.#changeTool(event.toolCallId, {
          shellOutput: (this.#tools.at(event.toolCallId)?.shellOutput ?? '') + event.output,
        })
        return
      case 'tool_end':
        this.#toolEnded(event.toolCallId, event)
        return
      case 'subagent_start':
      case 'subagent_text_delta':
      case 'subagent_tool_start':
      case 'subagent_tool_end':
      case 'subagent_end':
        this.#subagent(event)
        return
      default:
        if (event.type === 'om_status') this.#isMeasured = true
        this.#memory = memoryProgress(this.#memory, event, Date.now)
    }
  }

  #measure({ observer, reflector }: MemoryThresholds): void {
    const { omProgress } = this.#memory
    const now = { threshold: observer.threshold(), reflectionThreshold: reflector.threshold() }
    const isSame = omProgress.threshold === now.threshold && omProgress.reflectionThreshold === now.reflectionThreshold
    if (isSame) return
    this.#memory = { ...this.#memory, omProgress: { ...omProgress, ...now } }
    this.#snapshot = undefined
  }

  #toolEnded(toolCallId: string, { isError, result }: { readonly isError: boolean; readonly result: unknown }): void {
    this.#changeTool(toolCallId, { status: isError ? 'error' : 'completed', result, isError })
  }

  #changeTool(toolCallId: string, changes: Partial<ActiveToolState>): void {
    const tool = this.#tools.at(toolCallId)
    if (tool !== undefined) this.#tools.set(toolCallId, { ...tool, ...changes })
  }

  /** Those in the background work on when the run is over. */
  #clearSubagents(): void {
    const left = [...this.#subagents.entries()].filter(
      ([, { background, status }]) => background && status === 'running',
    )
    this.#subagents.clear()
    for (const [id, subagent] of left) this.#subagents.set(id, subagent)
  }

  #subagent(
    event: Extract<
      HarnessEvent,
      { type: 'subagent_start' | 'subagent_text_delta' | 'subagent_tool_start' | 'subagent_tool_end' | 'subagent_end' }
    >,
  ): void {
    const { agentType, parentToolCallId, toolCallId } = event
    const key = parentToolCallId === undefined ? toolCallId : `${parentToolCallId}/${toolCallId}`
    if (event.type === 'subagent_start') {
      const { background, forked, modelId, task } = event
      const displayName = this.#subagentName(agentType)
      const how = {
        modelId,
        ...defined({ displayName, parentToolCallId, forked, background }),
      }
      this.#subagents.set(key, { agentType, task, ...how, toolCalls: [], textDelta: '', status: 'running' })
      return
    }
    const known = this.#subagents.at(key)
    if (known === undefined) return
    if (event.type === 'subagent_text_delta') {
      this.#subagents.set(key, { ...known, textDelta: known.textDelta + event.textDelta })
    } else if (event.type === 'subagent_tool_start') {
      const call = { name: event.subToolName, isError: false }
      this.#openCalls.add(call)
      this.#subagents.set(key, { ...known, toolCalls: [...known.toolCalls, call] })
    } else if (event.type === 'subagent_tool_end') {
      const call = { name: event.subToolName, isError: event.isError }
      const index = known.toolCalls.findIndex((each) => each.name === call.name && this.#openCalls.has(each))
      const toolCalls = index < 0 ? [...known.toolCalls, call] : known.toolCalls.with(index, call)
      this.#subagents.set(key, { ...known, toolCalls })
    } else {
      const status = event.isError ? 'error' : 'completed'
      this.#subagents.set(key, { ...known, status, durationMs: event.durationMs, result: event.result })
    }
  }

  #take(): HarnessDisplayState {
    const head = this.#head
    const waits = head === undefined || head.waits.size === 0 ? undefined : head.waits
    const approvals = waits === undefined ? NOTHING.pendingApprovals : this.#approvals(waits)
    // Frozen one by one: a slice that has not changed is frozen already, and checking it costs nothing.
    return Object.freeze({
      isRunning: this.#isRunning,
      currentMessage: freezeDeep(this.#currentMessage()),
      queuedFollowUps: [...(head?.queue ?? [])].filter(({ lane }) => lane === 'follow-up').length,
      tokenUsage: head === undefined ? NOTHING.tokenUsage : this.#usage(head.usage),
      activeTools: this.#tools.get(),
      toolInputBuffers: this.#inputs.get(),
      pendingApproval: approvals[0] ?? null,
      pendingApprovals: approvals,
      pendingSuspensions: waits === undefined ? NO_ENTRIES : this.#suspensions(waits),
      activeSubagents: this.#subagents.get(),
      omProgress: freezeDeep(this.#memory.omProgress),
      bufferingMessages: this.#memory.bufferingMessages,
      bufferingObservations: this.#memory.bufferingObservations,
      modifiedFiles: this.#files.get(),
      tasks: freezeDeep(head?.tasks ?? NOTHING.tasks),
      previousTasks: freezeDeep(this.#previousTasks),
    })
  }

  #currentMessage(): HarnessMessage | null {
    const message = this.#message
    if (message === null || !('parts' in message)) return message
    this.#message = toHarnessMessage(message)
    return this.#message
  }
}

/** Returns the function with its last result kept: heads share what has not changed. */
function lastOf<From extends object, Made>(make: (from: From) => Made): (from: From) => Made {
  let last: { readonly from: From; readonly made: Made } | undefined
  return (from) => {
    if (last?.from !== from) last = { from, made: make(from) }
    return last.made
  }
}

/** Makes the map read-only and returns it. */
function readOnly<Value>(map: ReadonlyMap<string, Value>): ReadonlyMap<string, Value> {
  for (const value of map.values()) freezeDeep(value)
  for (const method of ['set', 'delete', 'clear']) Object.defineProperty(map, method, { value: refuseChange })
  return Object.freeze(map)
}

function refuseChange(): never {
  throw new TypeError('A snapshot of the display cannot be changed.')
}

/** Shown where there is nothing. One object for all, since nobody can change it. */
const NOTHING = freezeDeep(defaultDisplayState())
const NO_ENTRIES: ReadonlyMap<string, never> = readOnly(snapshotMap<never>())
