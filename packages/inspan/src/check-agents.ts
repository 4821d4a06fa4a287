import type { DoctorRow } from '@inspan/adapters/reading'
import type { Terminal } from './command.ts'
import { Progress } from './progress.ts'

/** Finds out which coding agents can be used here. Each is started once for its version, so it may take a while. */
export async function checkAgents(terminal: Pick<Terminal, 'env' | 'isTty'>): Promise<readonly DoctorRow[]> {
  const { clis, doctor } = await import('@inspan/adapters/reading')
  using progress = new Progress(terminal)
  progress.show('Looking for coding agents …')
  // Waited for here: the line goes when this function is left.
  return await doctor(
    clis.map(({ profile }) => profile),
    terminal.env,
  )
}
