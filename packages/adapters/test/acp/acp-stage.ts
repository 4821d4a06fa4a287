import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { AgentEvent } from '@inspan/protocol'
import type { AgentDriver, Binding } from '@inspan/protocol/driver'
import { acp, type AcpOptions } from '../../src/acp/driver.ts'
import { scratch } from '../launch/stand-in.ts'
import { liveHost, type LiveHost } from '../live/live-host.ts'
import { openStage, type SessionStage } from '../live/session-contract.ts'
import { diaryOf } from '../live/stand-in-program.ts'
import { acpProgram } from './acp-program.ts'
import type { AcpStandInSetup } from './acp-stand-in.ts'

export interface AcpStage extends SessionStage {
  readonly driver: AgentDriver
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
  return { driver, ...(await openStage(t, dir, driver, { host, binding })) }
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
