import { Agent, Harness } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'

const planner = scriptedModel([{ toolCalls: [{ name: 'submit_plan', input: { plan: '1. Write it.' } }] }])
const builder = scriptedModel([{ text: 'Written.' }])
const harness = new Harness({
  id: 'team',
  modes: [
    { id: 'plan', agent: new Agent({ id: 'planner', model: planner }), transitionsTo: 'build' },
    { id: 'build', agent: new Agent({ id: 'builder', model: builder }), instructions: 'Carry out the plan.' },
  ],
})

harness.subscribe((event) => {
  if (event.type === 'mode_changed') process.stdout.write(`${event.previousModeId} -> ${event.modeId}\n`)
  if (event.type === 'text') process.stdout.write(`${event.text.split('\n')[0]}\n`)
})

await harness.sendMessage({ content: 'Write a letter.' })
await harness.respondToToolSuspension({ resumeData: { action: 'approved' } })
process.stdout.write(`${harness.getCurrentAgent().id}\n`)
await harness.destroy()
