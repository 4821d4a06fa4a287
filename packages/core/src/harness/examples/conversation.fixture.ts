import { Agent, Harness, SqliteStore } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'

const model = scriptedModel([{ text: ['Hello ', 'back.'], usage: { inputTokens: 12, outputTokens: 3 } }])
const storage = new SqliteStore({ url: ':memory:' })
const harness = new Harness({
  id: 'my-app',
  agent: new Agent({ id: 'assistant', model, instructions: 'Be brief.' }),
  storage,
  modes: [{ id: 'chat' }],
})

harness.subscribe((event) => {
  if (event.type === 'text') process.stdout.write(event.text)
  if (event.type === 'agent_end') process.stdout.write(`\nrun ended: ${event.reason}\n`)
})

await harness.init()
await harness.selectOrCreateThread()
await harness.sendMessage({ content: 'Hello!' })

const { tokenUsage } = harness.session.displayState.get()
process.stdout.write(`${tokenUsage.totalTokens} tokens\n`)
await harness.destroy()
await storage.close()
