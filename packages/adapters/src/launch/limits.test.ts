import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '@inspan/protocol'
import type { AgentLimit } from '@inspan/protocol/driver'
import { aTurn, diary, takeAll } from '../../test/launch/diary.ts'
import { program, scratch, standIn } from '../../test/launch/stand-in.ts'
import { claudeLimits } from '../claude-code/limits.ts'
import { codexLimits } from '../codex/app-server/limits.ts'
import { printDriver } from './print-driver.ts'

const event = (info: JsonObject): JsonObject => ({ type: 'rate_limit_event', rate_limit_info: info })

describe('a usage limit', () => {
  it('a usage limit of Claude Code has its name, its state and the time at which it ends', () => {
    const info = { status: 'rejected', rateLimitType: 'five_hour', resetsAt: 1_794_960_000, utilization: 1 }
    assert.deepEqual(claudeLimits.read(event(info)), [
      { name: 'five_hour', status: 'reached', resetsAt: 1_794_960_000_000, used: 1 },
    ])
    assert.deepEqual(claudeLimits.read(event({ status: 'allowed_warning' })), [{ name: 'account', status: 'near' }])
    assert.deepEqual(claudeLimits.read({ type: 'assistant', text: claudeLimits.mark }), [])
  })

  it('Codex has a usage limit for each of its windows', () => {
    const rateLimits = {
      limitId: 'codex',
      primary: { usedPercent: 100, windowDurationMins: 300, resetsAt: 1_794_960_000 },
      secondary: { usedPercent: 20, windowDurationMins: 10_080, resetsAt: null },
      rateLimitReachedType: 'rate_limit_reached',
    }
    assert.deepEqual(codexLimits.read({ method: codexLimits.mark, params: { rateLimits } }), [
      { name: 'codex-primary', status: 'reached', resetsAt: 1_794_960_000_000, used: 1 },
      { name: 'codex-secondary', status: 'ok', used: 0.2 },
    ])
  })

  it('is noted once by the turn that learns of it', async (t) => {
    const dir = await scratch(t)
    const limits: AgentLimit[] = []
    const notes = diary({ noteLimit: (limit) => void limits.push(limit) })
    const line = JSON.stringify(event({ status: 'allowed_warning', rateLimitType: 'seven_day', resetsAt: 5 }))
    const body = `hello(); console.log(${JSON.stringify(`${line}\nrate_limit_event, broken\n${line}`)}); text("Hi."); done()`
    const session = await printDriver(standIn({ limits: claudeLimits }), { bin: await program(dir, body) }).open(
      null,
      notes.host,
    )
    await takeAll(session.run({ ...aTurn, cwd: dir }), notes)
    await session.close()
    assert.deepEqual(limits, [{ name: 'seven_day', status: 'near', resetsAt: 5_000 }])
  })
})
