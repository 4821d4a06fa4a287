import { randomUUID } from 'node:crypto'
import type { Answer, JsonObject, JsonValue, WaitKind } from '@inspan/protocol'
import { TOOL_SERVER_NAME, type Decision, type Host } from '@inspan/protocol/driver'
import { toFailure } from '../launch/run-failure.ts'
import { approvalWords } from './approval-words.ts'
import { mcpToolName } from '../launch/tool-kinds.ts'
import { canonicalCall, nativeCall, type NativeCall } from './tool-calls.ts'

/** The answer to a question of a CLI. It always holds once, for this call alone. */
export type Verdict =
  | { readonly isAllowed: true; readonly value?: JsonValue }
  | { readonly isAllowed: false; readonly reason: string }

/** A question that a CLI waits for. */
export interface Ask {
  /** The CLI's own id of the question. */
  readonly key: string
  readonly kind: WaitKind
  readonly call: NativeCall
  /** One line that describes the question to a person. An approval is described by its call instead. */
  readonly description: string
  /** What the agent or its model says about the call. Shown as such. */
  readonly said?: string
  /** What the call does is known only in the agent's own words: rules may deny it, but only a person can allow it. */
  readonly isOnlySaid?: boolean
  /** The rules decide although it is no approval: there are several ways to allow the call. */
  readonly isJudged?: boolean
  /** What a person has to see besides. */
  readonly payload?: JsonObject
  readonly answerSchema?: string
  /** The calls to judge by the rules instead of `call`, if there are any. */
  readonly parts?: readonly NativeCall[]
  /** Answers the CLI. Called at most once, and only while the CLI waits. */
  answer(verdict: Verdict): void
}

export interface AsksOptions {
  readonly host: Host
  readonly agentId: string
  /** The CLI has our tool server. Its calls are judged there, once. */
  readonly hasToolServer?: boolean
  /** Called with whether any question is open. */
  readonly onWaiting: (isWaiting: boolean) => void
  /** Called before a person is asked. */
  readonly onAsk: (ask: Ask) => void
  /** Called when an answer comes for a question that is no longer open. */
  readonly onLate: (ask: Ask) => void
}

function isOwnTool({ serverName, toolName }: NativeCall): boolean {
  return serverName === TOOL_SERVER_NAME || mcpToolName(toolName)?.server === TOOL_SERVER_NAME
}

const RANK: Readonly<Record<Decision['policy'], number>> = { allow: 0, ask: 1, deny: 2 }
const ONLY_SAID = 'these are the agent’s own words, the command itself was not sent'
const NOBODY: Verdict = { isAllowed: false, reason: 'Nobody could be asked.' }

/** The questions of one turn: decided by rules if possible, otherwise by a person. Nothing is allowed by default. */
export class Asks {
  readonly #options: AsksOptions
  readonly #open = new Map<string, Ask>()
  /** The ids of the open waits, by the CLI's own id of the question. */
  readonly #waits = new Map<string, string>()

  constructor(options: AsksOptions) {
    this.#options = options
  }

  /** Decides by the rules, which may name the tool as we do or as the CLI does. */
  judge(call: NativeCall): Decision {
    const { hasToolServer = false, host } = this.#options
    if (hasToolServer && isOwnTool(call)) return { policy: 'allow', reason: 'it is judged when it is made' }
    const ours = host.decide(canonicalCall(call))
    const theirs = nativeCall(call)
    return theirs === undefined ? ours : stricter(ours, host.decide(theirs))
  }

  /** Answers by rule at once, or when a person has answered. Never rejects. */
  async put(ask: Ask): Promise<void> {
    this.#open.set(ask.key, ask)
    this.#options.onWaiting(true)
    this.#settle(ask, await this.#verdict(ask))
  }

