import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EvenerError, NO_RULES, type PermissionRules } from '@evener/protocol'
import { aRequest } from '../../test/launch/request.ts'
import { launchCline } from '../cline/launch.ts'
import { launchPi } from '../pi/launch.ts'
import { newSession } from './native-session.ts'
import { refuseInstead } from './strict.ts'

function refusalOf(warnings: Parameters<typeof refuseInstead>[0]): readonly unknown[] {
  try {
    refuseInstead(warnings)
  } catch (error) {
    assert.ok(EvenerError.is(error))
    return [error.code, error.details['instead']]
  }
  return []
}

describe('what a program cannot do is refused where nothing else will do', () => {
  const pi = (rules: Partial<PermissionRules>): readonly unknown[] =>
    refusalOf(launchPi(aRequest({ permissions: 'full', rules: { ...NO_RULES, ...rules } })).warnings ?? [])

  it('to go on with a session of Cline in print mode', () => {
    const session = { kind: 'new', id: '1', because: 'it cannot resume a session' } as const
    assert.deepEqual(refusalOf(newSession(session, 'Cline')), ['unsupported', 'new-session'])
    assert.deepEqual(refusalOf(newSession({ kind: 'new', id: '1' }, 'Cline')), [])
  })

  it('to ask somebody what Pi may do', () => {
    assert.deepEqual(pi({ categories: { execute: 'ask' } }), ['policy-unsupported', 'rule-asks'])
    assert.deepEqual(pi({ tools: { write_file: 'ask' } }), ['policy-unsupported', 'rule-asks'])
    assert.deepEqual(pi({ categories: { execute: 'allow' } }), [])
  })

  it('to let Pi have subagents', () => {
    assert.deepEqual(pi({ tools: { subagent: 'allow' } }), ['unsupported', 'no-tool'])
    assert.deepEqual(pi({ tools: { execute_command: 'allow' } }), [])
  })

  it('to keep to a number of steps', () => {
    assert.deepEqual(refusalOf(launchCline(aRequest({ maxSteps: 3 })).warnings ?? []), ['unsupported', 'max-steps'])
  })

  it('and other warnings are warnings', () => {
    assert.deepEqual(refusalOf([{ message: 'Careful.' }, { message: 'Slow.', code: 'stall' }]), [])
  })
})
