export type SignalResult = 'sent' | 'gone' | 'refused'

/** A negative pid addresses the group of that number. */
export function send(pid: number, signal: NodeJS.Signals | 0): SignalResult {
  try {
    process.kill(pid, signal)
    return 'sent'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH' ? 'gone' : 'refused'
  }
}
