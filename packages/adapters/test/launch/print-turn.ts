import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { AgentEvent } from '@inspan/protocol'
import type { AgentDriver, Binding, Host, Turn } from '@inspan/protocol/driver'
import { printDriver, type PrintCliSpec, type PrintOptions } from '../../src/launch/print-driver.ts'
import { aTurn, diary, takeAll, type Diary } from './diary.ts'
import { program, scratch, standIn, survivors } from './stand-in.ts'

export interface PrintedTurn {
  readonly events: readonly AgentEvent[]
  readonly notes: Diary
  readonly dir: string
}

export interface PrintSetting {
  readonly options?: PrintOptions
  readonly spec?: Partial<PrintCliSpec>
  readonly host?: (dir: string) => Partial<Host>
  readonly binding?: Binding | undefined
}

/** One turn of a program, after which nothing may be left of it. */
export async function printTurn(t: TestContext, body: string, setting: PrintSetting = {}): Promise<PrintedTurn> {
  const { options, spec, host, binding } = setting
  const dir = await scratch(t)
  const notes = diary(host?.(dir))
  const driver = printDriver(standIn(spec), { bin: await program(dir, body), cwd: dir, ...options })
  return { events: await takeTurn(driver, notes, { binding: binding ?? null }), notes, dir }
}

/** One turn of a session that is closed afterwards. */
export async function takeTurn(
  driver: AgentDriver,
  notes: Diary,
  { binding = null, turn = {} }: { readonly binding?: Binding | null; readonly turn?: Partial<Turn> } = {},
): Promise<readonly AgentEvent[]> {
  const session = await driver.open(binding, notes.host)
  const events = await takeAll(session.run({ ...aTurn, ...turn }), notes)
  await session.close()
  assert.equal(events.filter(({ type }) => type === 'finish').length, 1)
  assert.equal(events.at(-1)?.type, 'finish')
  assert.equal(await survivors(notes), 0)
  return events
}

export const typesOf = (events: readonly AgentEvent[]): string[] => events.map(({ type }) => type)

export const textOf = (events: readonly AgentEvent[]): string =>
  events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : [])).join('')

export function finishOf(events: readonly AgentEvent[]): string | undefined {
  const last = events.at(-1)
  return last?.type === 'finish' ? last.finishReason : undefined
}

export function errorOf(events: readonly AgentEvent[]): {
  readonly code?: string | undefined
  readonly message: string
} {
  const errors = events.filter((event) => event.type === 'error')
  assert.equal(errors.length, 1, 'one failure is one error')
  const [error] = errors
  return { code: error?.code, message: error?.error.message ?? '' }
}

/** By their codes, or what they say. */
export const warningsOf = ({ activity }: Diary): string[] =>
  activity.flatMap((event) => (event.type === 'warning' ? [event.code ?? event.message] : []))

export const bindingOf = (more: Partial<Binding> = {}): Binding => ({
  agentId: 'stand-in',
  nativeId: 'native-1',
  syncedTo: 7,
  ...more,
})
