import { isDeepStrictEqual } from 'node:util'
import {
  InspanError,
  toErrorData,
  type Answer,
  type CallState,
  type JsonObject,
  type Policy,
  type ToolCallPart,
  type WaitRequest,
} from '@inspan/protocol'
import type {
  Decision,
  FaultPoints,
  OnInterrupted,
  ToolCallRequest,
  ToolOutcome,
  ToolRunContext,
  ToolSuspension,
} from '@inspan/protocol/driver'
import { describeCall, unlessAborted } from '@inspan/protocol/internal'
import type { PartAddress } from '@inspan/protocol/log'
import { isByGrant } from '../../policy/fallback.ts'
import { isStricter } from '../../policy/strictness.ts'
import { callHash, definitionHash } from './call-hash.ts'
import { checkedOutcome } from '../checks/check-event.ts'
import { mayRepeat, type RunnableTool } from './runnable-tool.ts'
import type { ThreadLog } from '../log/thread-log.ts'
import { allowedPaths } from '../tools/allowed-paths.ts'
import type { AskedQuestion } from '../waits/answered-waits.ts'
import type { TurnRecorder } from '../turns/turn-recorder.ts'

/** Without its id, which is assigned when it is recorded. */
type Unnamed<T extends { readonly id: string }> = Omit<T, 'id'>

export interface CallRunnerOptions {
  /** Keeps the files of the turn, where that is wanted. */
  readonly files?: { baseline(): Promise<void>; keep(path: string): Promise<void> }
  readonly log: ThreadLog
  readonly recorder: TurnRecorder
  readonly runId: string
  readonly turnId: string
  readonly agentId: string
  readonly requestContext?: JsonObject
  readonly tools: readonly RunnableTool[] | (() => readonly RunnableTool[])
  readonly signal: AbortSignal
  readonly faults: FaultPoints
  readonly onInterrupted: OnInterrupted
  /** `isFromBefore`: the call was ordered from a process that died before starting it. */
  readonly decide: (call: ToolCallRequest, isFromBefore: boolean) => Decision
  /** Reads what is allowed for the resource by now. Returns whether that has changed. */
  readonly refreshGrants?: () => Promise<boolean>
  /** Waits for the answer to a question, and records the question first unless it is on record. */
  readonly ask: (question: Unnamed<WaitRequest>, call: PartAddress, state?: string) => Promise<Answer>
  /** Returns the last question the tool of a call asked itself. `waitId`: the call's last wait, maybe an approval. */
  readonly lastQuestion: (call: PartAddress, waitId: string) => Promise<AskedQuestion | undefined>
  /** Wraps the execution of a tool, for tracing. */
  readonly around?: (
    call: ToolCallRequest,
    work: () => Promise<ToolOutcome | ToolSuspension>,
  ) => Promise<ToolOutcome | ToolSuspension>
}

interface CallVerdict {
  /** What the rules said, even if somebody has approved the call. */
  readonly policy: Policy
  readonly refused?: string
}

/** What a tool that had asked something is resumed with. */
type Resumed = Pick<ToolRunContext, 'resume' | 'suspended' | 'state'>

/**
 * Carries out one tool call: decides by the rules, asks for approval where they say so, and records the start before
 * the effect. A call that an earlier process had started is in doubt. It is not repeated, unless that changes nothing
 * or somebody wants it.
 */
export class CallRunner {
  readonly #options: CallRunnerOptions

  constructor(options: CallRunnerOptions) {
    this.#options = options
  }

