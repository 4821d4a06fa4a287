/**
 * Uses a harness in every way that holds resources, destroys it, and prints what is left. The process then has to end
 * by itself.
 */
import { registerTimers } from './timers.fixture.ts'

const timers = registerTimers()
const { Agent, createTool, Harness, SqliteStore } = await import('../../index.ts')
const { scriptedModel } = await import('@inspan/testing')
const { ForeignAgent, says } = await import('../../engine/foreign-agent.fixture.ts')
const { nextEvent } = await import('../harness.fixture.ts')

const listeners = (): string =>
  JSON.stringify(process.eventNames().map((name) => [String(name), process.listenerCount(name)]))

const [url = ''] = process.argv.slice(2)
const journal: string[] = []
const paint = createTool({ id: 'paint', description: 'Paints.', execute: () => 'painted' })
const storage = new SqliteStore({ url })
await storage.open()
const before = { resources: process.getActiveResourcesInfo().sort(), listeners: listeners() }
const model = scriptedModel([{ toolCalls: [{ name: 'paint' }] }, { text: 'Half', hang: true }])
const foreign = new ForeignAgent('foreign', [says('Hello.')])
const harness = new Harness({
  id: 'left',
  agent: new Agent({ id: 'agent', model }),
  storage,
  tools: { paint },
  modes: [{ id: 'own' }, { id: 'other', agent: foreign }],
  workspace: { init: () => void journal.push('workspace up'), destroy: () => void journal.push('workspace down') },
  heartbeatHandlers: [
    { id: 'beat', intervalMs: 10_000, handler: () => undefined, shutdown: () => void journal.push('beat down') },
  ],
  threadLock: { acquire: () => void journal.push('locked'), release: () => void journal.push('released') },
})

// One session waits for an approval, one is at work, one has an open native session, one has an id.
const [waiting, working, other] = [harness.session, await harness.createSession(), await harness.createSession()]
await harness.createSession({ id: 'named' })
const asked = nextEvent(waiting, 'tool_approval_required')
const promises = [waiting.sendMessage({ content: 'Paint.' })]
await asked
const begun = nextEvent(working, 'message_update')
promises.push(working.sendMessage({ content: 'Speak.' }))
await begun
await other.mode.switch({ modeId: 'other' })
await other.permissions.setYolo({ enabled: true })
await other.sendMessage({ content: 'Hi' })
const running = timers.running()

await harness.destroy()
await Promise.all(promises)
await new Promise(setImmediate)
const { items: owners } = await storage.listOwners({})
const { items: threads } = await storage.listThreads({ includeHidden: true })
const streams = await Promise.all(threads.map(({ id }) => storage.getStream(id)))
const { items: waits } = await storage.listWaits({ state: 'pending' })
const after = { resources: process.getActiveResourcesInfo().sort(), listeners: listeners() }
const left = {
  wereTimers: running > 0,
  timers: timers.running(),
  owners: owners.length,
  threads: threads.length,
  held: streams.filter((stream) => stream !== null && stream.owner !== null).length,
  waits: waits.length,
  programs: foreign.opened - foreign.closed,
  locks: journal.filter((line) => line === 'locked').length - journal.filter((line) => line === 'released').length,
  ended: journal.filter((line) => line.endsWith('down')),
  before,
  after,
}
// Not awaited: nothing else has to happen after it.
process.stdout.write(JSON.stringify(left))
await storage.close()
