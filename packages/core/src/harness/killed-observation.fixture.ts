/**
 * The process that is killed while its observer is at work. Run as: node killed-observation.fixture.ts <database>.
 */
import { writeSync } from 'node:fs'
import { SqliteStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { LONG, observing, openMemoryBench } from './memory-bench.fixture.ts'

const observer = scriptedModel([{ text: '', hang: true, repeat: true }])
const storage = new SqliteStore({ url: process.argv[2] ?? '' })
const { harness } = await openMemoryBench(observing(observer), { storage })
for (let turn = 0; turn < 3; turn++) await harness.sendMessage({ content: `${turn}: ${LONG}` })
while (observer.calls === 0) await new Promise((resolve) => setImmediate(resolve))
writeSync(1, 'observing\n')
setInterval(() => undefined, 1000)
