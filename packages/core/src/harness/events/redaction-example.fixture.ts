import { Agent, createTool, Harness, type Redactor } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'

const redact: Redactor = (text) => text.replace(/sk-\w+/g, '[key]')

const model = scriptedModel([
  { toolCalls: [{ id: 'c1', name: 'read_settings', input: { account: 'sk-1' } }] },
  { text: ['The key is ', 'sk-2', '.'] },
])
const readSettings = createTool({
  id: 'read_settings',
  description: 'Reads the settings.',
  execute: (input) => `asked with ${JSON.stringify(input)}, found sk-2`,
})
const harness = new Harness({
  id: 'careful',
  agent: new Agent({ id: 'reader', model, tools: [readSettings] }),
  modes: [{ id: 'work' }],
  permissions: { tools: { read_settings: 'allow' } },
  redact,
})

await harness.sendMessage({ content: 'My own is sk-0.' })
for (const { role, content } of await harness.session.thread.listActiveMessages()) {
  process.stdout.write(`${role}: ${JSON.stringify(content)}\n`)
}
const isTold = JSON.stringify(model.requests[1]).includes('found [key]')
process.stdout.write(`the model got what is kept: ${isTold}\n`)
await harness.destroy()
