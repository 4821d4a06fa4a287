import type { AgentEvent } from './agent-event.ts'
import type { AgentDriver, Host, Turn } from './driver.ts'
import type { Binding } from './binding.ts'

/**
 * One turn of an agent for whoever keeps no session: opened, run to its end and closed. Whoever leaves the loop early
 * wants no more of it, so the turn is cancelled.
 */
export async function* streamTurn(
  driver: AgentDriver,
  turn: Turn,
  host: Host,
  binding: Binding | null = null,
): AsyncGenerator<AgentEvent, void> {
  const session = await driver.open(binding, host)
  let isOver = false
  try {
    for await (const event of session.run(turn)) {
      isOver = event.type === 'finish'
      yield event
    }
    isOver = true
  } finally {
    try {
      if (!isOver) await session.cancel()
    } finally {
      await session.close()
    }
  }
}
