import { appendFileSync } from 'node:fs'
import { Agent, createTool, Harness } from '@inspan/core'
import { scriptedModel, type ModelRequest, type Turn } from '@inspan/testing'
import { PostgresStore } from '../postgres-store.ts'

/**
 * One of several machines that serve the same threads. Its agent calls a tool as often as the prompt says; every effect
 * is a line in a file outside of any store.
 */
const { LABELS = '', LEDGER = '', URL: url = '' } = process.env

const note = createTool({
  id: 'note',
  description: 'Notes a number.',
  execute: async (_input: unknown, { idempotencyKey }) => {
    appendFileSync(LEDGER, `${idempotencyKey}\n`)
    await new Promise((resolve) => setTimeout(resolve, 20))
    return 'noted'
  },
})

/** Like `note`, but a person has to allow it. */
const careful = createTool({
  id: 'careful',
  description: 'Notes a number, if allowed.',
  execute: (_input: unknown, { idempotencyKey }) => {
    appendFileSync(LEDGER, `${idempotencyKey}\n`)
    return 'noted'
  },
})

/** Depends on nothing but the request, so that any process can go on. */
function answer({ prompt }: ModelRequest): Turn {
  const text = JSON.stringify(prompt)
  const results = text.split('"role":"tool"').length - 1
  const [, name = 'note', wanted = '1'] = /(note|careful) (\d+)/.exec(text) ?? []
  return results < Number(wanted) ? { toolCalls: [{ name, input: { n: results } }] } : { text: 'done' }
}

const model = scriptedModel(Array.from({ length: 100_000 }, () => answer))
const agent = new Agent({ id: 'agent', model, tools: { careful, note } })
const storage = await PostgresStore.open({ url, labels: LABELS.split(',').filter((label) => label !== '') })
const harness = new Harness({
  id: 'fleet',
  agent,
  modes: [{ id: 'build' }],
  storage,
  permissions: { tools: { note: 'allow', careful: 'ask' } },
})
await harness.init()
process.once('SIGTERM', () => {
  void harness.drain().then(() => storage.close())
})
process.send?.('ready')
