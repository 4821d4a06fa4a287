import { randomUUID } from 'node:crypto'
import type { Answer, Decision, Host, JsonObject, JsonValue, WaitKind } from '@evener/protocol'
import { toFailure } from '../launch/run-failure.ts'
import { canonicalCall, nativeCall, type NativeCall } from './tool-calls.ts'

/** What the program is told. It is always said once, for this call alone. */
export type Verdict =
  | { readonly isAllowed: true; readonly value?: JsonValue }
  | { readonly isAllowed: false; readonly reason: string }

/** Something a program waits for. */
export interface Ask {
  /** The program's own id of the question. */
  readonly key: string
  readonly kind: WaitKind
  readonly call: NativeCall
  /** One line for a person. */
  readonly description: string
  /** What a person has to see besides. */
  readonly payload?: JsonObject
  readonly answerSchema?: string
  /** The calls that rules are to be asked about instead of the call itself, if there are any. */
  readonly parts?: readonly NativeCall[]
  /** Called at most once, and only while the program waits. */
  answer(verdict: Verdict): void
}

export interface AsksOptions {
  readonly host: Host
  readonly agentId: string
  /** Whether anybody is being waited for. */
  readonly onWaiting: (isWaiting: boolean) => void
  /** A person is going to be asked. */
  readonly onAsk: (ask: Ask) => void
  /** An answer came for a question that nobody asks any more. */
  readonly onLate: (ask: Ask) => void
}

const RANK: Readonly<Record<Decision['policy'], number>> = { allow: 0, ask: 1, deny: 2 }
const NOBODY: Verdict = { isAllowed: false, reason: 'Nobody could be asked.' }

/** The questions of one turn: decided by rules where they decide, else by a person. Nothing becomes "yes" by itself. */
export class Asks {
  readonly #options: AsksOptions
  readonly #open = new Map<string, Ask>()
  /** The waits of people who are being asked, by the program's own id of the question. */
  readonly #waits = new Map<string, string>()

  constructor(options: AsksOptions) {
    this.#options = options
  }

  /** What the rules say, whether they name the tool as we do or as the program does. */
  judge(call: NativeCall): Decision {
    const { host } = this.#options
    const ours = host.decide(canonicalCall(call))
    const theirs = nativeCall(call)
    return theirs === undefined ? ours : stricter(ours, host.decide(theirs))
  }

  /** Answers by rule at once, or when a person has. Never rejects. */
  async put(ask: Ask): Promise<void> {
    this.#open.set(ask.key, ask)
    this.#options.onWaiting(true)
    this.#settle(ask, await this.#verdict(ask))
  }

  /** The program does not wait for this any more. */
  withdraw(key: string): void {
    const waitId = this.#waits.get(key)
    this.#waits.delete(key)
    if (waitId !== undefined) void this.#options.host.withdraw?.(waitId)
    if (this.#open.delete(key)) this.#options.onWaiting(this.#open.size > 0)
  }

  /** The turn is over, and its questions with it. */
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
    const isJudged = ask.kind === 'approval' || ask.kind === 'access'
    try {
      const decided = isJudged ? this.#byRule(ask) : undefined
      const before = verdictBy(decided)
      if (before !== undefined) return before
      this.#options.onAsk(ask)
      const request = this.#request(ask, decided)
      this.#waits.set(ask.key, request.id)
      const verdict = verdictOf(await this.#options.host.ask(request))
      if (this.#waits.get(ask.key) === request.id) this.#waits.delete(ask.key)
      // A rule may have come into force while somebody was thinking.
      const after = isJudged && verdict.isAllowed ? verdictBy(this.#byRule(ask)) : undefined
      return after?.isAllowed === false ? after : verdict
    } catch (error) {
      // One that was taken back needs no answer.
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
    // That no rule allows it goes without saying.
    const description = decided?.rule === undefined ? ask.description : `${ask.description}: ${decided.reason}`
    const { toolCallId, toolName, args } = canonicalCall(call)
    return {
      id: randomUUID(),
      kind,
      subject: { agentId: this.#options.agentId, toolCallId, toolName, args },
      description,
      payload: {
        ...payload,
        native: { toolName: call.toolName, input: call.input },
        ...(call.cwd === undefined ? {} : { cwd: call.cwd }),
      },
      ...(answerSchema === undefined ? {} : { answerSchema }),
      // When we or the program have died, it asks again after its session was resumed.
      resumable: true,
    }
  }
}

/** `undefined` when somebody has to be asked. */
function verdictBy(decided: Decision | undefined): Verdict | undefined {
  if (decided?.policy === 'deny') return { isAllowed: false, reason: decided.reason }
  return decided?.policy === 'allow' ? { isAllowed: true } : undefined
}

/** A deny always counts. Apart from that a rule made for this very name says more than a default. */
function stricter(ours: Decision, theirs: Decision): Decision {
  const stricterOne = RANK[theirs.policy] > RANK[ours.policy] ? theirs : ours
  if (stricterOne.policy === 'deny' || (ours.rule === undefined) === (theirs.rule === undefined)) return stricterOne
  return ours.rule === undefined ? theirs : ours
}

function verdictOf({ decision, reason, value }: Answer): Verdict {
  if (decision === 'decline') return { isAllowed: false, reason: reason ?? 'It was declined.' }
  return { isAllowed: true, ...(value === undefined ? {} : { value }) }
}
