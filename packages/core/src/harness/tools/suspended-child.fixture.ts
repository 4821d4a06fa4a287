/**
 * The process that `suspended-crash.test.ts` kills. One step asks two questions, a plan and a request for access, and all
 * of them wait. It reports that on standard output and does not end. Run as: node suspended-child.fixture.ts <database>.
 */
import { writeSync } from 'node:fs'
import { SqliteStore } from '@inspan/stores'
import { ThreadBench } from '../signals/thread-bench.fixture.ts'
import { builtinTools } from './builtin-tools.ts'

const [url = ''] = process.argv.slice(2)
const bench = await ThreadBench.open({
  store: new SqliteStore({ url }),
  tools: (port) => builtinTools({ port, modes: { planTarget: () => 'build', switchMode: async () => undefined } }),
  script: [
    {
      toolCalls: [
        { id: 'c1', name: 'ask_user', input: { question: 'One?' } },
        { id: 'c2', name: 'ask_user', input: { question: 'Two?' } },
        { id: 'c3', name: 'submit_plan', input: { plan: 'Do it.' } },
        { id: 'c4', name: 'request_access', input: { path: '/there', reason: 'to look' } },
      ],
    },
  ],
})
await bench.say('Go.')
writeSync(1, `waiting ${bench.waits().length}\n`)
setInterval(() => undefined, 1_000)
