/**
 * The process that `killed-parent.test.ts` kills while a subagent works for its session. Prints a line when the subagent
 * has made its first call and its model hangs. Run as: node killed-parent.fixture.ts <database> <journal>.
 */
import { writeSync } from 'node:fs'
import { openHouse } from './killed-house.fixture.ts'

const [url = '', journal = ''] = process.argv.slice(2)
const { harness } = openHouse(url, journal, {
  parent: [{ toolCalls: [{ id: 'c1', name: 'subagent', input: { agentType: 'painter', task: 'Paint.' } }] }],
  worker: [{ toolCalls: [{ id: 'p', name: 'paint' }] }, { text: 'Half', hang: true }],
})
harness.subscribe((event) => {
  if (event.type === 'subagent_text_delta') writeSync(1, 'working\n')
})
void harness.sendMessage({ content: 'Go.', requestContext: { colour: 'red' } })
setInterval(() => undefined, 1_000)
