/**
 * A process that holds a thread until it is killed, for `ownership.test.ts`: prints "holding", then tries to write on
 * every line of standard input and prints the result. "leave" leaves the thread to others. Run as: node owner-child.fixture.ts <database> <thread>.
 */
import { createInterface } from 'node:readline'
import { InspanError } from '@inspan/protocol'
import { SqliteStore } from '@inspan/stores'
import { ProcessOwner } from './ownership.ts'
import { ThreadLog } from '../log/thread-log.ts'

const [url = '', thread = ''] = process.argv.slice(2)
const store = new SqliteStore({ url })
const owner = await ProcessOwner.register(store, { url: 'http://127.0.0.1:1' })
const log = await ThreadLog.open({ store, stream: thread, fence: await owner.claim(thread) })
console.log('holding')
for await (const line of createInterface({ input: process.stdin })) {
  try {
    if (line === 'leave') {
      owner.leaveBehind(thread)
      await owner.close()
      console.log('left')
      continue
    }
    await log.commit([{ type: 'config.changed', mode: line }])
    console.log('written')
  } catch (error) {
    console.log(InspanError.is(error) ? error.code : String(error))
  }
}
