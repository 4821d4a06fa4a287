import { Harness } from '@inspan/core'
import { parrot } from './parrot.ts'

const harness = new Harness({ id: 'custom-driver', agent: parrot(), modes: [{ id: 'talk' }] })
harness.subscribe((event) => {
  if (event.type === 'text') console.log(`parrot: ${event.text}`)
  if (event.type === 'agent_end') console.log(`run ended: ${event.reason}`)
})
await harness.sendMessage({ content: 'Polly wants a cracker.' })
await harness.destroy()
