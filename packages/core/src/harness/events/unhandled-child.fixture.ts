// Asks a model whose key is missing. With "errors" as argument it handles error events.
import { Agent, Harness } from '../../index.ts'

const agent = new Agent({ id: 'me', model: 'anthropic/claude-sonnet-4-5' })
const harness = new Harness({ id: 'unheard', agent, modes: [{ id: 'chat' }] })
const isHandling = process.argv[2] === 'errors'
harness.subscribe((event) => {
  if (event.type === 'text') process.stdout.write(event.text)
  if (isHandling && event.type === 'error') console.error(`failed: ${event.error.message}`)
})
await harness.sendMessage({ content: 'Hi' })
await harness.destroy()
