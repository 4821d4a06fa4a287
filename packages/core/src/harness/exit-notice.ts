/** What a session waits for, one line each. */
type Waiting = () => readonly string[]

const waitingOf = new Set<Waiting>()

/**
 * Reports on stderr, once, if the process is about to end only because nobody answers. Without it Node would end with
 * "unsettled top-level await", or without a word. Returns a function that ends the watch.
 */
export function noticeAtExit(waiting: Waiting): () => void {
  if (waitingOf.size === 0) process.on('beforeExit', report)
  waitingOf.add(waiting)
  return () => {
    waitingOf.delete(waiting)
    if (waitingOf.size === 0) process.off('beforeExit', report)
  }
}

function report(): void {
  const lines = [...waitingOf].flatMap((waiting) => waiting())
  if (lines.length === 0) return
  process.off('beforeExit', report)
  waitingOf.clear()
  process.stderr.write(
    [
      'This program ends because nothing is left to do but wait for an answer that nobody gives:',
      ...lines.map((line) => `  - ${line}`),
      'Answer in a listener (`tool_approval_required`: session.respondToToolApproval({ toolCallId, decision: "approve" }),',
      '`tool_suspended`: session.respondToToolSuspension({ toolCallId, resumeData })), or allow the call with `permissions`.',
      '',
    ].join('\n'),
  )
  // Set, so that Node does not add its own words about the unsettled promise.
  process.exitCode ??= 1
}
