import { NO_RULES, type PermissionRules } from '@evener/protocol'
import type { Mailbox } from '../../engine/threads/mailbox.ts'
import { effectiveRules } from '../../policy/effective-rules.ts'
import type { HarnessCore } from '../harness-core.ts'
import type { SessionBinding } from './session-binding.ts'
import type { KeepWithSession } from './session-log.ts'

type ChangeRules = (rules: PermissionRules) => PermissionRules

export interface SessionRulesParts {
  readonly core: HarnessCore
  readonly binding: SessionBinding
  readonly keep: KeepWithSession
  /** Those in which the session goes from thread to thread, so that it is clear which one a rule is written to. */
  readonly turns: Mailbox
  /** As an earlier process left them. */
  readonly kept: PermissionRules | undefined
}

/** What a session itself has said, and where it has yet to be written down. */
export class SessionRules {
  readonly #parts: SessionRulesParts
  #rules: PermissionRules
  /** Set while there was no thread to write them to. */
  #unwritten: PermissionRules = NO_RULES

  constructor(parts: SessionRulesParts) {
    this.#parts = parts
    this.#rules = parts.kept ?? NO_RULES
  }

  get own(): PermissionRules {
    return this.#rules
  }

  /** The rules of a thread with what the session has to write there; `isNew`: with all that holds in it. */
  forThread(rules: PermissionRules, { isNew }: { readonly isNew: boolean }): PermissionRules {
    return effectiveRules({ session: isNew ? this.#rules : this.#unwritten, thread: rules })
  }

  /** A thread has got them. */
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
