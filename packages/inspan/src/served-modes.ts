import type { HarnessAgent, HarnessMode } from '@inspan/core'
import { didYouMean } from '@inspan/protocol/internal'
import { UsageError } from './command.ts'

export const CLI_IDS = ['claude-code', 'codex', 'cline', 'goose', 'kilo-code', 'opencode', 'pi', 'antigravity'] as const

export type CliId = (typeof CLI_IDS)[number]

/** Reads a value of `--harness`. */
export function cliId(given: string): CliId {
  const id = CLI_IDS.find((each) => each === given)
  if (id !== undefined) return id
  throw new UsageError(`there is no coding agent "${given}". ${didYouMean(given, CLI_IDS)}`)
}

/** Returns a mode for the model and one for each coding agent; without any, the demo agent. */
export async function modesOf(
  ids: readonly CliId[],
  model: string | undefined,
  { cwd }: { readonly cwd: string },
): Promise<HarnessMode[]> {
  const modes: HarnessMode[] = []
  if (model !== undefined) {
    const { Agent } = await import('@inspan/core')
    const { NATIVE } = await import('./native-id.ts')
    modes.push({ id: 'build', name: 'Build', agent: new Agent({ id: NATIVE, model }), defaultModelId: model })
  }
  for (const id of ids) modes.push({ id, name: id, agent: await foreignAgent(id, cwd) })
  if (modes.length > 0) return modes
  const { demoServed } = await import('./demo-served.ts')
  const description =
    'Its words are scripted, and it only looks into the folder. "--model" and "--harness" choose another agent.'
  return [{ id: 'demo', name: 'Demo', description, agent: demoServed(cwd) }]
}

async function foreignAgent(id: CliId, cwd: string): Promise<HarnessAgent> {
  const adapters = await import('@inspan/adapters')
  const make: Readonly<Record<CliId, (options: { cwd: string }) => HarnessAgent>> = {
    'claude-code': adapters.claudeCode,
    codex: adapters.codex,
    cline: adapters.cline,
    goose: adapters.goose,
    'kilo-code': adapters.kiloCode,
    opencode: adapters.opencode,
    pi: adapters.pi,
    antigravity: adapters.antigravity,
  }
  return make[id]({ cwd })
}
