/** A program that only waits for an approval that nobody gives. Prints how its run ended. */
import { createTool } from '@inspan/agent'
import { AgentBench } from '../agent-bench.fixture.ts'

const deploy = createTool({ id: 'deploy', description: 'Deploys.', requireApproval: true, execute: () => 'out' })
const bench = await AgentBench.open([{ toolCalls: [{ name: 'deploy' }] }, { text: 'Not then.' }], {
  agent: { tools: { deploy } },
  runtime: { approvalTimeout: 300 },
})
console.log(await bench.play())
await bench[Symbol.asyncDispose]()
