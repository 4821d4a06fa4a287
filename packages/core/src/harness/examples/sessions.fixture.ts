import { Agent, Harness } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'

const model = scriptedModel([{ text: 'Yes?', repeat: true }])
const harness = new Harness({ id: 'service', agent: new Agent({ id: 'helper', model }), modes: [{ id: 'chat' }] })

const ada = await harness.createSession({ resourceId: 'ada', id: 'ada-web' })
const bob = await harness.createSession({ resourceId: 'bob' })
await Promise.all([ada.sendMessage({ content: 'Hi' }), bob.sendMessage({ content: 'Hello' })])
await ada.state.set({ theme: 'dark' })

for (const session of [ada, bob]) {
  const [first] = await session.thread.listActiveMessages()
  process.stdout.write(`${session.identity.getResourceId()}: ${JSON.stringify(first?.content)}\n`)
  process.stdout.write(`${JSON.stringify(session.state.get())}\n`)
}
await harness.destroy()
