import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InspanError, NO_RULES, type PermissionRules } from '@inspan/protocol'
import { aPicture, aRequest, optionOf } from '../../test/launch/request.ts'
import { launchClaudeLive, userMessage } from './live-launch.ts'

function launched(rules: Partial<PermissionRules> = {}): ReturnType<typeof launchClaudeLive> {
  return launchClaudeLive(aRequest({ rules: { ...NO_RULES, ...rules } }))
}

describe('the command line', () => {
  it('makes it talk in lines of JSON and ask on them', () => {
    const plan = launched()
    assert.equal(optionOf(plan, '--input-format'), 'stream-json')
    assert.equal(optionOf(plan, '--output-format'), 'stream-json')
    assert.equal(optionOf(plan, '--permission-prompt-tool'), 'stdio')
    assert.equal(plan.env?.['CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS'], '1')
  })

  it('allows nothing by itself: Inspan decides call by call', () => {
    const plan = launched({ categories: { execute: 'allow' }, tools: { Bash: 'allow' } })
    for (const flag of ['--permission-mode', '--permission-prompts']) assert.ok(!plan.args.includes(flag))
    assert.equal(optionOf(plan, '--allowedTools')?.split(',').includes('Bash'), false)
  })

  it('names the tools that it would not offer otherwise', () => {
    assert.ok(optionOf(launched(), '--allowedTools')?.split(',').includes('Grep'))
  })

  it('denies what our rules deny', () => {
    const denied = optionOf(launched({ tools: { execute_command: 'deny' } }), '--disallowedTools')
    assert.ok(denied?.split(',').includes('Bash'))
  })

  it('does not deny what our rules ask about, nor what a pattern forbids: both are judged when they are called', () => {
    const plan = launched({
      tools: { Bash: 'ask' },
      patterns: [{ tool: 'execute_command', pattern: 'rm *', policy: 'deny' }],
    })
    assert.equal(optionOf(plan, '--disallowedTools'), undefined)
    assert.deepEqual(plan.warnings, [])
  })
})

describe('what is said to it', () => {
  it('has images before text', () => {
    const message = userMessage([...aRequest().input, aPicture])
    assert.deepEqual(message['message'], {
      role: 'user',
      content: [
        { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' } },
        { type: 'text', text: 'Do it.' },
      ],
    })
  })

  it('an empty message is refused', () => {
    assert.throws(
      () => userMessage([]),
      (error) => InspanError.is(error) && error.code === 'invalid-input',
    )
  })
})
