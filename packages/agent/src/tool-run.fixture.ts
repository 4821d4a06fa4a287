import type { ToolRunContext } from '@inspan/protocol/driver'

/** The context of a call, for tests of tools. */
export function aToolRun(more: Partial<ToolRunContext> & Pick<ToolRunContext, 'progress'>): ToolRunContext {
  return {
    signal: new AbortController().signal,
    idempotencyKey: 'run:call',
    toolCallId: 'call',
    runId: 'run',
    turnId: 'turn',
    threadId: 'thread',
    agentId: 'agent',
    ...more,
  }
}
