/**
 * A process that runs a foreign agent in a thread, to be killed while the agent waits for an answer and started again. It
 * says what happens on its standard output and takes answers on its standard input.
 */
import { existsSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { NO_RULES, type WaitDecision } from '@inspan/protocol'
import { createThread, ProcessOwner, ThreadRuntime } from '../../src/engine/index.ts'
import { createPolicy, SqliteStore } from '../../src/index.ts'
import { programDriver, type ProgramId } from './program-driver.ts'

/** Everything such a process has to know. */
export interface HostSetup {
  readonly agent: ProgramId
  readonly bin: string
  readonly root: string
  readonly providerUrl: string
  /** A rule allows commands. */
  readonly isAllowed?: boolean
  /** Says its task also in a thread that there is already. */
  readonly isAgain?: boolean
}

export type HostCommand = { readonly waitId: string; readonly decision: WaitDecision; readonly reason: string }

const setup = JSON.parse(process.argv[2] ?? '{}') as HostSetup
const { agent, bin, isAgain = false, isAllowed = false, providerUrl, root } = setup
const say = (line: object): void => void writeSync(1, `${JSON.stringify(line)}\n`)
const driver = programDriver(agent, { bin, root, providerUrl, cwd: `${root}/work`, transport: 'live' })

const url = `${root}/data.db`
const isNew = !existsSync(url)
const store = new SqliteStore({ url })
if (isNew) await createThread(store, { id: 'thread', resourceId: 'test' })
const owner = await ProcessOwner.register(store)
const runtime = await ThreadRuntime.open({
  store,
  owner,
  thread: 'thread',
  agents: { [driver.id]: { driver } },
  policy: createPolicy({ rules: isAllowed ? { ...NO_RULES, tools: { execute_command: 'allow' } } : NO_RULES }),
})
runtime.onEntry((entry) => {
  if (entry.kind !== 'record') return
  const { body } = entry.record
  if (body.type === 'wait.opened') say({ asked: body.wait.id, hash: body.wait.subject.hash })
  if (body.type === 'call.started') say({ begun: body.toolCallId })
})
const { promise: over, resolve: isOver } = Promise.withResolvers<void>()
const follow = (): void => {
  const { run } = runtime
  if (run === undefined) return
  void run.done.then((outcome) => {
    say({ over: outcome, runId: run.runId })
    isOver()
  })
}
for (const wait of runtime.state.head.waits) {
  say({ waiting: wait.id, runId: wait.run, resumable: wait.resumable })
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { waitId, decision, reason } = JSON.parse(line) as HostCommand
  void runtime.answer(waitId, { decision, reason }, 'ann').then(follow)
})
if (isNew || isAgain) {
  await runtime.submit({ agentId: driver.id, parts: [{ id: '0', type: 'text', text: 'Run it.' }] })
  say({ started: runtime.run?.runId })
  follow()
}
await over
await runtime.close()
await owner.close()
await store.close()
process.stdin.destroy()
