import { estimateTokenCount } from 'tokenx'
import { InspanError, type JsonObject, type WaitRequest } from '@inspan/protocol'
import {
  noFaults,
  type AgentLimit,
  type Decision,
  type HandoverNote,
  type Host,
  type RunnableTool,
  type ToolCallRequest,
} from '@inspan/protocol/driver'
import { asJson, type RecordBody } from '@inspan/protocol/log'
import { isForeign, type ActiveTurn } from './active-run.ts'
import { lastQuestion } from '../waits/answered-waits.ts'
import { callHash } from '../calls/call-hash.ts'
import { CallRunner } from '../calls/call-runner.ts'
import { originOf } from '../calls/runnable-tool.ts'
import type { Mailbox } from '../../common/mailbox.ts'
import { heardBodies, steeredItems } from '../runs/run-queue.ts'
import type { ThreadHold } from '../threads/thread-hold.ts'
import type { ThreadRuntimeOptions } from '../thread-options.ts'
import type { ThreadPolicy } from '../rules/thread-policy.ts'
import { timeOrderedId } from '../../common/time-ordered-id.ts'

/** Roughly what fits beside a task into the context window of today's models. */
const DEFAULT_HANDOVER_TOKENS = 50_000

export interface TurnHostPorts {
  readonly options: ThreadRuntimeOptions
  readonly hold: ThreadHold
  readonly mailbox: Mailbox
  readonly policy: ThreadPolicy
  /** Called when a foreign agent opens a wait. */
  readonly onAsk: () => void
}

/** Returns the host through which the agent of a turn asks questions, calls tools and reads the history. */
export function turnHost(active: ActiveTurn, ports: TurnHostPorts): Host {
  const { options, hold, mailbox, policy } = ports
  const { waitManager, log } = hold
  const { newId = timeOrderedId } = options
  const { runId, turnId, agent, recorder, abort, setup } = active
  const agentId = agent.driver.id
  const origin = { run: runId, turn: turnId }
  /** Our wait ids, by the ids a foreign agent uses. */
  const names = new Map<string, string>()
  const decide = (call: ToolCallRequest, isFromBefore = false): Decision => {
    const decision = decideCall(policy, setup.tools, agentId, call, isFromBefore)
    active.calls?.judged(call, decision)
    return decision
  }
  /** Throws when the run is cancelled or the turn is over. */
  const assertGoesOn = (): void => {
    if (abort.signal.aborted) throw new InspanError('closed', 'The run was cancelled.')
    if (recorder.outcome !== undefined) throw turnOver()
  }
  /** Records a warning. Ignored after the turn: it would be about nothing that still goes on. */
  const warn = (text: string, data?: JsonObject): void => {
    if (active.isDetached || recorder.outcome !== undefined) return
    log.add({ type: 'note', kind: 'warning', text, ...(data === undefined ? {} : { data }) }, origin)
  }
  const { requestContext } = setup
  const runner = new CallRunner({
    log,
    recorder,
    runId,
    turnId,
    agentId,
    ...(requestContext === undefined ? {} : { requestContext }),
    ...(active.files === undefined ? {} : { files: active.files }),
    tools: () => setup.tools,
    signal: abort.signal,
    faults: options.faults ?? noFaults,
    onInterrupted: options.onInterrupted ?? 'report',
    // A call of our own tools by a foreign agent is ours, so the agent's calls are not involved.
    decide: (call, isFromBefore) => decideCall(policy, setup.tools, agentId, call, isFromBefore),
    refreshGrants: () => policy.refresh(),
    ask: async (question, call, state) => {
      if (active.isDetached) return never()
      assertGoesOn()
      const isByForeign = active.capabilities !== undefined && isForeign(active.capabilities)
      if (isByForeign) ports.onAsk()
      // Once the program is gone, an approval is kept until it makes the same call again.
      const canResume = question.subject.hash !== undefined && active.capabilities?.resume !== 'none'
      return waitManager.ask({
        wait: { id: newId(), ...question, ...(isByForeign ? { resumable: canResume } : {}) },
        call,
        origin,
        isForeign: isByForeign,
        ...(state === undefined ? {} : { state }),
      })
    },
    lastQuestion: (call, waitId) => lastQuestion(options.store, log.stream, { runId, call, waitId }),
    around: (call, work) => active.spans?.tool(call, work) ?? work(),
  })
  return {
    signal: abort.signal,
    now: options.now ?? Date.now,
    // Failures caused by a cancel are not worth a warning.
    log: (level, message, context) => {
      if ((level === 'warn' || level === 'error') && !abort.signal.aborted) warn(message, context)
    },
    warn,
    // `syncedTo`: the agent knows everything up to here; what others say later is handed over to it.
    bind: (binding) => {
      if (active.isDetached) return
      log.add({ type: 'binding.changed', binding: { ...binding, syncedTo: log.state.head.seq } }, origin)
    },
    noteProcess: async (process) => {
      if (active.isDetached || recorder.outcome !== undefined) throw turnOver()
      await log.commit([{ type: 'turn.process', turnId, process }], origin)
    },
    noteActivity: (activity) => {
      const data = asJson({ activity }) as JsonObject
      if (!active.isDetached) log.add({ type: 'note', kind: 'info', text: activity.mapper, data }, origin)
    },
    noteLimit: (limit) => {
      if (active.isDetached || recorder.outcome !== undefined) return
      log.add(limitNote(agentId, limit), origin)
      const { now = Date.now } = options
      if (limit.status === 'reached' && (limit.resetsAt ?? 0) > now()) active.limit = limit
      else if (active.limit?.name === limit.name) active.limit = undefined
    },
    remind: async (text) => {
      assertGoesOn()
      const part = { id: '0', type: 'signal', kind: 'system_reminder', text, data: {} } as const
      await log.commit([{ type: 'message.added', messageId: newId(), role: 'user', parts: [part] }], origin)
    },
    handover: { maxTokens: options.handoverTokens ?? DEFAULT_HANDOVER_TOKENS, countTokens: estimateTokenCount },
    noteHandover: (noted) => {
      if (!active.isDetached) log.add(handoverNote(agentId, noted), origin)
    },
    ask: async (wait) => {
      // A program that we close ourselves hears nothing: its waits may still be answered later.
      if (active.isDetached) return never()
      assertGoesOn()
      const { toolCallId } = wait.subject
      const call = toolCallId === undefined ? undefined : recorder.callAddress(toolCallId)
      ports.onAsk()
      // An id of our own: an answer is for one wait, and a program may reuse its ids.
      const id = newId()
      names.set(wait.id, id)
      const asked = bound({ ...wait, id }, active)
      const answer = await waitManager.ask({
        wait: active.calls?.asked(asked) ?? asked,
        origin,
        isForeign: true,
        ...(call === undefined ? {} : { call }),
      })
      // The answer may have come just before a cancel: what was approved is no longer wanted.
      if (active.isDetached) return never()
      assertGoesOn()
      if (asked.kind === 'approval' && answer.decision === 'approve') active.calls?.approved(asked)
      return answer
    },
    withdraw: async (waitId) => {
      // A closing program may withdraw its questions, but the waits stay; after a cancel the run's end closes them.
      if (active.isDetached || abort.signal.aborted) return
      // Nobody awaits this: if it cannot be written, the end of the run reports that.
      await mailbox.post(() => waitManager.withdraw(names.get(waitId) ?? waitId)).catch(() => undefined)
    },
    decide: (call) => decide(call),
    redact: (text) => log.redacted(text),
    history: (query) => hold.history.read(query),
    context: (request) => hold.context.context(request, origin),
    // After a cancel, steered messages stay in the queue: nobody would answer them.
    listen: () =>
      mailbox.post(async () => {
        // The same at a budget limit, which `check` turns into a cancel.
        if (steeredItems(log.state).length > 0) active.budget?.check()
        return !abort.signal.aborted && (await hear(hold, origin, newId))
      }),
    turn: async () => {
      const defaults = await setup.refresh()
      active.budget?.check()
      return defaults
    },
    listTools: () => setup.tools,
    callTool: async (call) => {
      assertGoesOn()
      return runner.run(call)
    },
  }
}