  /** Closes a question that the CLI no longer waits for. */
  withdraw(key: string): void {
    const waitId = this.#waits.get(key)
    this.#waits.delete(key)
    if (waitId !== undefined) void this.#options.host.withdraw(waitId)
    if (this.#open.delete(key)) this.#options.onWaiting(this.#open.size > 0)
  }

  /** Closes all questions, because the turn is over. */
  abandon(): void {
    for (const key of this.#open.keys()) this.withdraw(key)
  }

  #settle(ask: Ask, verdict: Verdict): void {
    if (this.#open.get(ask.key) !== ask) {
      this.#options.onLate(ask)
      return
    }
    this.withdraw(ask.key)
    ask.answer(verdict)
  }

  async #verdict(ask: Ask): Promise<Verdict> {
    const isJudged = ask.kind === 'approval' || ask.kind === 'access' || ask.isJudged === true
    try {
      const decided = isJudged ? this.#byRule(ask) : undefined
      // A choice between several ways is a person's, unless a rule says that the call is allowed.
      const isChoice = ask.isJudged === true && decided?.policy === 'allow' && decided.rule === undefined
      const isOpen = isChoice || (ask.isOnlySaid === true && decided?.policy === 'allow')
      const before = isOpen ? undefined : verdictBy(decided)
      if (before !== undefined) return before
      this.#options.onAsk(ask)
      const request = this.#request(ask, decided)
      this.#waits.set(ask.key, request.id)
      const verdict = verdictOf(await this.#options.host.ask(request))
      if (this.#waits.get(ask.key) === request.id) this.#waits.delete(ask.key)
      // A rule may have been added while the person was thinking.
      const after = isJudged && verdict.isAllowed ? verdictBy(this.#byRule(ask)) : undefined
      return after?.isAllowed === false ? after : verdict
    } catch (error) {
      // A question that was withdrawn needs no answer.
      if (this.#open.get(ask.key) === ask)
        this.#options.host.log('warn', `A question was not answered: ${toFailure(error).message}`)
      return NOBODY
    }
  }

  #byRule(ask: Ask): Decision {
    const { parts = [], call } = ask
    const [first = this.judge(call), ...others] = parts.map((part) => this.judge(part))
    return others.reduce((a, b) => (RANK[b.policy] > RANK[a.policy] ? b : a), first)
  }

  #request(ask: Ask, decided: Decision | undefined): Parameters<Host['ask']>[0] {
    const { kind, call, payload, answerSchema } = ask
    const canonical = canonicalCall(call)
    const { toolCallId, toolName, args } = canonical
    const words = kind === 'approval' ? approvalWords(canonical, ask.said) : ask.description
    const why = ask.isOnlySaid === true ? ONLY_SAID : decided?.reason
    // If no rule decided, the line would only say that no rule allows it.
    const isWorthALine = ask.isOnlySaid === true || decided?.rule !== undefined
    const description = why !== undefined && isWorthALine ? `${words}: ${why}` : words
    return {
      id: randomUUID(),
      kind,
      subject: { agentId: this.#options.agentId, toolCallId, toolName, args },
      description,
      payload: {
        ...payload,
        ...(why === undefined ? {} : { why }),
        ...(ask.said === undefined ? {} : { agentWords: ask.said }),
        native: { toolName: call.toolName, input: call.input },
        ...(call.cwd === undefined ? {} : { cwd: call.cwd }),
      },
      ...(answerSchema === undefined ? {} : { answerSchema }),
      // If we or the CLI crash, the CLI asks again after its session is resumed.
      resumable: true,
    }
  }
}

/** Returns `undefined` if a person has to be asked. */
function verdictBy(decided: Decision | undefined): Verdict | undefined {
  if (decided?.policy === 'deny') return { isAllowed: false, reason: decided.reason }
  return decided?.policy === 'allow' ? { isAllowed: true } : undefined
}

/** Returns the decision that counts: a deny always, otherwise a rule for the exact name before a default. */
function stricter(ours: Decision, theirs: Decision): Decision {
  const stricterOne = RANK[theirs.policy] > RANK[ours.policy] ? theirs : ours
  if (stricterOne.policy === 'deny' || (ours.rule === undefined) === (theirs.rule === undefined)) return stricterOne
  return ours.rule === undefined ? theirs : ours
}

function verdictOf({ decision, reason, value }: Answer): Verdict {
  if (decision === 'decline') return { isAllowed: false, reason: reason ?? 'It was declined.' }
  return { isAllowed: true, ...(value === undefined ? {} : { value }) }
}
