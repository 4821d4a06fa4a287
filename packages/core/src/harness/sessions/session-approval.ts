import type { SessionBinding } from './session-binding.ts'
import { approvalWaits, toolNameOf } from '../events/pending-waits.ts'
import type { ToolApprovalResponse } from '../session.ts'

/** The oldest approval that waits: the one that a display with a single slot shows. */
export class SessionApproval {
  readonly #binding: SessionBinding
  readonly #respond: (response: ToolApprovalResponse) => Promise<void>

  constructor(binding: SessionBinding, respond: (response: ToolApprovalResponse) => Promise<void>) {
    this.#binding = binding
    this.#respond = respond
  }

  isArmed(): boolean {
    return this.#oldest() !== undefined
  }

  /** `null` when nothing waits for approval. */
  getToolName(): string | null {
    const oldest = this.#oldest()
    return oldest === undefined ? null : toolNameOf(oldest)
  }

  respond(response: ToolApprovalResponse): Promise<void> {
    return this.#respond(response)
  }

  /** Declines the approval; does nothing when none waits. */
  async cancel(): Promise<void> {
    if (this.isArmed()) await this.#respond({ decision: 'decline' })
  }

  #oldest(): ReturnType<typeof approvalWaits>[number] | undefined {
    return approvalWaits(this.#binding.head?.waits ?? [])[0]
  }
}
