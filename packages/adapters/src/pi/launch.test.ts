import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InspanError, NO_RULES } from '@inspan/protocol'
import type { MCPConfiguration } from '@inspan/protocol/chat'
import { aPicture, aRequest, fileOf, optionOf, SESSION } from '../../test/launch/request.ts'
import type { LaunchPlan, LaunchRequest } from '../launch/launch-plan.ts'
import { piAnchor } from './driver.ts'
import { launchPi } from './launch.ts'
import { launchPiLive } from './live-launch.ts'

const launch = (more: Partial<LaunchRequest> = {}): LaunchPlan => launchPi(aRequest(more))
const toolsOf = (plan: Pick<LaunchPlan, 'args'>): readonly string[] => {
  const at = plan.args.indexOf('--tools')
  return at === -1 ? [] : (plan.args[at + 1] ?? '').split(',')
}

describe('the command line gives Pi', () => {
  it('the prompt on its input', () => {
    const plan = launch()
    assert.equal(plan.stdin, 'Do it.')
    assert.equal(optionOf(plan, '--mode'), 'json')
    assert.ok(plan.args.includes('--print'))
    assert.ok(!plan.args.join(' ').includes('Do it.'))
    assert.deepEqual(plan.env, { PI_SKIP_VERSION_CHECK: '1' })
  })

  it('images as files', () => {
    const plan = launch({ input: [{ id: '0', type: 'text', text: 'See.' }, aPicture] })
    assert.equal(plan.args.at(-1), '@/private/image-1.jpg')
    assert.equal(fileOf(plan, 'image-1.jpg'), 'AAAA')
    assert.equal(plan.stdin, 'See.')
  })

  it('the model, its provider and what else was given', () => {
    const plan = launchPi(aRequest({ model: 'm-1' }), { provider: 'openai', args: ['--thinking', 'low'] })
    assert.equal(optionOf(plan, '--model'), 'm-1')
    assert.equal(optionOf(plan, '--provider'), 'openai')
    assert.equal(optionOf(plan, '--thinking'), 'low')
  })

  it('instructions in a file, in addition to its own', () => {
    const plan = launch({ instructions: 'Be brief.' })
    assert.equal(optionOf(plan, '--append-system-prompt'), '/private/instructions.md')
    assert.equal(fileOf(plan, 'instructions.md'), 'Be brief.')
  })

  it('Pi gets the session file to continue, or the one to fork into a session of our choice', () => {
    const resumed = launch({ session: { kind: 'resume', nativeId: '/s/1.jsonl', anchor: 'a' } })
    assert.equal(optionOf(resumed, '--session'), '/s/1.jsonl')
    const forked = launch({ session: { kind: 'fork', nativeId: '/s/1.jsonl', anchor: 'a', id: SESSION } })
    assert.deepEqual([optionOf(forked, '--fork'), optionOf(forked, '--session-id')], ['/s/1.jsonl', SESSION])
    for (const name of ['--session', '--fork', '--session-id']) assert.equal(optionOf(launch(), name), undefined)
  })

  it('Pi loads nothing that no rule covers', () => {
    const { args } = launch()
    assert.ok(args.includes('--no-extensions') && args.includes('--no-approve'))
  })

  it('its MCP servers in a private extension, and the tools of no other server', () => {
    const mcp: MCPConfiguration = {
      'my-toy': { type: 'stdio', command: 'toy', args: ['-x'], env: { KEY: 'secret' } },
      far: { type: 'remote', url: 'http://127.0.0.1:1/mcp', headers: { authorization: 'Bearer secret' } },
    }
    const rules = { ...NO_RULES, tools: { mcp__far__drop: 'deny' } } as const
    for (const way of [launchPi, launchPiLive]) {
      const plan = way(aRequest({ mcp, rules, permissions: 'full' }))
      assert.deepEqual(toolsOf(plan).slice(-2), ['mcp__my_toy__*', 'mcp__far__*'])
      assert.ok(plan.args.includes('builtin:mcp') && plan.args.includes('/private/servers.mjs'))
      const code = fileOf(plan, 'servers.mjs') ?? ''
      for (const part of ['"command":"toy"', '"KEY":"secret"', '"Bearer secret"', '"toolExposure":{"drop":"hidden"}']) {
        assert.ok(code.includes(part), part)
      }
    }
    assert.ok(!launch().args.includes('builtin:mcp'))
  })

  it('no value of a server that it would run or replace', () => {
    for (const value of ['!id', ' !id', 'a${HOME}']) {
      const mcp = { toy: { type: 'stdio', command: 'toy', env: { KEY: value } } } as const
      assert.throws(
        () => launch({ mcp, permissions: 'full' }),
        (error) => InspanError.is(error, 'unsupported') && String(error.details['keys']) === 'KEY',
      )
    }
  })

  it('Pi cannot be limited to a number of steps, and a warning reports that', () => {
    assert.deepEqual(
      launch({ maxSteps: 1 }).warnings?.map(({ code }) => code),
      ['max-steps'],
    )
  })
})

describe('Pi may', () => {
  it('look around', () => {
    assert.deepEqual(toolsOf(launch({ permissions: 'read-only' })), ['read', 'grep', 'find', 'ls'])
  })

  it('edit', () => {
    assert.deepEqual(toolsOf(launch()), ['read', 'grep', 'find', 'ls', 'edit', 'write'])
  })

  it('do everything', () => {
    assert.ok(toolsOf(launch({ permissions: 'full' })).includes('bash'))
  })

  it('have no tool at all', () => {
    const plan = launch({ permissions: 'read-only', rules: { ...NO_RULES, categories: { read: 'deny' } } })
    assert.ok(plan.args.includes('--no-tools'))
    assert.deepEqual(toolsOf(plan), [])
  })

  it('Pi may not do what would have to be asked, and that is reported', () => {
    const plan = launch({ permissions: 'full', rules: { ...NO_RULES, categories: { execute: 'ask' } } })
    assert.ok(!toolsOf(plan).includes('bash'))
    assert.deepEqual(
      plan.warnings?.map(({ code }) => code),
      ['rule-asks'],
    )
  })

  it('Pi may not start under rules with patterns', () => {
    const patterns = [{ tool: 'execute_command', pattern: 'rm *', policy: 'deny' }] as const
    assert.throws(
      () => launch({ permissions: 'full', rules: { ...NO_RULES, patterns } }),
      (error) => InspanError.is(error, 'policy-unsupported'),
    )
  })
})

it('Pi over rpc gets the same, apart from its prompt and its session', () => {
  const request = aRequest({ model: 'm-1', session: { kind: 'resume', nativeId: '/s/1.jsonl' }, permissions: 'full' })
  const plan = launchPiLive(request)
  assert.equal(plan.args.filter((arg) => arg === '--mode').length, 1)
  assert.deepEqual(plan.args.slice(0, 2), ['--mode', 'rpc'])
  assert.ok(!plan.args.includes('--print') && !plan.args.includes('--session'))
  assert.ok(!('stdin' in plan))
  assert.deepEqual(toolsOf(plan), toolsOf(launch({ permissions: 'full' })))
})

it('a turn of Pi can be resumed where a model call with its tools was over', () => {
  const native = { sessionId: 's', messageId: 'm1' }
  assert.equal(piAnchor({ type: 'step-finish', stepIndex: 0, finishReason: 'tool-calls', native }), 'm1')
  for (const finishReason of ['error', 'other'] as const) {
    assert.equal(piAnchor({ type: 'step-finish', stepIndex: 0, finishReason, native }), undefined)
  }
  assert.equal(piAnchor({ type: 'text-delta', text: 'hi', native }), undefined)
})
