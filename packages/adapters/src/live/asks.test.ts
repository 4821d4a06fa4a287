import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Answer } from '@inspan/protocol'
import type { Decision, Host, ToolCallRequest } from '@inspan/protocol/driver'
import { APPROVE, ASK, liveHost, type LiveHost } from '../../test/live/live-host.ts'
import { Asks, type Ask, type Verdict } from './asks.ts'

interface Stage {
  readonly host: LiveHost
  readonly asks: Asks
  readonly verdicts: Verdict[]
  readonly waiting: boolean[]
  readonly late: string[]
  readonly put: (more?: Partial<Ask>) => Promise<void>
}

function stage(decide?: (call: ToolCallRequest) => Decision, more: Partial<Host> = {}): Stage {
  const host = liveHost(decide, more)
  const verdicts: Verdict[] = []
  const waiting: boolean[] = []
  const late: string[] = []
  const asks = new Asks({
    host: host.host,
    agentId: 'agent',
    onWaiting: (isWaiting) => waiting.push(isWaiting),
    onAsk: () => undefined,
    onLate: ({ key }) => late.push(key),
  })
  const put = (more: Partial<Ask> = {}): Promise<void> =>
    asks.put({
      key: 'k1',
      kind: 'approval',
      call: { toolCallId: 'c1', toolName: 'Bash', input: { command: 'ls' } },
      description: 'ls',
      answer: (verdict) => verdicts.push(verdict),
      ...more,
    })
  return { host, asks, verdicts, waiting, late, put }
}

const allow: Decision = { policy: 'allow', reason: 'default' }

describe('a question', () => {
  it('is answered by a rule where one decides', async () => {
    const { host, put, verdicts } = stage(() => allow)
    await put()
    assert.deepEqual(verdicts, [{ isAllowed: true }])
    assert.deepEqual(host.asked, [])
  })

  it('names the rule that requires approval', async () => {
    const { host, put } = stage(() => ({ policy: 'ask', reason: 'the rule `ask x` requires approval', rule: 'ask x' }))
    const answered = put()
    const ask = await host.nextAsk()
    assert.equal(host.asked[0]?.description, 'Run ls: the rule `ask x` requires approval')
    assert.equal(host.asked[0]?.payload?.['why'], 'the rule `ask x` requires approval')
    ask.answer(APPROVE)
    await answered
  })

  it('waits for a person where none does, and is over with the answer', async () => {
    const { host, put, verdicts, waiting } = stage()
    const answered = put()
    const ask = await host.nextAsk()
    assert.deepEqual(waiting, [true])
    ask.answer({ decision: 'answer', value: 'blue' })
    await answered
    assert.deepEqual(verdicts, [{ isAllowed: true, value: 'blue' }])
    assert.deepEqual(waiting, [true, false])
  })

  it('a question that was withdrawn gets no answer', async () => {
    const { asks, host, late, put, verdicts } = stage()
    const answered = put()
    const ask = await host.nextAsk()
    asks.withdraw('k1')
    ask.answer(APPROVE)
    await answered
    assert.deepEqual([verdicts, late], [[], ['k1']])
  })

  it('a question that was withdrawn and asked again under the same id is another one', async () => {
    const { asks, host, late, put, verdicts } = stage()
    const first = put()
    const before = await host.nextAsk()
    asks.withdraw('k1')
    const second = put()
    const after = await host.nextAsk()
    before.answer(APPROVE)
    await first
    assert.deepEqual([verdicts, late], [[], ['k1']])
    after.answer({ decision: 'decline', reason: 'no' })
    await second
    assert.deepEqual(verdicts, [{ isAllowed: false, reason: 'no' }])
  })

  it('a question of a turn that is over gets no answer', async () => {
    const { asks, host, put, verdicts, waiting } = stage()
    const answered = put()
    const ask = await host.nextAsk()
    asks.abandon()
    ask.answer(APPROVE)
    await answered
    assert.deepEqual(verdicts, [])
    assert.equal(waiting.at(-1), false)
  })

  it('a question that could not be asked is a warning; one that was withdrawn is not', async () => {
    const warnings: string[] = []
    const asked = Promise.withResolvers<Answer>()
    const host: Partial<Host> = { ask: () => asked.promise, log: (_level, message) => void warnings.push(message) }
    const { asks, put, verdicts } = stage(undefined, host)
    const both = [put(), put({ key: 'k2' })]
    asks.withdraw('k1')
    asked.reject(new Error('nobody is there'))
    await Promise.all(both)
    assert.deepEqual(warnings, ['A question was not answered: nobody is there'])
    assert.deepEqual(
      verdicts.map(({ isAllowed }) => isAllowed),
      [false],
    )
  })

  it('is declined when a rule cannot be asked', async () => {
    const { put, verdicts } = stage(() => {
      throw new Error('broken')
    })
    await put()
    assert.deepEqual(
      verdicts.map(({ isAllowed }) => isAllowed),
      [false],
    )
  })

  it('about texts is put to a person whatever the rules are', async () => {
    const { host, put } = stage(() => ({ policy: 'deny', reason: 'no' }))
    const answered = put({ kind: 'question' })
    const ask = await host.nextAsk()
    ask.answer({ decision: 'answer', value: 'yes' })
    await answered
  })

  it('about several files follows the strictest rule for any of them', async () => {
    const { put, verdicts } = stage(({ args }) =>
      args['path'] === '/secret' ? { policy: 'deny', reason: 'It is secret.' } : allow,
    )
    const file = (path: string): Ask['call'] => ({ toolCallId: 'c1', toolName: 'Write', input: { file_path: path } })
    await put({ parts: [file('/a'), file('/secret')] })
    assert.deepEqual(verdicts, [{ isAllowed: false, reason: 'It is secret.' }])
  })
})

describe('rules for a tool with two names', () => {
  const judge = (ours: Decision, theirs: Decision): Decision => {
    const { asks } = stage(({ toolName }) => (toolName === 'Bash' ? theirs : ours))
    return asks.judge({ toolCallId: 'c1', toolName: 'Bash', input: { command: 'ls' } })
  }
  const named = (policy: Decision['policy']): Decision => ({ policy, reason: 'a rule', rule: policy })

  it('deny if either denies', () => {
    assert.equal(judge(named('deny'), allow).policy, 'deny')
    assert.equal(judge(named('allow'), { policy: 'deny', reason: '' }).policy, 'deny')
  })

  it('are those that were made for one of the names, before the default for the other', () => {
    assert.equal(judge(ASK, named('allow')).policy, 'allow')
    assert.equal(judge(named('ask'), allow).policy, 'ask')
  })

  it('the stricter one counts if both names have one, or neither', () => {
    assert.equal(judge(named('allow'), named('ask')).policy, 'ask')
    assert.equal(judge(ASK, allow).policy, 'ask')
  })
})
