/**
 * The process that `killed-parent.test.ts` kills while three subagents work for its session, one of them in the
 * background. Prints a line when each has made its call and its model hangs. Run as:
 * node killed-parent.fixture.ts <database> <journal>.
 */
import { writeSync } from 'node:fs'
import { openHouse } from './killed-house.fixture.ts'

const [url = '', journal = ''] = process.argv.slice(2)
const paint = (id: string, more: object = {}): { id: string; name: string; input: Record<string, never> } => ({
  id,
  name: 'subagent',
  input: { agentType: 'painter', task: `Paint ${id}.`, ...more } as never,
})
const { harness } = openHouse(url, journal, {
  parent: [{ toolCalls: [paint('c1'), paint('c2'), paint('c3', { background: true })] }],
  worker: {
    turns: Array.from({ length: 6 }, () => (request: object) => {
      const isDone = JSON.stringify(request).includes('"tool-result"')
      return isDone ? { text: 'Half', hang: true } : { toolCalls: [{ id: 'p', name: 'paint' }] }
    }),
  },
})
const working = new Set<string>()
harness.subscribe((event) => {
  if (event.type !== 'subagent_text_delta') return
  working.add(event.toolCallId)
  if (working.size === 3) writeSync(1, 'working\n')
})
void harness.sendMessage({ content: 'Go.', requestContext: { colour: 'red' } })
setInterval(() => undefined, 1_000)
