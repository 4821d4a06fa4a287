import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { Ability } from './abilities.ts'
import {
  makeBench,
  makePlace,
  putFile,
  type RunFolders,
  type RealCli,
  type RealScript,
  type ToolScenario,
} from './bench.ts'
import { installedCli } from './clis.ts'
import { limitScenarios } from './limit-scenarios.ts'
import { assertNoPrivateDirs } from './no-leftovers.ts'
import { modeOf, proving, type AbilityClaim } from './proofs.ts'
import { providerScenarios } from './provider-scenarios.ts'
import { ONLY_AT_ITS_END, type Scenario } from './scenario.ts'
import { sessionScenarios } from './session-scenarios.ts'
import { INSTALL_MS, SIDE_BY_SIDE, TEST_MS } from './side-by-side.ts'
import { toolScenarios } from './tool-scenarios.ts'

const scenarios: readonly Scenario[] = [...toolScenarios, ...sessionScenarios, ...providerScenarios, ...limitScenarios]

/** Runs all scenarios with the pinned version of a CLI. */
export function testCli(cli: RealCli): void {
  const { title, npm } = cli.profile
  describe([title, npm?.version, cli.way].filter((word) => word !== undefined).join(' '), SIDE_BY_SIDE, () => {
    let bin = ''
    after(assertNoPrivateDirs)
    before(async () => void (bin = await installedCli(cli.profile)), { timeout: INSTALL_MS })
    for (const scenario of scenarios) {
      if (cli.unsupported?.[scenario.name] !== undefined) continue
      const body = proving(cli.profile, modeOf(cli), claimOf(cli, scenario), (t) => play(t, cli, bin, scenario))
      it(scenario.title, { timeout: TEST_MS }, body)
    }
  })
}

function claimOf(cli: RealCli, { name, proves, disproves }: Scenario): AbilityClaim {
  if (disproves !== undefined) {
    return { cannot: disproves, because: cli.unsupported?.[disproves] ?? ONLY_AT_ITS_END }
  }
  return { can: proves ?? (name as Ability), but: cli.notes?.[name] }
}

async function play(t: TestContext, cli: RealCli, bin: string, scenario: Scenario): Promise<AbilityClaim | void> {
  const place = await makePlace(t)
  const script = scriptFor(cli, scenario, place)
  const bench = await makeBench(t, cli, bin, place, script)
  for (const [name, content] of Object.entries(scenario.files ?? {})) await putFile(join(place.work, name), content)
  return scenario.play(bench, t)
}

function scriptFor(cli: RealCli, { name, script, scriptOf }: Scenario, place: RunFolders): RealScript {
  if (script !== undefined) return { turns: script }
  const own = cli.scripts[scriptOf ?? (name as ToolScenario)]
  assert.ok(
    own,
    `${cli.profile.title} needs a script for "${name}", or a reason in "unsupported" why it cannot do that`,
  )
  return thenDone(own(place))
}

function thenDone(script: RealScript): RealScript {
  return { ...script, turns: [...(script.turns ?? []), { text: 'Done.' }] }
}
