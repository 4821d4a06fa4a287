import { antigravityHarness } from './antigravity/harness.ts'
import { claudeCodeHarness } from './claude-code/harness.ts'
import { clineHarness } from './cline/harness.ts'
import { codexHarness } from './codex/harness.ts'
import { gooseHarness } from './goose/harness.ts'
import { kiloCodeHarness } from './kilo-code/harness.ts'
import type { Harness } from './launch/harness.ts'
import { opencodeHarness } from './opencode/harness.ts'
import { piHarness } from './pi/harness.ts'

/** Every CLI that can be driven and whose output can be read. A new CLI has to be added here and nowhere else. */
export const harnesses: readonly Harness[] = [
  claudeCodeHarness,
  codexHarness,
  clineHarness,
  gooseHarness,
  kiloCodeHarness,
  opencodeHarness,
  piHarness,
  antigravityHarness,
]