function handoverNote(agentId: string, noted: HandoverNote): RecordBody {
  const { messages, omitted = 0, tokens, truncated } = noted
  const older = omitted === 0 ? 'older ones were left out' : `${omitted} older ones were left out`
  const text = `${messages} messages of others were handed over${truncated ? `; ${older}` : ''}.`
  const data = { agentId, messages, tokens, truncated, ...(omitted === 0 ? {} : { omitted }) }
  return { type: 'note', kind: 'handover', text, data }
}

function limitNote(agentId: string, limit: AgentLimit): RecordBody {
  const { name, status, resetsAt } = limit
  const until = resetsAt === undefined ? '' : ` It starts anew at ${new Date(resetsAt).toISOString()}.`
  const text = status === 'ok' ? `Limit "${name}" is not reached.` : `Limit "${name}" is ${status}.${until}`
  return { type: 'note', kind: 'limit', text, data: { agentId, ...limit } }
}

export function decideCall(
  policy: ThreadPolicy,
  tools: readonly RunnableTool[],
  agentId: string,
  call: ToolCallRequest,
  isFromBefore = false,
): Decision {
  const tool = tools.find((candidate) => candidate.name === call.toolName)
  return policy.decide(describeCall(call, tool), agentId, tool, { isFromBefore })
}

/** Adds the category and origin of the tool, which rules use and the model does not know. */
export function describeCall(call: ToolCallRequest, tool: RunnableTool | undefined): ToolCallRequest {
  if (tool === undefined) return call
  return { ...call, ...(tool.category === undefined ? {} : { category: tool.category }), ...originOf(tool) }
}

/** Binds the wait to this very call by its hash, and says whether it can be answered after the program is gone. */
function bound(wait: WaitRequest, { agent, capabilities }: ActiveTurn): WaitRequest {
  const { args = {}, toolCallId = wait.id, toolName } = wait.subject
  const cwd = wait.payload?.['cwd']
  const call = { toolCallId, toolName: toolName ?? wait.kind, args, ...(typeof cwd === 'string' ? { cwd } : {}) }
  const hash = wait.subject.hash ?? callHash(agent.driver.id, call, undefined)
  const canResume = capabilities !== undefined && isForeign(capabilities) && capabilities.resume !== 'none'
  return { ...wait, subject: { ...wait.subject, hash }, resumable: wait.resumable !== false && canResume }
}

function never(): Promise<never> {
  return new Promise(() => undefined)
}

function turnOver(): InspanError {
  return new InspanError('closed', 'The turn is over.')
}

/** Moves steered messages into the conversation. Returns whether there were any. */
async function hear({ log }: ThreadHold, origin: { run: string; turn: string }, newId: () => string): Promise<boolean> {
  const items = steeredItems(log.state)
  if (items.length === 0) return false
  await log.commit(
    items.flatMap((item) => heardBodies(item, newId)),
    origin,
  )
  return true
}
