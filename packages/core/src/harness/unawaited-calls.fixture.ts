/** Calls as on a page of examples, awaited by nobody, all of them wrong; prints what was told of them. */
import { Agent } from '@evener/agent'
import { scriptedModel } from '@evener/testing'
import { Harness } from './harness.ts'

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
await harness.sendMessage({ content: 'Go' })
await next(() => void harness.respondToToolSuspension({ resumeData: { not: 'an answer' } }), 1)
await next(() => void harness.setResourceId({ resourceId: 'other' }), 1)
// Behind everything: by now a rejection nobody looked at would have ended the process.
await new Promise((resolve) => setImmediate(resolve))
console.log(JSON.stringify(told))
await harness.destroy().catch(() => undefined)
