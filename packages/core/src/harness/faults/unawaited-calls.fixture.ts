/** Makes wrong calls without awaiting them, as examples on a page do, and prints the events about them. */
import { Agent } from '@inspan/agent'
import { scriptedModel } from '@inspan/testing'
import { Harness } from '../harness.ts'

const model = scriptedModel([
  { toolCalls: [{ id: 'q1', name: 'ask_user', input: { question: 'Which?' } }] },
  { text: 'Thanks.' },
])
const harness = new Harness({
  id: 'unawaited',
  agent: new Agent({ id: 'agent', model }),
  modes: [{ id: 'chat' }],
  threadLock: {
    acquire: () => undefined,
    release: () => {
      throw new Error('The lock is stuck.')
    },
  },
})
const { session } = harness
const told: (string | undefined)[] = []
const next = (calls: () => void, count: number): Promise<void> =>
  new Promise((resolve) => {
    const until = told.length + count
    const stop = harness.subscribe((event) => {
      if (event.type !== 'error') return
      told.push(event.errorType ?? event.error.message)
      if (told.length < until) return
      stop()
      resolve()
    })
    calls()
  })

await next(() => {
  void harness.sendMessage({ content: '' })
  void harness.steer({ content: '' })
  void harness.followUp({ content: '' })
  void session.followUps.enqueue({ content: '' })
  void harness.respondToToolSuspension({ resumeData: 'Yes' })
  void session.respondToToolApproval({ decision: 'approve' })
  void session.grantCategory('bogus' as never)
}, 7)
const ABSENT = { threadId: 'nowhere' }
await next(() => {
  void session.mode.switch({ modeId: 'bogus' })
  void session.mode.set({ modeId: 'bogus' })
  void session.model.switch({ modelId: '' })
  void session.model.saveForMode({ modeId: 'bogus' })
  void session.state.set({ yolo: 'yes' })
  void session.state.update(() => {
    throw new Error('No.')
  })
  void session.permissions.setForTool({ toolName: '', policy: 'deny' })
  void session.permissions.setForCategory({ category: 'bogus' as never, policy: 'deny' })
  void session.permissions.setYolo({ enabled: 1 as never })
  void session.thread.switch(ABSENT)
  void session.thread.rename({ title: 'No thread has it' })
  void session.thread.delete(ABSENT)
  void session.thread.setSetting({ key: '', value: 1 })
  void harness.switchThread(ABSENT)
  void harness.renameThread({ title: 'No thread has it' })
  void harness.cloneThread()
  void harness.memory.deleteThread(ABSENT)
  void session.om.observer.switchModel({ modelId: '' })
  void session.subagents.model.set({ modelId: '' })
  void session.run.addScore({ name: 'tone', value: 1, source: 'me' })
  void harness.getCurrentAgent().setObjective('')
  harness.sendSignal({ type: 'wrong' } as never)
  void harness.sendNotificationSignal({} as never)
  void harness.createSession({ id: '' })
  void harness.registerHeartbeat({} as never)
}, 25)
await harness.sendMessage({ content: 'Go' })
await next(() => void harness.respondToToolSuspension({ resumeData: { not: 'an answer' } }), 1)
await next(() => void harness.setResourceId({ resourceId: 'other' }), 1)
// After everything else: by now an unhandled rejection would have ended the process.
await new Promise((resolve) => setImmediate(resolve))
console.log(JSON.stringify(told))
await harness.destroy().catch(() => undefined)
