import { randomUUID } from 'node:crypto'
import { setImmediate as nextTask } from 'node:timers/promises'
import {
  EvenerError,
  noFaults,
  storedMessage,
  toErrorData,
  type AgentDriver,
  type FaultPoints,
  type HistoryQuery,
  type Host,
  type Part,
  type RunOutcome,
  type Store,
  type StoredMessage,
  type ToolCallRequest,
  type ToolOutcome,
} from '@evener/protocol'
import { inflateMessage } from './blobs.ts'
import type { RunnableTool } from './runnable-tool.ts'
import type { ThreadLog } from './thread-log.ts'
import { TurnRecorder } from './turn-recorder.ts'

/** Longer than this a stream may not keep timers, sockets and aborts waiting. */
const YIELD_AFTER_MS = 8

export interface RunTurnOptions {
  readonly store: Store
  readonly log: ThreadLog
  readonly driver: AgentDriver
  readonly tools?: readonly RunnableTool[]
  readonly input: readonly Part[]
  readonly signal?: AbortSignal
  readonly faults?: FaultPoints
  readonly by?: string
}

export interface RunTurnResult {
  readonly runId: string
  readonly outcome: RunOutcome
}

/** Lets one agent answer one message: everything it says goes through the log, and the turn ends with one finish. */
export async function runTurn(options: RunTurnOptions): Promise<RunTurnResult> {
  const { log, driver, store } = options
  const faults = options.faults ?? noFaults
  const signal = options.signal ?? new AbortController().signal
  const runId = randomUUID()
  const turnId = randomUUID()
  await log.commit(
    [
      { type: 'run.started', runId, agentId: driver.id, rules: log.state.head.rules },
      { type: 'message.added', messageId: randomUUID(), role: 'user', parts: options.input },
      { type: 'turn.started', turnId, agentId: driver.id },
    ],
    { run: runId, turn: turnId, ...(options.by === undefined ? {} : { by: options.by }) },
  )
  const recorder = new TurnRecorder({ log, runId, turnId, agentId: driver.id, signal })
  const session = await driver.open(log.state.head.bindings[driver.id] ?? null, host())
  let failure: unknown
  try {
    await faults.reach('turn.before')
    let lastYield = performance.now()
    for await (const event of session.run({ turnId, runId, threadId: log.stream, input: options.input })) {
      const written = recorder.record(event)
      if (written !== undefined) await written
      if (performance.now() - lastYield > YIELD_AFTER_MS) {
        await nextTask()
        lastYield = performance.now()
      }
    }
  } catch (error) {
    if (log.failure !== undefined) throw log.failure
    failure = error
  } finally {
    await session.close()
  }
  // A driver that forgot its finish, or threw, still ends its turn with one.
  const outcome = await recorder.finish(failure !== undefined, (ended) => [
    { type: 'run.ended', runId, outcome: ended, ...(failure === undefined ? {} : { error: toErrorData(failure) }) },
  ])
  return { runId, outcome }

  function host(): Host {
    return {
      signal,
      now: Date.now,
      log: () => undefined,
      bind: (binding) => void log.add({ type: 'binding.changed', binding }, { run: runId, turn: turnId }),
      ask: async () => {
        throw new EvenerError('unsupported', 'Nobody can be asked during this run.')
      },
      decide: () => ({ policy: 'allow', reason: 'no rule applies' }),
      history,
      listTools: () => options.tools ?? [],
      callTool,
    }
  }

  /** The view holds what is sealed, the state what belongs to this run. */
  async function* history(query: HistoryQuery): AsyncGenerator<StoredMessage> {
    const open = await Promise.all(
      log.state.messages.toArray().map((each) => inflateMessage(store, storedMessage(each))),
    )
    const openIds = new Set(open.map((message) => message.id))
    if (query.order === 'newest') yield* open.toReversed()
    let cursor: string | null = null
    do {
      const page = await store.listMessages(log.state.head.lineage, {
        order: query.order,
        ...(cursor === null ? {} : { cursor }),
      })
      for (const message of page.items) {
        if (!openIds.has(message.id) && message.order > (query.after ?? 0)) yield await inflateMessage(store, message)
      }
      cursor = page.next
    } while (cursor !== null)
    if (query.order === 'oldest') yield* open
  }

  async function callTool(call: ToolCallRequest): Promise<ToolOutcome> {
    const tool = options.tools?.find((candidate) => candidate.name === call.toolName)
    const address = recorder.callAddress(call.toolCallId)
    if (tool === undefined || address === undefined) {
      return { result: `There is no tool named "${call.toolName}".`, isError: true }
    }
    const idempotencyKey = `${runId}:${call.toolCallId}`
    // The intent is on disk before the effect: what is found without a result later is in doubt, not forgotten.
    await log.commit(
      [
        {
          type: 'call.started',
          messageId: address.messageId,
          partId: address.partId,
          toolCallId: call.toolCallId,
          attempt: 1,
          idempotencyKey,
        },
      ],
      { run: runId, turn: turnId },
    )
    await faults.reach('tool.before', call.toolName)
    try {
      return await tool.execute(call.args, {
        signal,
        idempotencyKey,
        progress: (output) => {
          void recorder.record({ type: 'tool-progress', toolCallId: call.toolCallId, toolName: call.toolName, output })
        },
      })
    } catch (error) {
      const data = toErrorData(error)
      return { result: data.message, isError: true, error: data }
    } finally {
      await faults.reach('tool.after', call.toolName)
    }
  }
}
