import { setImmediate as nextTask } from 'node:timers/promises'
import { InspanError, type AgentEvent, type Part } from '@inspan/protocol'
import type { AgentSession, Capabilities, Host, ToolCallRequest, Turn, TurnDefaults } from '@inspan/protocol/driver'
import { unlessAborted } from '@inspan/protocol/internal'
import type { ThreadState } from '@inspan/protocol/log'
import { serveTools, type ServedAccess } from '@inspan/tools'
import { HostToolCalls } from '../calls/host-tool-calls.ts'
import { cancelSession, hasOpenCalls, isForeign, nextOf, type ActiveTurn } from './active-run.ts'
import { callHash } from '../calls/call-hash.ts'
import { checkedEvent } from '../checks/check-event.ts'
import { ForeignCalls } from '../calls/foreign-calls.ts'
import { originOf } from '../calls/runnable-tool.ts'
import { tokensOf, type RunSpending } from '../runs/run-spending.ts'
import { SeenCalls } from '../calls/seen-calls.ts'
import type { ThreadLog } from '../log/thread-log.ts'
import { turnSpans } from '../telemetry/turn-spans.ts'
import { TurnBudget } from './turn-budget.ts'
import { TurnFiles } from './turn-files.ts'
import { decideCall, turnHost, type TurnHostPorts } from './turn-host.ts'
import type { WarmSessions } from './warm-sessions.ts'

/** How long a stream may keep timers, sockets and aborts waiting. Twice this is the time of a fast timer. */
const YIELD_AFTER_MS = 2.5

export interface TurnDrive extends TurnHostPorts {
  readonly warm: WarmSessions
  /** Called when the run has reached a limit of its budget and has to end. */
  readonly onLimit: () => void
}

/** Runs the agent's turn and records its events. */
export async function driveTurn(active: ActiveTurn, drive: TurnDrive, input: readonly Part[]): Promise<void> {
  const { agent, attempt, runId, turnId } = active
  const { driver } = agent
  const { log } = drive.hold
  const { signal } = active.abort
  const [capabilities, defaults] = await unlessAborted(signal, setUp(active))
  const isOurs = !isForeign(capabilities)
  const { requestContext } = active.setup
  const spans = await turnSpans(
    {
      agentId: driver.id,
      agentName: agent.name ?? driver.id,
      threadId: log.stream,
      runId,
      turnId,
      isForeign: !isOurs,
      model: () => active.setup.defaults.model,
      redacted: (text) => log.redacted(text),
    },
    drive.options.tracing,
  )
  active.spans = spans
  if (!isOurs) {
    active.calls = foreignCalls(active, log)
    // Before it asks: what a program asks is decided without reading the store.
    await unlessAborted(signal, drive.policy.refresh())
  }
  const binding = log.state.head.bindings.get(driver.id) ?? null
  const files = turnFiles(active, drive)
  const host = turnHost(active, drive)
  const served = isOurs ? undefined : await serveHostTools(active, host)
  const turn: Turn = {
    ...defaults,
    ...(requestContext === undefined ? {} : { requestContext }),
    ...(isOurs ? {} : { rules: drive.policy.rulesInForce() }),
    ...(served === undefined ? {} : { toolServer: { url: served.url, token: served.token } }),
    turnId,
    runId,
    threadId: log.stream,
    input,
    ...(attempt === undefined ? {} : { resumed: resumed(attempt, active.spent, log.state) }),
  }
  let failure: unknown
  try {
    // A program cannot be held before its first change.
    if (!isOurs) await unlessAborted(signal, files?.baseline())
    const session = await (isOurs ? driver.open(binding, host) : drive.warm.open(driver, binding, host, drive.options))
    active.session = session
    active.opened.resolve(session)
    let isOver = false
    try {
      // A session that opens after a cancel must not start its turn.
      if (!signal.aborted) await pump(active, drive, session, turn)
      isOver = true
    } finally {
      if (isOurs) await session.close()
      // A program whose turn has failed may still be working.
      else if (active.isDetached || !isOver) await drive.warm.drop(driver.id, session)
      else drive.warm.rest(driver.id, log.state.head.bindings.get(driver.id) ?? null)
    }
  } catch (error) {
    failure = error
    throw error
  } finally {
    served?.revoke()
    await files?.end()
    spans?.end(failure)
  }
}

function turnFiles(active: ActiveTurn, { hold, options }: TurnDrive): TurnFiles | undefined {
  if (options.files === undefined) return undefined
  const { runId, turnId } = active
  const { log } = hold
  const turn = { thread: log.stream, runId, turnId, seq: log.state.head.seq }
  active.files = new TurnFiles(options.files, turn, (fact) => {
    // The run of a turn that was let go is somebody else's, or over.
    if (!active.isDetached) log.add(fact, { run: runId, turn: turnId })
  })
  return active.files
}

/** Serves the tools of the turn to an agent that takes MCP servers. `undefined` if there are none, or it takes none. */
async function serveHostTools(active: ActiveTurn, host: Host): Promise<ServedAccess | undefined> {
  if (active.capabilities?.hostTools !== 'mcp' || active.setup.tools.length === 0) return undefined
  const { recorder } = active
  const calls = new HostToolCalls({
    callTool: (call) => host.callTool(call),
    record: (event) => recorder.record(event),
    newId: () => crypto.randomUUID(),
  })
  active.hostTools = calls
  return serveTools({
    list: async () => {
      await host.turn()
      return host.listTools()
    },
    call: (call) => calls.call(call),
  })
}

