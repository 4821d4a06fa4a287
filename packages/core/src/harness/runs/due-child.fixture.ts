/** A program that dies while its tool waits for an approval. Prints the thread's id once the wait is on disk. */
import { scriptedModel } from '@inspan/testing'
import { Agent, createTool, Harness, SqliteStore } from '../../index.ts'

const [url = ''] = process.argv.slice(2)
const deploy = createTool({ id: 'deploy', description: 'Deploys.', requireApproval: true, execute: () => 'out' })
const model = scriptedModel([{ toolCalls: [{ name: 'deploy', id: 'call-1' }] }])
const harness = new Harness({
  id: 'ops',
  storage: new SqliteStore({ url }),
  approvalTimeout: 1500,
  agent: new Agent({ id: 'me', model, tools: { deploy } }),
  modes: [{ id: 'chat' }],
})
harness.subscribe((event) => {
  if (event.type !== 'tool_approval_required') return
  process.stdout.write(`${harness.session.thread.getId() ?? ''}\n`, () => process.kill(process.pid, 'SIGKILL'))
})
await harness.sendMessage({ content: 'Deploy it.' })
