/**
 * The process that `crash-matrix.test.ts` kills at every point in turn.
 * Run as: node crash-matrix-child.fixture.ts <play> <database> <journal>.
 */
import { writeSync } from 'node:fs'
import { faultPointsFromEnv } from '@inspan/testing'
import { PLAYS } from './crash-plays.fixture.ts'

const [play = '', url = '', journal = ''] = process.argv.slice(2)
if (play !== 'turn' && play !== 'floor') throw new Error(`There is no play "${play}".`)
await PLAYS[play]({ url, journal, faults: faultPointsFromEnv(), say: (line) => void writeSync(1, `${line}\n`) })
