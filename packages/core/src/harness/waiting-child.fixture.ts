// Sends a message whose tool needs an approval that nobody gives.
import { scriptedModel } from '@inspan/testing'
import { Agent, createTool, Harness } from '../index.ts'

const look = createTool({ id: 'look', description: 'Looks it up.', execute: () => 'Ann is 7.' })
const model = scriptedModel([{ toolCalls: [{ name: 'look', input: { who: 'Ann' } }] }, { text: 'Done.' }])
const agent = new Agent({ id: 'me', model, tools: { look } })
const harness = new Harness({ id: 'waits', agent, modes: [{ id: 'chat' }] })
await harness.sendMessage({ content: 'Hi' })
