import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { NO_RULES, type ActivityEvent, type AgentEvent, type PermissionRules } from '@inspan/protocol'
import type { Decision } from '@inspan/protocol/driver'
import { createPolicy } from '../../policy/index.ts'
import { SeenCalls } from './seen-calls.ts'

type Activity = ActivityEvent extends infer Each
  ? Each extends ActivityEvent
    ? Omit<Each, 'timestamp'>
    : never
  : never
type Result = Extract<AgentEvent, { type: 'tool-result' }>

/** Returns the violation in a call under a native name whose activity is on the result, as with all programs. */
function seen(
  rules: Partial<PermissionRules>,
  activity: readonly Activity[],
  more: Partial<Result> = {},
): string | undefined {
  const policy = createPolicy({ rules: { ...NO_RULES, ...rules } })
  const calls = new SeenCalls((call) => policy.decide(call, {}))
  const call = { toolCallId: 'c', toolName: 'native_tool' } as const
  const events = activity.map((event) => ({ ...event, timestamp: '2026-01-01T00:00:00Z' }))
  assert.equal(calls.violation({ type: 'tool-call', ...call, args: {} }), undefined)
  const note = { mapper: 'cli', version: 1, events }
  return calls.violation({ type: 'tool-result', ...call, result: '', activity: note, ...more })
}

const FAILED = { isError: true } as const
const noShell = { tools: { execute_command: 'deny' } } as const
const noRm = { patterns: [{ tool: 'execute_command', pattern: 'rm *', policy: 'deny' }] } as const
const command = (exitCode?: number): Activity => ({
  type: 'command',
  command: 'rm -rf x',
  ...(exitCode === undefined ? {} : { exitCode, isSuccess: exitCode === 0 }),
})

suite('a call that a rule denies has run', () => {
  test('when it has succeeded, whatever the program calls the tool', () => {
    for (const rules of [noShell, noRm, { categories: { execute: 'deny' } }] as const) {
      assert.match(seen(rules, [command(0)]) ?? '', /^native_tool has run although .*den/)
    }
    assert.match(seen({ tools: { read_file: 'deny' } }, [{ type: 'read', path: '/a' }]) ?? '', /has run/)
    assert.match(seen({ categories: { edit: 'deny' } }, [{ type: 'write', path: '/a' }]) ?? '', /has run/)
  })

  test('a denied call has run even if it failed with an exit code, because a refused call has none', () => {
    assert.match(seen(noShell, [command(1)], FAILED) ?? '', /has run/)
    assert.match(seen(noRm, [command(127)], FAILED) ?? '', /has run/)
  })
})

suite('whether a rule is about commands', () => {
  /** A custom `decide` may describe its rules in any way. */
  const violation = (decision: Omit<Decision, 'policy'>): string | undefined => {
    const calls = new SeenCalls(({ toolName }) =>
      toolName === 'execute_command' ? { policy: 'deny', ...decision } : { policy: 'allow', reason: 'free' },
    )
    const events = [{ ...command(0), timestamp: '2026-01-01T00:00:00Z' }]
    const note = { mapper: 'cli', version: 1, events }
    const call = { toolCallId: 'c', toolName: 'native_tool' }
    return calls.violation({ type: 'tool-result', ...call, result: '', activity: note })
  }

  test('depends on what it is about, not on its name', () => {
    assert.match(violation({ reason: 'no', rule: 'house rule 7', about: { tool: 'execute_command' } }) ?? '', /has run/)
    assert.match(violation({ reason: 'no', rule: 'house rule 8', about: { category: 'execute' } }) ?? '', /has run/)
    const misleading = 'deny execute_command when it writes'
    assert.equal(violation({ reason: 'no', rule: misleading, about: { category: 'edit' } }), undefined)
    assert.equal(violation({ reason: 'no', rule: misleading, about: { tool: 'write_file' } }), undefined)
  })

  test('is assumed of one that does not name its subject: it was asked about a command', () => {
    assert.match(violation({ reason: 'no' }) ?? '', /has run/)
    assert.match(violation({ reason: 'no', rule: 'house rule 9' }) ?? '', /has run/)
  })
})

suite('a call that a rule denies has not run, as far as is known,', () => {
  test('when the program has refused it', () => {
    assert.equal(seen(noShell, [command()], FAILED), undefined)
    assert.equal(seen(noShell, [command(-1)], FAILED), undefined)
    assert.equal(
      seen({ tools: { read_file: 'deny' } }, [{ type: 'read', path: '/a', isSuccess: false }], FAILED),
      undefined,
    )
  })

  test('when a command only tried what is denied: a sandbox may have kept it from it', () => {
    const touch: Activity = { type: 'command', command: 'touch a; ls', exitCode: 0, isSuccess: true }
    assert.equal(seen({ categories: { edit: 'deny', execute: 'allow' } }, [touch]), undefined)
    assert.equal(seen({ tools: { write_file: 'deny' }, categories: { execute: 'allow' } }, [touch]), undefined)
  })

  test('when the rule is about another way to write than the one that was perhaps taken', () => {
    assert.equal(
      seen({ tools: { edit_file: 'deny', write_file: 'allow' } }, [{ type: 'write', path: '/a' }]),
      undefined,
    )
  })

  test('when no rule denies it', () => {
    assert.equal(seen({ tools: { execute_command: 'ask' } }, [command(0)]), undefined)
    assert.equal(seen(noRm, [{ type: 'command', command: 'ls', exitCode: 0, isSuccess: true }]), undefined)
  })
})
