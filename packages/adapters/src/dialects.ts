import { acpDialect } from './acp/mapper.ts'
import { antigravityDialect } from './antigravity/mapper.ts'
import { claudeCodeLiveDialect } from './claude-code/live-dialect.ts'
import { claudeCodeDialect } from './claude-code/mapper.ts'
import { clineAcpDialect } from './cline-acp/mapper.ts'
import { clineDialect } from './cline/mapper.ts'
import { codexAppServerDialect } from './codex-app-server/mapper.ts'
import { codexDialect } from './codex/mapper.ts'
import { gooseAcpDialect } from './goose-acp/mapper.ts'
import { gooseDialect } from './goose/mapper.ts'
import { kiloCodeAcpDialect } from './kilo-code-acp/mapper.ts'
import { kiloCodeDialect } from './kilo-code/mapper.ts'
import type { Dialect } from './kit/mapper.ts'
import { opencodeAcpDialect } from './opencode-acp/mapper.ts'
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

/** What programs say that are talked to while they run, as their recordings hold it. */
export const liveDialects: readonly Dialect[] = [
  acpDialect,
  claudeCodeLiveDialect,
  clineAcpDialect,
  codexAppServerDialect,
  gooseAcpDialect,
  kiloCodeAcpDialect,
  opencodeAcpDialect,
]
