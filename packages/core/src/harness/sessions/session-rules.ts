import { NO_RULES, type PermissionRules } from '@inspan/protocol'
import { effectiveRules } from '../../policy/effective-rules.ts'
import type { SessionContext } from './session-context.ts'

type ChangeRules = (rules: PermissionRules) => PermissionRules

/** The session's own rules, and those not yet written to a thread. */
export class SessionRules {
  readonly #session: SessionContext
  #rules: PermissionRules
  /** Rules set while there was no thread to write them to. */
  #unwritten: PermissionRules = NO_RULES

  constructor(session: SessionContext) {
    this.#session = session
    this.#rules = session.log?.head.rules ?? NO_RULES
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
    const { core, turns } = this.#session
    const next = change(this.#rules)
    core.policy.check(next)
    this.#rules = next
    await Promise.all([this.#session.keep({ rules: next }), turns.post(() => this.#write(change))])
  }

  async #write(change: ChangeRules): Promise<void> {
    const { lastRuntime } = this.#session.binding
    if (lastRuntime === undefined) this.#unwritten = change(this.#unwritten)
    else await lastRuntime.configure({ rules: change(lastRuntime.state.head.rules) })
  }
}
