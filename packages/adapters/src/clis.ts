import { antigravityCli } from './antigravity/cli.ts'
import { claudeCodeCli } from './claude-code/cli.ts'
import { clineCli } from './cline/cli.ts'
import { codexCli } from './codex/cli.ts'
import { gooseCli } from './goose/cli.ts'
import { kiloCodeCli } from './kilo-code/cli.ts'
import type { Cli } from './launch/cli.ts'
import { opencodeCli } from './opencode/cli.ts'
import { piCli } from './pi/cli.ts'

/** Every CLI that can be driven and whose output can be read. A new CLI has to be added here and nowhere else. */
export const clis: readonly Cli[] = [
  claudeCodeCli,
  codexCli,
  clineCli,
  gooseCli,
  kiloCodeCli,
  opencodeCli,
  piCli,
  antigravityCli,
]