  async run(call: ToolCallRequest): Promise<ToolOutcome> {
    const { recorder, signal } = this.#options
    try {
      return await this.#run(call)
    } catch (error) {
      const isDoubtful = isBegun(this.#callOf(recorder.callAddress(call.toolCallId)))
      if (signal.aborted && !isDoubtful) recorder.noteOutcome(call.toolCallId, 'aborted')
      throw error
    }
  }

  async #run(call: ToolCallRequest): Promise<ToolOutcome> {
    const { recorder, tools } = this.#options
    const offered = typeof tools === 'function' ? tools() : tools
    const tool = offered.find((candidate) => candidate.name === call.toolName)
    const address = recorder.callAddress(call.toolCallId)
    const begun = this.#callOf(address)
    const isInterrupted = isBegun(begun)
    if (tool === undefined || address === undefined) {
      const missing = `There is no tool named "${call.toolName}". ${toolsThereAre(offered)}`
      return isInterrupted ? this.#end(call, 'in-doubt', inDoubt(missing)) : { result: missing, isError: true }
    }
    if (this.#callPart(address)?.meta?.redacted === true && !recorder.hasArguments(call.toolCallId)) {
      // The recorded arguments are not those that were ordered and must not be used.
      return isInterrupted ? this.#end(call, 'in-doubt', inDoubt(REDACTED)) : this.#end(call, 'aborted', REDACTED)
    }
    if (isInterrupted) {
      // Noted first: nobody may ever answer whether to repeat the call.
      recorder.noteOutcome(call.toolCallId, 'in-doubt')
      const unwanted = await this.#wantedAgain(call, tool, address)
      if (unwanted !== undefined) return this.#end(call, 'in-doubt', inDoubt(unwanted))
      recorder.forgetOutcome(call.toolCallId)
    } else if (begun?.stage === 'ordered') {
      const wrong = await this.#unlessAborted(tool.checkInput?.(call.args))
      if (wrong !== undefined)
        return { result: `The input is not valid, so the tool was not run: ${wrong}`, isError: true }
    }
    await this.#hearAnswer(address)
    for (let attempt = (begun?.attempt ?? 0) + 1; ; attempt++) {
      // Decided before every attempt: rules may have changed while a tool waited for its answer.
      const verdict = await this.#judge(call, tool, address)
      if (verdict.refused !== undefined) {
        const { refused } = verdict
        return isInterrupted ? this.#end(call, 'in-doubt', inDoubt(refused)) : this.#end(call, 'denied', refused)
      }
      const resumed = await this.#begin(call, tool, address, attempt)
      // And after the start was written: rules may have changed then too, and nothing has happened yet.
      if (isStricter(this.#decide(call, tool).policy, verdict.policy)) continue
      const outcome = await this.#carryOut(call, tool, resumed)
      if (!('suspend' in outcome)) return outcome
      await this.#options.ask(questionOf(call, this.#options.agentId, outcome), address, outcome.suspend.state)
    }
  }

  /** Returns `undefined` if an interrupted call is to be repeated, else why not, which may be an empty text. */
  async #wantedAgain(call: ToolCallRequest, tool: RunnableTool, address: PartAddress): Promise<string | undefined> {
    const { agentId, ask, onInterrupted } = this.#options
    const wish = tool.onInterrupted ?? (mayRepeat(tool) ? 'retry' : onInterrupted)
    const isAsked = this.#callOf(address)?.interrupted === true
    if (wish === 'retry' && !isAsked) return undefined
    if (wish === 'report' && !isAsked) return ''
    const hash = callHash(agentId, call, tool)
    for (;;) {
      const decision = this.#decide(call, tool)
      if (decision.policy === 'deny') return `It is denied by now: ${decision.reason}.`
      const answer = answerAbout(this.#callOf(address), hash)
      if (answer?.decision === 'decline') return `It is not made again${because(answer.reason)}.`
      if (answer !== undefined) return undefined
      const given = await this.#unlessAborted(tool.preconditions?.(call.args))
      await ask({ ...approvalOf(call, agentId, hash, AGAIN, given), interrupted: true }, address)
    }
  }

  /** Waits for the answer to a question that the tool asked in an earlier process. */
  async #hearAnswer(address: PartAddress): Promise<void> {
    const { ask, log } = this.#options
    const waiting = this.#callOf(address)
    const wait = waiting?.waitId === undefined ? undefined : log.state.head.waits.get(waiting.waitId)
    if (wait !== undefined && wait.kind !== 'approval') await ask(wait, address)
  }

  /** Returns the policy under which the call may start, or the refusal for the model. */
  async #judge(call: ToolCallRequest, tool: RunnableTool, address: PartAddress): Promise<CallVerdict> {
    const { agentId, ask } = this.#options
    for (;;) {
      // Read again every time: what was approved may have changed since.
      const given = await this.#unlessAborted(tool.preconditions?.(call.args))
      const hash = callHash(agentId, call, tool)
      const decision = this.#decide(call, tool)
      const { policy } = decision
      if (policy === 'deny') return { policy, refused: `The call was denied: ${decision.reason}.` }
      const { answer, hash: answered, preconditions } = this.#callOf(address) ?? {}
      if (answer !== undefined && answered === hash && isDeepStrictEqual(preconditions, this.#asRecorded(given))) {
        return answer.decision === 'decline'
          ? { policy, refused: `The call was denied${because(answer.reason)}.` }
          : { policy }
      }
      if (policy === 'allow' && !isByGrant(decision)) return { policy }
      // Another thread of the resource, maybe in another process, may have got or lost an "always".
      if (await this.#unlessAborted(this.#options.refreshGrants?.())) continue
      if (policy === 'allow') return { policy }
      // Everything is decided again after the answer: a rule may have changed meanwhile.
      await ask(approvalOf(call, agentId, hash, decision, given), address)
    }
  }

  /** Decides by the rules. A tool may also require approval itself, unless a rule, a grant or yolo allows the call. */
  #decide(call: ToolCallRequest, tool: RunnableTool): Decision {
    const { decide, log, recorder } = this.#options
    const { attempt, stage } = this.#callOf(recorder.callAddress(call.toolCallId)) ?? {}
    const isFromBefore = stage === 'ordered' && attempt === undefined && !recorder.hasArguments(call.toolCallId)
    const decision = decide(call, isFromBefore)
    if (decision.policy !== 'allow' || decision.rule !== undefined || log.state.head.yolo) return decision
    const { requiresApproval } = tool
    const isWanted = typeof requiresApproval === 'function' ? requiresApproval(call.args) : requiresApproval === true
    return isWanted ? { policy: 'ask', reason: 'the tool wants to be approved' } : decision
  }

  /** Records the start of the call. Returns the answer the tool goes on with, if it had asked something. */
  async #begin(call: ToolCallRequest, tool: RunnableTool, address: PartAddress, attempt: number): Promise<Resumed> {
    const { agentId, faults, log, runId, turnId } = this.#options
    const { resume, waitId } = this.#callOf(address) ?? {}
    const isAnswered = resume !== undefined && waitId !== undefined
    const question = isAnswered ? await this.#unlessAborted(this.#options.lastQuestion(address, waitId)) : undefined
    const suspended = question?.wait.payload
    const state = question?.state
    this.#assertWanted(call)
    await log.commit(
      [
        {
          type: 'call.started',
          messageId: address.messageId,
          partId: address.partId,
          toolCallId: call.toolCallId,
          attempt,
          idempotencyKey: this.#keyOf(call),
          hash: callHash(agentId, call, tool),
          definition: definitionHash(tool),
        },
      ],
      { run: runId, turn: turnId },
    )
    await faults.reach('tool.before', call.toolName)
    // The run may have been cancelled during the write: nothing may happen any more.
    this.#assertWanted(call)
    return {
      ...(resume === undefined ? {} : { resume }),
      ...(suspended === undefined ? {} : { suspended }),
      ...(state === undefined ? {} : { state }),
    }
  }

