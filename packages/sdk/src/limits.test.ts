import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { suite, test } from 'node:test'
import { setImmediate as nextTask } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { scriptedModel } from '@inspan/testing'
import {
  ClaudeCodeHarnessFactory,
  createAgentManager,
  NativeHarnessFactory,
  type OperationStatus,
  type TelemetryEvent,
} from './index.ts'
import { chatting, eventsOf, folders, textOf, typesOf } from './sdk.fixture.ts'

const LIMITED = { error: { status: 429, message: 'Slow down.', retryAfterMs: 300 } }

suite("a provider's limit", () => {
  test('fails the turn by default, and reports when it ends', async () => {
    await using it = await chatting([{ error: { status: 429, retryAfterMs: 3_600_000 } }])
    const telemetry: TelemetryEvent[] = []
    it.session.onTelemetry((event) => telemetry.push(event))
    const before = Date.now()
    const events = await eventsOf(await it.session.chat('Go'))
    const failed = events.find((event) => event.type === 'error')
    const resetsAt = failed !== undefined && 'resetsAt' in failed.error ? Number(failed.error.resetsAt) : 0
    assert.ok(resetsAt >= before + 3_600_000)
    const limit = telemetry.find((event) => event.type === 'usage-limit')
    assert.equal(limit?.status, 'reached')
    assert.ok(Math.abs((limit?.resetsAt ?? 0) - resetsAt) < 1_000)
  })

  test('parks the turn with onLimit: park, which continues after it on the same stream', async () => {
    await using it = await chatting([LIMITED, LIMITED, { text: 'Done.' }])
    const telemetry: TelemetryEvent[] = []
    it.session.onTelemetry((event) => telemetry.push(event))
    const before = Date.now()
    const events = await eventsOf(await it.session.chat('Go', { onLimit: 'park', operationId: 'op' }))
    assert.ok(Date.now() >= before + 600)
    assert.equal(textOf(events), 'Done.')
    assert.deepEqual(
      typesOf(events).filter((type) => ['start', 'error', 'finish', 'tool-call'].includes(type)),
      ['start', 'finish'],
    )
    assert.equal(telemetry.filter(({ type }) => type === 'usage-limit').length, 2)
    // The model sees the message once, and nothing about the limit.
    const history = await it.session.getMessageHistory()
    assert.deepEqual(
      history.map(({ role }) => role),
      ['user', 'assistant'],
    )
    assert.deepEqual(it.model.requests[2]?.prompt, it.model.requests[0]?.prompt)
    assert.equal((await it.session.waitForOperation('op')).state, 'completed')
  })

  test('keeps other messages out while a turn is parked, and the turn can be cancelled', async () => {
    await using it = await chatting([{ error: { status: 429, retryAfterMs: 3_600_000 } }, { text: 'Next.' }])
    const before = Date.now()
    const parked = await it.session.chat('Go', { onLimit: 'park', operationId: 'op' })
    const heard = Promise.withResolvers<void>()
    it.session.onTelemetry(({ type }) => (type === 'step-completed' ? heard.resolve() : undefined))
    await heard.promise
    let status: OperationStatus | undefined
    while (status?.state !== 'waiting') {
      await nextTask()
      status = await it.session.getOperation('op')
    }
    assert.ok((status.resumesAt ?? 0) >= before + 3_600_000)
    const manager = await it.restart()
    const session = manager.getAgent('a').getChatSession(it.session.getId())
    assert.equal((await session.getOperation('op'))?.resumesAt, status.resumesAt)
    await assert.rejects(session.chat('Next'), { type: 'TURN_IN_PROGRESS' })
    await session.abortOperation('op')
    assert.equal((await session.getOperation('op'))?.state, 'aborted')
    assert.equal(textOf(await eventsOf(await session.chat('Next'))), 'Next.')
    assert.equal(typesOf(await eventsOf(parked)).at(-1), 'finish')
  })

  test('outlives its process: another one continues after the reset, and once', async () => {
    await using it = await folders()
    const program = fileURLToPath(new URL('./limits-child.fixture.ts', import.meta.url))
    const child = spawn(process.execPath, [program, it.root, it.project, '4000'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
    const parked = JSON.parse(line) as OperationStatus & { readonly sessionId: string }
    assert.equal(parked.state, 'waiting')
    const model = scriptedModel([{ text: 'Done.' }])
    await using manager = await createAgentManager(it.root, new NativeHarnessFactory({ model }))
    const session = manager.getAgent('a').getChatSession(parked.sessionId)
    const { state } = await session.waitForOperation('op')
    assert.equal(state, 'completed')
    assert.ok(Date.now() >= (parked.resumesAt ?? Infinity))
    assert.equal(model.requests.length, 1)
    assert.match(JSON.stringify(await session.getMessageHistory()), /Go.*Done\./)
    // Asking for it again runs nothing.
    assert.equal(textOf(await eventsOf(await session.chat('Go', { operationId: 'op' }))), 'Done.')
    assert.equal(model.requests.length, 1)
  })
})

/** A program of a few lines that prints what Claude Code does: at its first run that a limit is reached, then an answer. */
const LIMITED_PROGRAM = `
import { existsSync, writeFileSync } from 'node:fs'
if (process.argv.includes('--version')) { console.log('2.1.325 (Claude Code)'); process.exit(0) }
const say = (record) => console.log(JSON.stringify({ session_id: 's', ...record }))
const result = { type: 'result', subtype: 'success', duration_ms: 1, num_turns: 1, usage: { input_tokens: 1, output_tokens: 1 } }
say({ type: 'system', subtype: 'init', cwd: process.cwd(), tools: [], mcp_servers: [], model: 'm' })
const message = (text) => ({ id: 'm', type: 'message', role: 'assistant', content: [{ type: 'text', text }] })
if (existsSync(process.env.LIMITED)) {
  say({ type: 'assistant', message: message('Done.'), parent_tool_use_id: null })
  say({ ...result, is_error: false, result: 'Done.' })
} else {
  const resetsAt = Math.ceil(Date.now() / 1000) + 3600
  writeFileSync(process.env.LIMITED, String(resetsAt * 1000))
  say({ type: 'rate_limit_event', rate_limit_info: { status: 'rejected', rateLimitType: 'five_hour', resetsAt, utilization: 1 } })
  say({ ...result, is_error: true, result: 'You have reached your limit.' })
}
`

test('the limit of a program has its name and time, and with onLimit: park the turn continues after it, after a restart too', async () => {
  await using it = await folders()
  const [bin, limited] = [join(it.root, 'claude.mjs'), join(it.root, 'limited')]
  await writeFile(bin, `#!${process.execPath}\n${LIMITED_PROGRAM}`)
  await chmod(bin, 0o755)
  const options = { bin, transport: 'print', env: { LIMITED: limited } } as const
  const factory = new ClaudeCodeHarnessFactory(options)
  const first = await createAgentManager(it.root, factory)
  const agent = await first.createAgent(it.project, { agentId: 'a' })
  assert.equal(agent.getCapabilities().limits, true)
  const limits: TelemetryEvent[] = []
  first.onTelemetry((event) => void (event.type === 'usage-limit' && limits.push(event)))
  const session = await agent.createChatSession()
  await session.chat('Go', { operationId: 'op', onLimit: 'park' })
  let status: OperationStatus | undefined
  while (status?.state !== 'waiting') {
    await nextTask()
    status = await session.getOperation('op')
    assert.notEqual(status?.state, 'failed')
  }
  const resetsAt = Number(await readFile(limited, 'utf8'))
  assert.equal(status.resumesAt, resetsAt)
  assert.deepEqual(
    limits.map((event) => event.type === 'usage-limit' && [event.name, event.status, event.resetsAt]),
    [['five_hour', 'reached', resetsAt]],
  )
  await first.shutdown()
  const later = new ClaudeCodeHarnessFactory({ ...options, now: () => Date.now() + 2 * 3_600_000 })
  await using second = await createAgentManager(it.root, later)
  const again = second.getAgent('a').getChatSession(session.getId())
  assert.equal((await again.waitForOperation('op')).state, 'completed')
  assert.match(JSON.stringify(await again.getMessageHistory()), /Go.*Done\./)
})
