import { approvalWaits, toolNameOf } from '../events/pending-waits.ts'
import type { SessionContext } from './session-context.ts'
import { answerApproval, type ToolApprovalResponse } from './suspensions.ts'

/** The oldest approval that waits: the one that a display with a single slot shows. */
export class SessionApproval {
  readonly #session: SessionContext

  constructor(session: SessionContext) {
    this.#session = session
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
    return answerApproval(this.#session, response)
  }

  /** Declines the approval; does nothing when none waits. */
  async cancel(): Promise<void> {
    if (this.isArmed()) await this.respond({ decision: 'decline' })
  }

  #oldest(): ReturnType<typeof approvalWaits>[number] | undefined {
    return approvalWaits(this.#session.binding.head?.waits ?? [])[0]
  }
}
