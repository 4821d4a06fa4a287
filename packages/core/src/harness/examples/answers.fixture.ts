import { Agent, createTool, Harness } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'

const model = scriptedModel([
  { toolCalls: [{ name: 'ask_user', input: { question: 'Which colour?' } }] },
  { toolCalls: [{ name: 'paint', input: { colour: 'red' } }] },
  { text: 'Painted.' },
])
const paint = createTool({
  id: 'paint',
  description: 'Paints the door.',
  category: 'edit',
  execute: () => 'the door is painted',
})
const harness = new Harness({
  id: 'painter',
  agent: new Agent({ id: 'painter', model, tools: { paint } }),
  modes: [{ id: 'work' }],
  permissions: { categories: { read: 'allow', edit: 'ask' } },
})
const { session } = harness

harness.subscribe((event) => {
  switch (event.type) {
    case 'tool_approval_required':
      process.stdout.write(`may it ${event.toolName} ${JSON.stringify(event.args)}?\n`)
      return session.respondToToolApproval({ decision: 'approve', toolCallId: event.toolCallId })
    case 'tool_end':
      process.stdout.write(`${JSON.stringify(event.result)}\n`)
      return
    default:
  }
})

// A tool that asks ends the run as suspended, and the promise resolves. The answer may come days later, from another process.
await harness.sendMessage({ content: 'Paint the door.' })
const [question] = session.suspensions.list()
process.stdout.write(`${JSON.stringify(question?.suspendPayload)}\n`)
await harness.respondToToolSuspension({ resumeData: 'red' })
await harness.destroy()