function resumed(
  attempt: number,
  { lastStep, turnUsage }: RunSpending,
  { head }: ThreadState,
): NonNullable<Turn['resumed']> {
  return {
    attempt,
    usage: tokensOf(turnUsage),
    nextStep: (head.run?.step ?? -1) + 1,
    ...(lastStep === undefined ? {} : { step: lastStep }),
  }
}

async function setUp(active: ActiveTurn): Promise<[Capabilities, TurnDefaults]> {
  const capabilities = await active.agent.driver.describe()
  active.capabilities = capabilities
  return [capabilities, await active.setup.refresh()]
}

async function pump(active: ActiveTurn, drive: TurnDrive, session: AgentSession, turn: Turn): Promise<void> {
  const { recorder } = active
  const { waitManager } = drive.hold
  const check = violationCheck(active, drive)
  using budget = new TurnBudget(active, drive.hold.log, drive.onLimit)
  active.budget = budget
  if (budget.isUsedUp()) return
  const isOther = active.capabilities !== undefined && isForeign(active.capabilities)
  // An earlier process died after the last call, before the promised agent got the floor.
  if (active.attempt !== undefined && !isOther && isHandedOn(active, drive)) {
    void recorder.record({ type: 'finish', finishReason: 'stop' })
    return
  }
  let lastYield = performance.now()
  let isLeaving = false
  for await (const said of session.run(turn)) {
    if (active.isDetached) return
    const event = isOther ? checkedEvent(said) : withServer(checkedEvent(said), active)
    // After a hand-off: text that a program sends until it has stopped belongs to no answer.
    if (isLeaving && (event.type === 'text-delta' || event.type === 'reasoning-delta')) continue
    waitManager.goOn()
    active.spans?.observe(event)
    if (event.type === 'error') active.failure = event.error
    const written = recorder.record(event)
    if (written !== undefined) await written
    active.calls?.seen(event)
    active.hostTools?.seen(event)
    const violation = check?.(event)
    if (violation !== undefined) {
      cancelSession(session).catch(() => undefined)
      throw violation
    }
    // In our own loop an answer without calls is the last one, or the next step checks the budget.
    if (event.type === 'step-finish') {
      if (budget.isLimited && (isOther || hasOpenCalls(drive.hold.log.state))) budget.check()
    } else if (event.type === 'finish') await budget.checkEnd()
    // The call of a program may come after the question about it, and is then no work.
    if (event.type === 'tool-result' || (isOther && event.type === 'tool-call')) waitManager.parkIfWaiting(isOther)
    if (event.type === 'tool-result') {
      if (isHandedOn(active, drive)) {
        // Another agent has the floor now. A program has to be stopped, and reports itself when it has.
        if (!isOther) {
          void recorder.record({ type: 'finish', finishReason: 'stop' })
          return
        }
        cancelSession(session).catch(() => undefined)
        isLeaving = true
      }
    }
    if (performance.now() - lastYield > YIELD_AFTER_MS) {
      await nextTask()
      lastYield = performance.now()
    }
  }
  if (!recorder.isFinished && active.failure === undefined && !active.abort.signal.aborted)
    throw brokenOff(active.agent.driver.id)
}

/** Returns whether another agent has the floor next and every call has its result. */
function isHandedOn(active: ActiveTurn, { hold }: TurnDrive): boolean {
  const { state } = hold.log
  return nextOf(active, state) !== undefined && !hasOpenCalls(state)
}

/** Adds the server of the tool to an event: our own loop only knows tool names. */
function withServer(event: AgentEvent, { setup }: ActiveTurn): AgentEvent {
  if (event.type !== 'tool-call' && event.type !== 'tool-result') return event
  const tool = setup.tools.find(({ name }) => name === event.toolName)
  return tool?.serverName === undefined ? event : { ...event, ...originOf(tool) }
}

/** The error of a turn that ended without a `finish`. */
function brokenOff(agentId: string): InspanError {
  return new InspanError('io', `"${agentId}" ended its turn without a finish, and did not say why.`, {
    hint: 'What it said is kept. Ask it to go on, or look into its program.',
  })
}

/** Returns a check for denied calls: foreign agents run their tools themselves and are stopped if they run one. */
function violationCheck(
  active: ActiveTurn,
  { hold, policy }: TurnDrive,
): ((event: AgentEvent) => InspanError | undefined) | undefined {
  const { agent, capabilities, runId, setup, turnId } = active
  if (capabilities === undefined || !isForeign(capabilities)) return undefined
  const seen = new SeenCalls((call) => decideCall(policy, setup.tools, agent.driver.id, call))
  return (event) => {
    const violation = seen.violation(event)
    if (violation === undefined) return undefined
    const data = { agentId: agent.driver.id, ...('toolCallId' in event ? { toolCallId: event.toolCallId } : {}) }
    hold.log.add({ type: 'note', kind: 'policy-violation', text: violation, data }, { run: runId, turn: turnId })
    return new InspanError('policy-unsupported', `The run was stopped: ${violation}.`, { details: data })
  }
}

function foreignCalls({ agent, recorder, runId, setup, turnId }: ActiveTurn, log: ThreadLog): ForeignCalls {
  const hashOf = (call: ToolCallRequest): string => {
    const tool = setup.tools.find((candidate) => candidate.name === call.toolName)
    return callHash(agent.driver.id, call, tool)
  }
  return new ForeignCalls({ log, recorder, runId, turnId, hashOf })
}
