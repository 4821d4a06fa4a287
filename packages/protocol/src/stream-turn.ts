import type { AgentEvent } from './agent-event.ts'
import type { AgentDriver, Host, Turn } from './driver.ts'
import type { Binding } from './binding.ts'

/**
 * Runs one turn of an agent without keeping the session: opens it, runs the turn to its end and closes it. Leaving the
 * loop early cancels the turn.
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
