/** Two agents on one thread: one plans, a person approves the plan, the other carries it out. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, Harness, Workspace } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'

const folder = await mkdtemp(join(tmpdir(), 'plan-and-build-'))
const plan = { title: 'A greeting', plan: '1. Write hello.txt.' }
const planner = new Agent({
  id: 'planner',
  instructions: 'Plan. Do not write files.',
  model: scriptedModel([{ toolCalls: [{ name: 'submit_plan', input: plan }] }]), // or claudeCode() of @inspan/adapters
})
const builder = new Agent({
  id: 'builder',
  instructions: 'Carry out the plan.',
  // or codex() of @inspan/adapters
  model: scriptedModel([
    { toolCalls: [{ name: 'write_file', input: { path: 'hello.txt', content: 'Hello from the builder.\n' } }] },
    { text: 'hello.txt is written.' },
  ]),
})

const harness = new Harness({
  id: 'plan-and-build',
  workspace: new Workspace({ root: folder }),
  permissions: { categories: { read: 'allow', edit: 'allow' } },
  modes: [
    { id: 'plan', agent: planner, transitionsTo: 'build' },
    { id: 'build', agent: builder },
  ],
})

harness.subscribe((event) => {
  if (event.type === 'mode_changed') console.log(`mode: ${event.previousModeId} -> ${event.modeId}`)
  if (event.type === 'tool_start') console.log(`tool: ${event.toolName}`)
  if (event.type === 'text') console.log(`${harness.getCurrentAgent().id}: ${event.text}`)
})

await harness.sendMessage({ content: 'Greet the reader in a file.' })
const [question] = harness.session.suspensions.list()
console.log(`plan: ${JSON.stringify(question?.suspendPayload)}`)
await harness.respondToToolSuspension({ resumeData: { action: 'approved' } })
console.log(`file: ${(await readFile(join(folder, 'hello.txt'), 'utf8')).trim()}`)
await harness.destroy()
await rm(folder, { recursive: true })
