/** A program whose only tool needs an approval that nothing here gives. */
import { Agent, Harness, MemoryStore } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'

const model = scriptedModel([{ toolCalls: [{ id: 'c1', name: 'deploy', input: {} }] }, { text: 'Out.' }])
const deploy = { description: 'Deploys.', inputSchema: { type: 'object' }, execute: async () => 'out' }
const agent = new Agent({ id: 'me', model, tools: { deploy } })
const harness = new Harness({ id: 'nobody', agent, storage: new MemoryStore(), modes: [{ id: 'chat' }] })
await harness.sendMessage({ content: 'Go' })
