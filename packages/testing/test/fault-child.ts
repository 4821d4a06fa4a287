import { writeSync } from 'node:fs'
import { faultPointsFromEnv } from '../src/fault-points.ts'

const points = faultPointsFromEnv()
for (let step = 1; step <= 5; step += 1) {
  writeSync(1, `before ${step}\n`)
  await points.reach('step', `number ${step}`)
  writeSync(1, `after ${step}\n`)
}