  #keyOf({ toolCallId }: ToolCallRequest): string {
    return `${this.#options.runId}:${toolCallId}`
  }

  async #carryOut(call: ToolCallRequest, tool: RunnableTool, resumed: Resumed): Promise<ToolOutcome | ToolSuspension> {
    const { agentId, around, faults, files, log, recorder, requestContext, runId, signal, turnId } = this.#options
    const { toolCallId, toolName } = call
    const origin = { run: runId, turn: turnId }
    let isOver = false
    try {
      const work = (): Promise<ToolOutcome | ToolSuspension> =>
        // A copy, because a tool may change its input.
        tool.execute(structuredClone(call.args), {
          signal,
          idempotencyKey: this.#keyOf(call),
          toolCallId,
          runId,
          turnId,
          threadId: log.stream,
          agentId,
          ...(requestContext === undefined ? {} : { requestContext }),
          ...resumed,
          allowedPaths: allowedPaths(log.state.head),
          ...(files === undefined ? {} : { keepFile: (path: string) => files.keep(path) }),
          warn: (text) => {
            if (!isOver) log.add({ type: 'note', kind: 'warning', text, data: { toolCallId } }, origin)
          },
          progress: (output, stream) => {
            if (isOver || signal.aborted) return
            const meta = stream === undefined ? {} : { meta: { stream } }
            void recorder.record({ type: 'tool-progress', toolCallId, toolName, output, ...meta })
          },
        })
      if (mayChangeFiles(tool)) await this.#unlessAborted(files?.baseline())
      const outcome = await this.#unlessAborted(around === undefined ? work() : around(call, work))
      return 'suspend' in outcome ? outcome : checkedOutcome(outcome, toolName)
    } catch (error) {
      this.#assertWanted(call)
      const data = toErrorData(error)
      return { result: data.message, isError: true, error: data }
    } finally {
      // Later warnings and progress would be about a call that is over.
      isOver = true
      await faults.reach('tool.after', toolName)
    }
  }

  /** Throws if the run was cancelled or the turn is over: the call then has no result. */
  #assertWanted({ toolCallId }: ToolCallRequest): void {
    const { recorder, signal } = this.#options
    if (!signal.aborted && recorder.outcome === undefined) return
    recorder.noteOutcome(toolCallId, 'aborted')
    throw new InspanError('closed', 'The call was aborted.')
  }

  /** Rejects on a cancel: a tool that ignores its signal must not keep a cancelled run from ending. */
  #unlessAborted<T>(work: T | PromiseLike<T>): Promise<Awaited<T>> {
    return unlessAborted(this.#options.signal, work)
  }

  #end(call: ToolCallRequest, outcome: 'denied' | 'in-doubt' | 'aborted', result: string): ToolOutcome {
    this.#options.recorder.noteOutcome(call.toolCallId, outcome)
    return { result, isError: true }
  }

  #asRecorded(given: JsonObject | undefined): JsonObject | undefined {
    return given === undefined ? undefined : this.#options.log.redacted(given)
  }

  #callOf(address: PartAddress | undefined): CallState | undefined {
    return address === undefined ? undefined : this.#callPart(address)?.call
  }

  #callPart(address: PartAddress): ToolCallPart | undefined {
    const { messages } = this.#options.log.state
    const message = messages.at(messages.findLastIndex((each) => each.id === address.messageId))
    const part = message?.parts.at(Number(address.partId))
    return part?.type === 'tool-call' ? part : undefined
  }
}

