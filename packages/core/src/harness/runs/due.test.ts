import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createTool } from '@inspan/agent'
import { NO_RULES } from '@inspan/protocol'
import type { LogRecord } from '@inspan/protocol/log'
import type { Store } from '@inspan/protocol/store'
import { SqliteStore } from '@inspan/stores'
import {
  admitCommand,
  createThread,
  ProcessOwner,
  recordsAfter,
  ThreadRegistry,
  ThreadRuntime,
} from '../../engine/index.ts'
import { timeOrderedId } from '../../common/time-ordered-id.ts'
import { HarnessBench } from '../harness.fixture.ts'

const CHILD = fileURLToPath(new URL('due-child.fixture.ts', import.meta.url))
const deploy = createTool({ id: 'deploy', description: 'Deploys.', requireApproval: true, execute: () => 'out' })

async function records(store: Store, thread: string): Promise<LogRecord['body'][]> {
  const found: LogRecord['body'][] = []
  for await (const { body } of recordsAfter(store, thread, 0)) found.push(body)
  return found
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(50)
}

async function folder(stack: AsyncDisposableStack): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'inspan-due-'))
  stack.defer(() => rm(made, { recursive: true, force: true }))
  return join(made, 'data.db')
}

suite('a wait that is due', () => {
  test('fires once, in a process that lives, when the one that asked was killed', { timeout: 60_000 }, async () => {
    await using stack = new AsyncDisposableStack()
    const url = await folder(stack)
    const thread = await new Promise<string>((resolve, reject) => {
      execFile(process.execPath, [CHILD, url], (error, stdout, stderr) => {
        if (error?.signal === 'SIGKILL' && stdout !== '') resolve(stdout.trim())
        else reject(new Error(stderr, { cause: error }))
      })
    })
    // Two store objects count as two processes. Both are alive and have never had the thread open.
    const stores = [new SqliteStore({ url }), new SqliteStore({ url })]
    const benches = stores.map((storage) => {
      stack.defer(() => storage.close())
      return stack.use(
        new HarnessBench([{ text: 'Not then.' }], { id: 'ops', storage }, { id: 'me', tools: { deploy } }),
      )
    })
    for (const { harness } of benches) await harness.init()
    const [store = assert.fail()] = stores
    await until(async () => (await records(store, thread)).some(({ type }) => type === 'run.ended'))
    const bodies = await records(store, thread)
    const answers = bodies.filter((body) => body.type === 'wait.answered')
    assert.deepEqual(
      answers.map(({ answer }) => answer.decision),
      ['decline'],
    )
    assert.equal(bodies.filter(({ type }) => type === 'run.ended').length, 1)
    assert.equal(
      benches.reduce((calls, { model }) => calls + model.requests.length, 0),
      1,
      'one of them went on',
    )
  })

  test('is settled by a process without its door, which does not continue the run', { timeout: 60_000 }, async () => {
    await using stack = new AsyncDisposableStack()
    const url = await folder(stack)
    const store = new SqliteStore({ url })
    stack.defer(() => store.close())
    await store.open()
    await createThread(store, { id: 'thread', resourceId: 'test' })
    const owner = await ProcessOwner.register(store)
    const runtime = await ThreadRuntime.open({ store, owner, thread: 'thread', agents: {} })
    const wait = { id: 'w', kind: 'approval', subject: {}, description: 'Deploy?', due: 1 } as const
    await runtime.change((log) =>
      log.commit([
        { type: 'run.started', runId: 'r', agentId: 'gone', door: 'elsewhere', rules: NO_RULES },
        { type: 'wait.opened', wait },
        { type: 'run.parked', runId: 'r', waitIds: ['w'] },
      ]),
    )
    await runtime.close()
    await owner.close()
    const key = { principal: 'ann', clientId: 'page', commandId: timeOrderedId() }
    const command = { type: 'follow-up', message: 'For the agent of that door.' } as const
    await admitCommand(store, { command, key, target: 'thread', at: Date.now() - 5000 })
    await using other = new HarnessBench([], { id: 'other', storage: store })
    await other.harness.init()
    await until(async () => (await store.getWait('thread', 'w'))?.state === 'answered')
    assert.equal((await store.getWait('thread', 'w'))?.answeredBy, 'timeout')
    await until(async () => ThreadRegistry.of(store).find('thread') === undefined)
    assert.equal((await store.getCommand(key))?.state, 'accepted', 'it is left to that door')
    const types = (await records(store, 'thread')).map(({ type }) => type)
    assert.deepEqual(types, ['run.started', 'wait.opened', 'run.parked', 'wait.answered'])
  })
})
