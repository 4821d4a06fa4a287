import { NO_RULES, type PermissionRules } from '@inspan/protocol'
import type { Mailbox } from '../../common/mailbox.ts'
import { effectiveRules } from '../../policy/effective-rules.ts'
import type { HarnessCore } from '../harness-core.ts'
import type { SessionBinding } from './session-binding.ts'
import type { KeepWithSession } from './session-log.ts'

type ChangeRules = (rules: PermissionRules) => PermissionRules

export interface SessionRulesParts {
  readonly core: HarnessCore
  readonly binding: SessionBinding
  readonly keep: KeepWithSession
  /**
   * Shared with the commands that change the session's thread, so that it is clear which thread a rule is written to.
   */
  readonly turns: Mailbox
  /** The rules recorded by an earlier process. */
  readonly kept: PermissionRules | undefined
}

/** The session's own rules, and those not yet written to a thread. */
export class SessionRules {
  readonly #parts: SessionRulesParts
  #rules: PermissionRules
  /** Rules set while there was no thread to write them to. */
  #unwritten: PermissionRules = NO_RULES

  constructor(parts: SessionRulesParts) {
    this.#parts = parts
    this.#rules = parts.kept ?? NO_RULES
  }

  get own(): PermissionRules {
    return this.#rules
  }

  /**
   * Returns the rules of a thread together with those the session has yet to write there. A new thread gets all of the
   * session's rules.
   */
  forThread(rules: PermissionRules, { isNew }: { readonly isNew: boolean }): PermissionRules {
    return effectiveRules({ session: isNew ? this.#rules : this.#unwritten, thread: rules })
  }

  /** Called when a thread has got the unwritten rules. */
  written(): void {
    this.#unwritten = NO_RULES
  }

  async change(change: ChangeRules): Promise<void> {
    const { core, keep, turns } = this.#parts
    const next = change(this.#rules)
    core.policy.check(next)
    this.#rules = next
    await Promise.all([keep({ rules: next }), turns.post(() => this.#write(change))])
  }

  async #write(change: ChangeRules): Promise<void> {
    const { lastRuntime } = this.#parts.binding
    if (lastRuntime === undefined) this.#unwritten = change(this.#unwritten)
    else await lastRuntime.configure({ rules: change(lastRuntime.state.head.rules) })
  }
}