/** Built-in tools only ask or take notes. Tools that name the files they change need no look at the whole folder. */
function mayChangeFiles({ annotations, category, keepsFiles, serverName }: RunnableTool): boolean {
  if (keepsFiles === true || category === 'read' || category === 'other') return false
  return serverName !== undefined || annotations?.readOnlyHint !== true
}

const IN_DOUBT = 'The call was interrupted and its outcome is unknown. Check what happened before doing it again.'

const REDACTED =
  'The call cannot be carried out: its arguments were redacted on record, and the process that knew them is gone. ' +
  'Make it again if it is still wanted.'

const MAX_NAMES = 30

/** A name that is nearly right is how a call of a tool that is not there mostly comes about. */
function toolsThereAre(tools: readonly RunnableTool[]): string {
  if (tools.length === 0) return 'There are none.'
  const names = tools.slice(0, MAX_NAMES).map(({ name }) => name)
  const more = tools.length > MAX_NAMES ? ` and ${tools.length - MAX_NAMES} more` : ''
  return `There are: ${names.join(', ')}${more}.`
}

function inDoubt(more: string): string {
  return more === '' ? IN_DOUBT : `${IN_DOUBT} ${more}`
}

/** Whether the call was started before, so that its effect is unknown. */
function isBegun(call: CallState | undefined): boolean {
  return call?.stage === 'started' || call?.interrupted === true
}

const AGAIN: Decision = {
  policy: 'ask',
  reason: 'it was interrupted, and nobody knows whether it had its effect. Is it to be made again?',
}

/** Returns the answer to whether an interrupted call is to be repeated. */
function answerAbout(call: CallState | undefined, hash: string): Answer | undefined {
  return call?.interrupted === true && call.hash === hash ? call.answer : undefined
}

function approvalOf(
  call: ToolCallRequest,
  agentId: string,
  hash: string,
  decision: Decision,
  preconditions: JsonObject | undefined,
): Unnamed<WaitRequest> {
  return {
    kind: 'approval',
    subject: { agentId, toolCallId: call.toolCallId, toolName: call.toolName, args: call.args, hash },
    description: `${describeCall(call.toolName, call.args)} (${decision.reason})`,
    ...(preconditions === undefined ? {} : { preconditions }),
  }
}

function questionOf(call: ToolCallRequest, agentId: string, { suspend }: ToolSuspension): Unnamed<WaitRequest> {
  const { kind, description, payload, answerSchema, resumable } = suspend
  return {
    kind,
    subject: { agentId, toolCallId: call.toolCallId, toolName: call.toolName, args: call.args },
    description,
    ...(payload === undefined ? {} : { payload }),
    ...(answerSchema === undefined ? {} : { answerSchema }),
    ...(resumable === undefined ? {} : { resumable }),
  }
}

function because(reason: string | undefined): string {
  return reason === undefined ? '' : `: ${reason}`
}
