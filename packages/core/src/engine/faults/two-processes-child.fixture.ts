/**
 * A process with a thread whose tool has to be approved, for `two-processes.test.ts`. Reads commands from standard
 * input and prints the results: `go` starts a run, `answer <wait>` approves. Run as: node
 * two-processes-child.fixture.ts <database> <journal> <name> <passivateAfter>.
 */
import { appendFileSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { nativeDriver } from '@inspan/agent'
import { InspanError } from '@inspan/protocol'
import { SqliteStore } from '@inspan/stores'
import { scriptedModel, type ModelTurn } from '@inspan/testing'
import { ProcessOwner } from '../threads/ownership.ts'
import type { RunnableTool } from '../calls/runnable-tool.ts'
import { ThreadRuntime } from '../thread-runtime.ts'

const [url = '', journal = '', name = '', passivateAfter = ''] = process.argv.slice(2)
const say = (line: string): void => void writeSync(1, `${line}\n`)
const refusal = (error: unknown): string =>
  InspanError.is(error) ? `refused ${error.code} ${error.message}` : `failed ${String(error)}`

const write: RunnableTool = {
  name: 'write',
  inputSchema: { type: 'object' },
  execute: async (_input, { idempotencyKey }) => {
    appendFileSync(journal, `${name} ${idempotencyKey}\n`)
    return { result: 'written' }
  },
}
const answer = (request: unknown): ModelTurn =>
  JSON.stringify(request).includes('"tool-result"')
    ? { text: 'Done.' }
    : { toolCalls: [{ id: 'c', name: 'write', input: { path: 'a' } }] }
const model = scriptedModel(Array.from({ length: 10 }, () => answer))
const agents = { native: { driver: nativeDriver({ id: 'native', model }), tools: [write] } }

const store = new SqliteStore({ url })
const owner = await ProcessOwner.register(store, { url: `http://127.0.0.1/${name}` })

async function open(): Promise<ThreadRuntime> {
  return ThreadRuntime.open({
    store,
    owner,
    thread: 'thread',
    agents,
    decide: () => ({ policy: 'ask', reason: 'always' }),
    passivateAfter: Number(passivateAfter),
  })
}

let runtime: ThreadRuntime | undefined
while (runtime === undefined) {
  try {
    runtime = await open()
  } catch (error) {
    say(refusal(error))
    // The other process releases the thread as soon as it has looked at it.
    await delay(5)
  }
}
say('open')

for await (const line of createInterface({ input: process.stdin })) {
  const [command, waitId = ''] = line.split(' ')
  try {
    if (command === 'go') {
      await runtime.submit({ agentId: 'native', runId: 'r', parts: [{ id: '0', type: 'text', text: 'Write.' }] })
      await runtime.idle()
      say(`waiting ${[...runtime.state.head.waits.keys()].join()}`)
    } else if (command === 'answer') {
      await runtime.answer(waitId, { decision: 'approve' }, name)
      await runtime.idle()
      const seen = model.requests.filter((request) => JSON.stringify(request).includes('"tool-result"'))
      say(`over ${runtime.state.head.lastRun?.runId} ${runtime.state.head.lastRun?.outcome} ${seen.length}`)
    }
  } catch (error) {
    say(refusal(error))
  }
}
