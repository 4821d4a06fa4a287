import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { AgentEvent } from '@inspan/protocol'
import type { ModelTurn } from '@inspan/testing'
import type { Ability } from './abilities.ts'
import type { Bench, ToolScenario } from './bench.ts'
import type { AbilityClaim } from './proofs.ts'

export const ONLY_AT_ITS_END =
  'It resumes only at the end of its session. Elsewhere a new session starts, and gets the conversation so far.'

/** One thing that every CLI has to do, in whatever way. */
export interface Scenario {
  readonly name: string
  readonly title: string
  /** Default: the ability with the scenario's name. */
  readonly proves?: Ability
  /** The scenario proves that a CLI cannot do this, and what happens instead. */
  readonly disproves?: Ability
  /** What the model says. Default: the CLI's own script for `scriptOf`, or for this scenario. */
  readonly script?: readonly ModelTurn[]
  readonly scriptOf?: ToolScenario
  readonly files?: Readonly<Record<string, string>>
  readonly play: (bench: Bench, t: TestContext) => Promise<AbilityClaim | void>
}

const LINES = Array.from({ length: 10 }, (_, n) => `line ${n + 1}`).join('\n')
const SKILL = '---\nname: greet\ndescription: How to greet\n---\nSay hello.\n'
/** The files in the working directory of a scenario. */
export const FILES: Readonly<Record<string, string>> = {
  'hello.txt': `${LINES}\n`,
  'src/app.js': 'export const answer = 41 // needle\n',
  '.agents/skills/greet/SKILL.md': SKILL,
  '.claude/skills/greet/SKILL.md': SKILL,
}

export function answered(events: readonly AgentEvent[]): string | undefined {
  const activity = events.flatMap((event) => event.activity?.events ?? [])
  return activity.flatMap((event) => (event.type === 'agent' ? [event.message] : [])).at(-1)
}

export function finishOf(events: readonly AgentEvent[]): Extract<AgentEvent, { type: 'finish' }> {
  const last = events.at(-1)
  assert.ok(last?.type === 'finish')
  return last
}

/** Checks the usage, according to the agent's capabilities. */
export async function assertUsage(
  bench: Bench,
  events: readonly AgentEvent[],
  { inputTokens, outputTokens }: { readonly inputTokens?: number; readonly outputTokens: number },
): Promise<void> {
  const { usage: counts } = await bench.agent().describe()
  const { usage } = finishOf(events)
  if (counts === 'none') {
    assert.equal(usage?.outputTokens, undefined)
    return
  }
  assert.equal(usage?.outputTokens, outputTokens)
  if (inputTokens !== undefined) assert.equal(usage?.inputTokens, inputTokens)
}

export function theError(events: readonly AgentEvent[]): string {
  const errors = events.flatMap((event) => (event.type === 'error' ? [event.error.message] : []))
  assert.equal(errors.length, 1, `one failure is one error: ${JSON.stringify(errors)}`)
  return errors[0] ?? ''
}
