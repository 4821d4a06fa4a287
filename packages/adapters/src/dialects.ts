import { claudeCodeDialect } from './claude-code/mapper.ts'
import { codexDialect } from './codex/mapper.ts'
import type { Dialect } from './kit/mapper.ts'

/** Every program whose output can be read, by the id its folder has. */
export const dialects: readonly Dialect[] = [claudeCodeDialect, codexDialect]
