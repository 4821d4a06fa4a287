/** Tools as other libraries make them, and what a session shows of their calls. Prints one JSON object. */
import { Agent, createPolicy, Harness, MemoryStore } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'
import { tool } from 'ai'
import { z } from 'zod'

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const weather = tool({
  description: 'Returns the weather.',
  inputSchema: z.object({ city: z.string() }),
  execute: async (input) => `sun in ${input.city}`,
})
const people = { description: 'Counts.', inputSchema: city, execute: async (input) => `many in ${input.city}` }
const model = scriptedModel([
  {
    toolCalls: [
      { id: 'c1', name: 'weather', input: { city: 'Rome' } },
      { id: 'c2', name: 'people', input: { city: 'Rome' } },
      { id: 'c3', name: 'people', input: { town: 'Rome' } },
      { id: 'c4', name: 'run', input: { command: 'rm a.txt' } },
    ],
  },
  { text: 'Done.' },
  { text: 'Done again.' },
])
const run = {
  description: 'Runs.',
  inputSchema: z.object({ command: z.string() }),
  execute: async ({ command }) => `ran ${command}`,
}
const agent = new Agent({ id: 'me', model, tools: { weather } })
const permissions = { tools: { weather: 'allow', people: 'allow', run: 'ask' } }
const harness = new Harness({
  id: 'tools',
  agent,
  storage: new MemoryStore(),
  tools: { people },
  modes: [{ id: 'chat', additionalTools: { run } }],
  permissions,
})
const [results, questions, homeless, sessions] = [{}, [], new Set(), new Set()]
harness.subscribe((event) => {
  sessions.add(event.sessionId)
  if (event.threadId === undefined || event.sessionId === undefined) homeless.add(event.type)
  if (event.type === 'tool_end') results[event.toolCallId] = [event.toolName, event.isError, event.result]
  if (event.type !== 'tool_approval_required') return
  questions.push(event.description)
  void harness.session.respondToToolApproval({ toolCallId: event.toolCallId, decision: 'approve' })
})
await harness.sendMessage({ content: 'Go' })
const second = await harness.createSession({ resourceId: 'somebody' })
await second.sendMessage({ content: 'Go on' })
const shown = JSON.stringify(harness.session.displayState.get())
const refusals = [
  { weather: 7 },
  { weather: { description: 'No schema.', inputSchema: 'text', execute: () => 1 } },
].map((tools) => {
  try {
    return new Agent({ id: 'other', model, tools }).id
  } catch (error) {
    return error.message
  }
})
const decided = createPolicy({ rules: permissions }).decide({ toolName: 'run', args: {} }, {})
const { inputSchema } = JSON.parse(model.requestBodies[0]).tools.find(({ name }) => name === 'weather')
console.log(
  JSON.stringify({
    results,
    questions,
    homeless: [...homeless],
    sessions: sessions.size,
    shown,
    refusals,
    policy: decided.policy,
    inputSchema,
  }),
)
await harness.destroy()
