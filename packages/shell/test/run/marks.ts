import { spawnSync } from 'node:child_process'
import { limitProgram } from '../../src/run/mark.ts'

/**
 * Whether runs are marked here. The tests may be part of a run themselves, whose mark all that they start would keep: it is
 * taken off them.
 */
export const canMark: boolean =
  spawnSync(limitProgram, ['--pid', String(process.pid), '--locks=0:'], { stdio: 'ignore' }).status === 0
