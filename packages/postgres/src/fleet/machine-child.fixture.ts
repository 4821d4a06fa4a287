import { appendFileSync } from 'node:fs'
import { Agent, createTool, Harness } from '@inspan/core'
import { admitCommand } from '@inspan/core/engine'
import { scriptedModel, type ModelRequest, type ModelTurn } from '@inspan/testing'
import { PostgresStore } from '../postgres-store.ts'
import { openNextRelease } from '../next-release.fixture.ts'
import type { Request, Reply } from './fleet.fixture.ts'
import { programAgent } from './program-agent.fixture.ts'

/**
 * One of several machines that serve the same threads. Its agent calls a tool as often as the prompt says; every effect
 * is a line in a file outside of any store.
 */
const {
  AGENT = '',
  CLOCK_AHEAD_MS = '0',
  LABELS = '',
  LEDGER = '',
  RELEASE = '',
  SERVE = '',
  URL: url = '',
} = process.env

// A machine whose clock is wrong.
const trueNow = Date.now
Date.now = () => trueNow() + Number(CLOCK_AHEAD_MS)

const note = createTool({
  id: 'note',
  description: 'Notes a number.',
  execute: async (_input: unknown, { idempotencyKey, threadId }) => {
    appendFileSync(LEDGER, `${threadId} ${idempotencyKey}\n`)
    await new Promise((resolve) => setTimeout(resolve, 20))
    return 'noted'
  },
})

/** Like `note`, but takes as long as tools often do. */
const slow = createTool({
  id: 'slow',
  description: 'Notes a number, and takes a second.',
  execute: async (_input: unknown, { idempotencyKey, threadId }) => {
    appendFileSync(LEDGER, `${threadId} ${idempotencyKey}\n`)
    await new Promise((resolve) => setTimeout(resolve, 1000))
    return 'noted'
  },
})

/** Like `note`, but a person has to allow it. */
const careful = createTool({
  id: 'careful',
  description: 'Notes a number, if allowed.',
  execute: (_input: unknown, { idempotencyKey, threadId }) => {
    appendFileSync(LEDGER, `${threadId} ${idempotencyKey}\n`)
    return 'noted'
  },
})

/** Depends on nothing but the request, so that any process can go on. */
function answer({ prompt }: ModelRequest): ModelTurn {
  const all = JSON.stringify(prompt)
  const text = all.slice(all.lastIndexOf('"role":"user"'))
  const results = text.split('"role":"tool"').length - 1
  const [, name = 'note', wanted = '1'] = /(note|slow|careful|say) (\d+)/.exec(text) ?? []
  // `say 7` is a text of seven deltas.
  if (name === 'say') return { text: Array.from({ length: Number(wanted) }, (_, index) => `${index} `) }
  return results < Number(wanted) ? { toolCalls: [{ name, input: { n: results } }] } : { text: 'done' }
}

const model = scriptedModel(Array.from({ length: 100_000 }, () => answer))
const agent = new Agent({ id: 'agent', model, tools: { careful, note, slow } })
const labels = LABELS.split(',').filter((label) => label !== '')
const storage = RELEASE === 'next' ? await openNextRelease({ url, labels }) : await PostgresStore.open({ url, labels })
const harness = new Harness({
  id: 'fleet',
  agent: AGENT === 'program' ? programAgent(LEDGER) : agent,
  modes: [{ id: 'build' }],
  resourceId: 'fleet',
  storage,
  permissions: { tools: { note: 'allow', slow: 'allow', careful: 'ask' } },
})
await harness.init()
const server = SERVE === '' ? undefined : await (await import('@inspan/server')).serve({ harness, token: SERVE })
process.once('SIGTERM', () => {
  void (async () => {
    await server?.close()
    await harness.drain()
    await storage.close()
    if (process.connected) process.disconnect?.()
  })()
})
process.on('message', (request: Request) => {
  const key = { principal: 'ann', clientId: 'test', commandId: request.commandId }
  admitCommand(storage, { command: request.command, key, target: request.thread, at: Date.now() }).then(
    ({ status }) => reply({ commandId: request.commandId, status }),
    (error: unknown) => reply({ commandId: request.commandId, status: String(error) }),
  )
})

function reply(message: Reply): void {
  if (process.connected) process.send?.(message)
}

process.send?.({ commandId: 'ready', status: server?.url ?? '' } satisfies Reply)
