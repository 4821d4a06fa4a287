import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { AgentEvent } from '@inspan/protocol'
import type { AgentDriver, AgentSession, Binding, Turn } from '@inspan/protocol/driver'
import { acp, type AcpOptions } from '../../src/acp/driver.ts'
import { aTurn } from '../launch/diary.ts'
import { scratch, survivors } from '../launch/stand-in.ts'
import { liveHost, take, type LiveHost, type Taking } from '../live/live-host.ts'
import { diaryOf } from '../live/stand-in-program.ts'
import { acpProgram } from './acp-program.ts'
import type { AcpStandInSetup } from './acp-stand-in.ts'

export interface AcpStage {
  readonly dir: string
  readonly host: LiveHost
  readonly driver: AgentDriver
  readonly session: AgentSession
  readonly run: (more?: Partial<Turn>) => Taking
}

export interface StageOptions extends Partial<AcpOptions> {
  readonly host?: LiveHost
  readonly binding?: Binding
  readonly agent?: AcpStandInSetup
}

/** A session with an agent that does in every turn what the body says. Nothing of it is left after the test. */
export async function stage(t: TestContext, body: string, options: StageOptions = {}): Promise<AcpStage> {
  const { host = liveHost(), binding = null, agent, ...rest } = options
  const dir = await scratch(t)
  const driver = acp({ command: await acpProgram(dir, body, agent), cwd: dir, title: 'Agent', ...rest })
  const session = await driver.open(binding, host.host)
  t.after(async () => {
    await session.close()
    assert.equal(await survivors(host), 0)
  })
  return { dir, host, driver, session, run: (more) => take(session.run({ ...aTurn, ...more }), host) }
}

export async function heard(dir: string): Promise<readonly string[]> {
  const records = (await diaryOf(dir, 'heard')) as readonly { readonly method?: string; readonly result?: object }[]
  return records.map(({ method, result }) => method ?? JSON.stringify(result))
}

export function errorOf(events: readonly AgentEvent[]): { readonly code?: string; readonly message: string } {
  const errors = events.filter((event) => event.type === 'error')
  assert.equal(errors.length, 1, 'one error')
  const [error] = errors
  assert.ok(error !== undefined)
  return { message: error.error.message, ...(error.code === undefined ? {} : { code: error.code }) }
}
