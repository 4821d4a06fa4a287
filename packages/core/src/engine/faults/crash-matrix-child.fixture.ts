/**
 * The process that `crash-matrix.test.ts` kills at every point in turn.
 * Run as: node crash-matrix-child.fixture.ts <database> <journal>.
 */
import { writeSync } from 'node:fs'
import { faultPointsFromEnv } from '@evener/testing'
import { liveTurn } from './crash-matrix.fixture.ts'

const [url = '', journal = ''] = process.argv.slice(2)
await liveTurn({ url, journal, faults: faultPointsFromEnv(), say: (line) => void writeSync(1, `${line}\n`) })
