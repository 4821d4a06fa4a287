import { antigravityDialect } from './antigravity/mapper.ts'
import { claudeCodeDialect } from './claude-code/mapper.ts'
import { clineDialect } from './cline/mapper.ts'
import { codexDialect } from './codex/mapper.ts'
import { gooseDialect } from './goose/mapper.ts'
import { kiloCodeDialect } from './kilo-code/mapper.ts'
import type { Dialect } from './kit/mapper.ts'
import { opencodeDialect } from './opencode/mapper.ts'
import { piDialect } from './pi/mapper.ts'

/** Every program whose output can be read, by the id its folder has. */
export const dialects: readonly Dialect[] = [
  antigravityDialect,
  claudeCodeDialect,
  clineDialect,
  codexDialect,
  gooseDialect,
  kiloCodeDialect,
  opencodeDialect,
  piDialect,
]
