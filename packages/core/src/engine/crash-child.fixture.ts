/**
 * The process that `crash.test.ts` kills: streams an answer with a tool call into a database and says on standard output
 * what has been written. Run as: node crash-child.fixture.ts <database> <thread> <tool journal>.
 */
import { appendFileSync, writeSync } from 'node:fs'
import { nativeDriver } from '@evener/agent'
import { scriptedModel } from '@evener/testing'
import { SqliteStore } from '../stores/sqlite-store.ts'
import { ProcessOwner } from './ownership.ts'
import { closeInterruptedRun } from './recover.ts'
import { runTurn } from './run-turn.ts'
import type { RunnableTool } from './runnable-tool.ts'
import { ThreadLog } from './thread-log.ts'

const [url = '', thread = '', journal = ''] = process.argv.slice(2)
const say = (line: string): void => void writeSync(1, `${line}\n`)

const store = new SqliteStore({ url })
const owner = await ProcessOwner.register(store)
const log = await ThreadLog.open({ store, stream: thread, fence: await owner.claim(thread) })
await closeInterruptedRun(log)
log.onFrame((frame) => say(`written ${frame.seq}`))

const words = (name: string): string[] => Array.from({ length: 60 }, (_, i) => `${name}${i} `)
const touch: RunnableTool = {
  name: 'touch',
  inputSchema: { type: 'object' },
  execute: async (_input, { idempotencyKey }) => {
    appendFileSync(journal, `${idempotencyKey}\n`)
    return { result: 'touched' }
  },
}
const model = scriptedModel([
  { text: words('before'), toolCalls: [{ name: 'touch', input: { path: 'x' }, inputDeltas: 6 }], delayPerDeltaMs: 1 },
  { reasoning: words('thought'), text: words('after'), delayPerDeltaMs: 1 },
])
await runTurn({
  store,
  log,
  driver: nativeDriver({ id: 'native', model }),
  tools: [touch],
  input: [{ id: '0', type: 'text', text: 'Touch it.' }],
})
await log.close()
await owner.close()
await store.close()
say('done')
