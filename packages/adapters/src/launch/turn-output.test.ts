import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InspanError, type AgentEvent } from '@inspan/protocol'
import { aRequest, fileOf, optionOf } from '../../test/launch/request.ts'
import { aTurn, diary, takeAll } from '../../test/launch/diary.ts'
import { program, scratch, standIn } from '../../test/launch/stand-in.ts'
import { launchClaude } from '../claude-code/launch.ts'
import { launchCodex } from '../codex/launch.ts'
import { createMapper } from '../kit/mapping.ts'
import { claudeCodeDialect } from '../claude-code/mapper.ts'
import { requestOf } from './launch-plan.ts'
import { printDriver } from './print-driver.ts'

const output = { schema: { type: 'object', properties: { ok: { type: 'boolean' } } } }

describe('an answer that must be data', () => {
  it('is asked for with the schema', () => {
    assert.equal(optionOf(launchClaude(aRequest({ output })), '--json-schema'), JSON.stringify(output.schema))
    const plan = launchCodex(aRequest({ output }))
    assert.equal(optionOf(plan, '--output-schema'), '/private/output-schema.json')
    assert.equal(fileOf(plan, 'output-schema.json'), JSON.stringify(output.schema))
  })

  it('is refused by a CLI that has no way to give it, before anything is started', async (t) => {
    const dir = await scratch(t)
    const notes = diary()
    const session = await printDriver(standIn(), { bin: await program(dir, 'hello(); text("{}"); done()') }).open(
      null,
      notes.host,
    )
    const events = await takeAll(session.run({ ...aTurn, cwd: dir, output }), notes)
    const error = events.find((event) => event.type === 'error')
    assert.equal(error?.error.code, 'unsupported')
    assert.deepEqual(notes.processes, [])
    await session.close()
  })

  const answering = async (t: Parameters<typeof scratch>[0], words: string): Promise<readonly AgentEvent[]> => {
    const dir = await scratch(t)
    const notes = diary()
    const spec = standIn({ capabilities: { ...standIn().capabilities, output: true } })
    const driver = printDriver(spec, { bin: await program(dir, `hello(); text(${JSON.stringify(words)}); done()`) })
    const session = await driver.open(null, notes.host)
    const events = await takeAll(session.run({ ...aTurn, cwd: dir, output }), notes)
    await session.close()
    return events
  }

  it('is on the finish', async (t) => {
    const last = (await answering(t, '{"ok":true}')).at(-1)
    assert.ok(last?.type === 'finish')
    assert.deepEqual([last.finishReason, last.meta?.['output']], ['stop', { ok: true }])
  })

  it('an answer that is no data fails the turn with invalid-output', async (t) => {
    const [error, finish] = (await answering(t, 'All is well.')).slice(-2)
    assert.ok(error?.type === 'error' && finish?.type === 'finish')
    assert.deepEqual([error.code, finish.finishReason], ['invalid-output', 'error'])
  })

  it('is taken from the result of Claude Code, which gives it apart from its text', () => {
    const events: AgentEvent[] = []
    const mapper = createMapper(claudeCodeDialect, {
      emit: (event) => {
        if (event.type !== 'note') events.push(event)
      },
    })
    const result = { type: 'result', subtype: 'success', is_error: false, stop_reason: 'tool_use', session_id: 's' }
    mapper.line(JSON.stringify({ ...result, structured_output: { ok: true } }), 0)
    mapper.end({ exitCode: 0 }, 0)
    const last = events.at(-1)
    assert.ok(last?.type === 'finish')
    assert.deepEqual([last.finishReason, last.meta?.['output']], ['stop', { ok: true }])
  })
})

describe('an effort', () => {
  it('is passed on under the name of the CLI, or refused', () => {
    assert.equal(optionOf(launchClaude(aRequest({ effort: 'max' })), '--effort'), 'max')
    assert.ok(launchCodex(aRequest({ effort: 'high' })).args.includes('model_reasoning_effort="high"'))
    assert.throws(
      () => requestOf({ ...aTurn, effort: 'high' }, {}, standIn()),
      (error) => InspanError.is(error, 'unsupported') && /Stand-in has no effort "high"/.test(error.message),
    )
  })
})
