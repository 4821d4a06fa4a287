import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InspanError, NO_RULES, type PermissionRules } from '@inspan/protocol'
import { aRequest } from '../../test/launch/request.ts'
import { launchCline } from '../cline/launch.ts'
import { launchClineLive } from '../cline/live.ts'
import { launchGooseLive } from '../goose/live.ts'
import { OPENCODE } from '../opencode/driver.ts'
import { launchOpencodeLive } from '../opencode/live-launch.ts'
import { launchPi } from '../pi/launch.ts'
import { newSession } from './native-session.ts'
import { refuseInstead } from './strict.ts'

function refusalOf(warnings: Parameters<typeof refuseInstead>[0]): readonly unknown[] {
  try {
    refuseInstead(warnings)
  } catch (error) {
    assert.ok(InspanError.is(error))
    return [error.code, error.details['instead']]
  }
  return []
}

describe('what a program cannot do is refused with `strict`:', () => {
  const pi = (rules: Partial<PermissionRules>): readonly unknown[] =>
    refusalOf(launchPi(aRequest({ permissions: 'full', rules: { ...NO_RULES, ...rules } })).warnings ?? [])

  it('resuming a session of Cline in print mode', () => {
    const session = { kind: 'new', id: '1', because: 'it cannot resume a session' } as const
    assert.deepEqual(refusalOf(newSession(session, 'Cline')), ['unsupported', 'new-session'])
    assert.deepEqual(refusalOf(newSession({ kind: 'new', id: '1' }, 'Cline')), [])
  })

  it('asking somebody what Pi may do', () => {
    assert.deepEqual(pi({ categories: { execute: 'ask' } }), ['policy-unsupported', 'rule-asks'])
    assert.deepEqual(pi({ tools: { write_file: 'ask' } }), ['policy-unsupported', 'rule-asks'])
    assert.deepEqual(pi({ categories: { execute: 'allow' } }), [])
  })

  it('subagents of Pi', () => {
    assert.deepEqual(pi({ tools: { subagent: 'allow' } }), ['unsupported', 'no-tool'])
    assert.deepEqual(pi({ tools: { execute_command: 'allow' } }), [])
  })

  it('subagents of live programs whose subagents would ask nobody', () => {
    const request = aRequest({ rules: { ...NO_RULES, tools: { subagent: 'allow' } } })
    const free = { ...request, allowUngoverned: true }
    const refusal = ['unsupported', 'no-tool']
    assert.deepEqual(refusalOf(launchClineLive(request).warnings ?? []), refusal)
    assert.deepEqual(refusalOf(launchClineLive(free).warnings ?? []), [])
    assert.deepEqual(refusalOf(launchGooseLive(request, {}, true).warnings ?? []), refusal)
    assert.deepEqual(refusalOf(launchGooseLive(free, {}, true).warnings ?? []), [])
    assert.deepEqual(refusalOf(launchOpencodeLive(free, OPENCODE).warnings ?? []), refusal)
    assert.deepEqual(refusalOf(launchOpencodeLive(aRequest(), OPENCODE).warnings ?? []), [])
  })

  it('a limit of steps', () => {
    assert.deepEqual(refusalOf(launchCline(aRequest({ maxSteps: 3 })).warnings ?? []), ['unsupported', 'max-steps'])
  })

  it('other warnings stay warnings', () => {
    assert.deepEqual(refusalOf([{ message: 'Careful.' }, { message: 'Slow.', code: 'stall' }]), [])
  })
})
