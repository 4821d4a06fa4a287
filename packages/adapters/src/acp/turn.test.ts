import assert from 'node:assert/strict'
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it } from 'node:test'
import { heard, stage } from '../../test/acp/acp-stage.ts'
import { brief } from '../../test/brief.ts'
import { finishOf, liveHost, textOf } from '../../test/live/live-host.ts'
import { diaryOf } from '../../test/live/stand-in-program.ts'
import { normalize } from '../launch/normalize.ts'
import { acpDialect } from './mapper.ts'

/** Returns true until the process has exited and this process, its parent, has noticed. */
function isKnown(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('a turn over the Agent Client Protocol', () => {
  it('initializes the agent, opens a session, sends the task and ends with its answer', async (t) => {
    const { dir, host, run } = await stage(t, `t.text('You said '); t.text(t.prompt)`)
    const events = await run().all
    assert.equal(textOf(events), 'You said |Do it.')
    assert.equal(finishOf(events), 'stop')
    assert.deepEqual(brief(host.activity), ['agent: You said Do it.'])
    assert.deepEqual(await heard(dir), ['initialize', 'session/new', 'session/prompt'])
  })

  it('offers the agent neither files nor terminals, and answers it when it asks for them all the same', async (t) => {
    const body = `
      const { error } = await t.request('fs/read_text_file', { sessionId: t.session, path: '/etc/passwd' })
      t.text('refused with ' + error.code)`
    const { dir, host, run } = await stage(t, body)
    assert.equal(textOf(await run().all), 'refused with -32601')
    const [greeting] = (await diaryOf(dir, 'heard')) as readonly [{ readonly params: { clientCapabilities: unknown } }]
    assert.deepEqual(greeting.params.clientCapabilities, {
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
    })
    assert.deepEqual(brief(host.activity), ['agent: refused with -32601'])
  })

  it('takes the next turn with the same process and the same session', async (t) => {
    const { dir, host, run } = await stage(t, `t.text('turn ' + t.count + ' of ' + process.pid)`)
    const first = textOf(await run().all)
    const second = textOf(await run({ turnId: 'turn-2' }).all)
    assert.equal(second, first.replace('turn 1', 'turn 2'))
    assert.deepEqual(await heard(dir), ['initialize', 'session/new', 'session/prompt', 'session/prompt'])
    assert.equal(new Set(host.bindings.map(({ nativeId }) => nativeId)).size, 1)
    assert.equal(host.bindings.at(-1)?.extra?.['settled'], true)
    assert.equal(host.processes.length, 2, 'each turn knows its process')
  })

  it('starts another process when the one that was there has died between turns', async (t) => {
    const body = `t.text('turn ' + t.count); setTimeout(() => process.exit(7), 20)`
    const { dir, run, host } = await stage(t, body, { agent: { capabilities: { loadSession: true } } })
    assert.equal(textOf(await run().all), 'turn 1')
    const [first] = host.processes
    while (isKnown(first?.pid ?? 0)) await new Promise((resolve) => setTimeout(resolve, 20))
    assert.equal(textOf(await run({ turnId: 'turn-2' }).all), 'turn 1')
    assert.notEqual(host.processes[1]?.pid, first?.pid)
    assert.deepEqual((await heard(dir)).slice(-3), ['initialize', 'session/load', 'session/prompt'])
  })

  it('starts another process when the one that was there was killed a moment before', async (t) => {
    const { dir, run, host } = await stage(t, `t.text('here')`, { agent: { capabilities: { loadSession: true } } })
    await run().all
    process.kill(host.processes[0]?.pid ?? 0, 'SIGKILL')
    const events = await run({ turnId: 'turn-2' }).all
    assert.deepEqual([textOf(events), finishOf(events)], ['here', 'stop'])
    assert.deepEqual((await heard(dir)).slice(-3), ['initialize', 'session/load', 'session/prompt'])
    const { pid } = host.processes.at(-1) ?? {}
    await run({ turnId: 'turn-3' }).all
    assert.equal(host.processes.at(-1)?.pid, pid, 'that one takes the next turn, too')
    assert.equal(new Set(host.bindings.map(({ nativeId }) => nativeId)).size, 1)
  })

  it('starts another process also when what the killed one has left holds its output open', async (t) => {
    const body = `
      const { spawn } = await import('node:child_process')
      spawn('tail', ['-f', '/dev/null'], { stdio: 'inherit', detached: true })
      t.text('here')`
    const { run, host } = await stage(t, body, { agent: { capabilities: { loadSession: true } } })
    await run().all
    process.kill(host.processes[0]?.pid ?? 0, 'SIGKILL')
    const events = await run({ turnId: 'turn-2' }).all
    assert.deepEqual([textOf(events), finishOf(events)], ['here', 'stop'])
  })

  it('shows thoughts, calls and their output as they come', async (t) => {
    const body = `
      t.update('agent_thought_chunk', { content: { type: 'text', text: 'Hm.' } })
      t.call('c1', { title: 'list', kind: 'execute', status: 'in_progress', rawInput: { command: 'ls x' } })
      t.progress('c1', { content: [{ type: 'content', content: { type: 'text', text: 'a\\n' } }] })
      t.progress('c1', { content: [{ type: 'content', content: { type: 'text', text: 'a\\nb\\n' } }] })
      t.done('c1', { rawOutput: { exit_code: 2 } })
      t.text('Done.')`
    const { host, run } = await stage(t, body)
    const events = await run().all
    assert.deepEqual(
      events.flatMap((event) => (event.type === 'tool-progress' ? [event.output] : [])),
      ['a\n', 'b\n'],
    )
    assert.deepEqual(
      events.map(({ type }) => type).filter((type) => type !== 'tool-progress'),
      ['start', 'reasoning-delta', 'reasoning-delta', 'tool-call', 'tool-result', 'text-delta', 'text-delta', 'finish'],
    )
    assert.match(brief(host.activity)[0] ?? '', /^list .*\/x ✗$/)
  })

  it('counts what a turn cost, from a counter that only rises', async (t) => {
    const body = `t.update('usage_update', { used: 5, size: 10, cost: { amount: t.count * 0.25 + 0.5, currency: 'USD' } })`
    const { run } = await stage(t, body)
    const cost = async (): Promise<unknown> => {
      const last = (await run().all).at(-1)
      return last?.type === 'finish' ? last.usage : undefined
    }
    assert.deepEqual(await cost(), { costUsd: 0.75, source: 'reported', scope: 'own' })
    assert.deepEqual(await cost(), { costUsd: 0.25, source: 'reported', scope: 'own' })
  })

  it('records what the agent printed, and reads the same events from the record', async (t) => {
    const records: string[] = []
    const body = `t.raw('noise\\n'); await t.tool('c1', 'make'); t.text('Done.')`
    const host = liveHost(() => ({ policy: 'allow', reason: 'a rule' }))
    const { dir, run } = await stage(t, body, {
      host,
      record: () => {
        const folder = join(dir, 'record')
        records.push(folder)
        return { dir: folder }
      },
    })
    await run().all
    const [folder = ''] = records
    const recorded = (await readFile(join(folder, 'events.jsonl'), 'utf8')).trimEnd().split('\n')
    const lines = createInterface({ input: createReadStream(join(folder, 'raw.jsonl')) })
    const again: string[] = []
    for await (const event of normalize(lines, { dialects: [acpDialect] })) again.push(JSON.stringify(event))
    assert.deepEqual(again, recorded)
    assert.deepEqual(
      recorded.map((line) => (JSON.parse(line) as { readonly type: string }).type),
      ['unknown', 'command', 'agent'],
    )
  })

  it('is recorded without what the host redacts', async (t) => {
    const host = liveHost()
    const redacting = { ...host, host: { ...host.host, redact: (text: string) => text.replace(/sk-\d+/g, '[key]') } }
    const { dir, run } = await stage(t, `t.text('It is sk-1.')`, {
      host: redacting,
      record: () => ({ dir: join(dir, 'record') }),
    })
    await run().all
    for (const name of ['raw.jsonl', 'events.jsonl']) {
      const recorded = await readFile(join(dir, 'record', name), 'utf8')
      assert.match(recorded, /It is \[key\]\./)
      assert.doesNotMatch(recorded, /sk-1/)
    }
  })
})
