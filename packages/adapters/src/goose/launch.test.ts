import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InspanError, NO_RULES, type JsonObject, type JsonValue } from '@inspan/protocol'
import { aPicture, aRequest, fileOf, optionOf, SESSION } from '../../test/launch/request.ts'
import type { LaunchPlan, LaunchRequest } from '../launch/launch-plan.ts'
import { hasExtensions } from './extensions.ts'
import { launchGoose } from './launch.ts'
import { launchGooseLive } from './live.ts'

const launch = (more: Partial<LaunchRequest> = {}): LaunchPlan => launchGoose(aRequest(more))
const recipeOf = (plan: LaunchPlan): JsonObject => JSON.parse(fileOf(plan, 'turn.json')) as JsonObject
const extensionsOf = (plan: LaunchPlan): readonly JsonObject[] => recipeOf(plan)['extensions'] as readonly JsonObject[]
const toolsOf = (plan: LaunchPlan, name: string): JsonValue | undefined =>
  extensionsOf(plan).find((extension) => extension['name'] === name)?.['available_tools']

const DENY_SHELL = { ...NO_RULES, categories: { execute: 'deny' } } as const

describe('the command line gives Goose', () => {
  it('its task in a recipe that only it can read', () => {
    const plan = launch({ instructions: 'Be brief.' })
    assert.equal(optionOf(plan, '--recipe'), '/private/turn.json')
    assert.equal(optionOf(plan, '--output-format'), 'stream-json')
    const { prompt, instructions } = recipeOf(plan)
    assert.deepEqual([prompt, instructions], ['Do it.', 'Be brief.'])
    assert.equal(plan.stdin, undefined)
    assert.deepEqual(plan.env, { GOOSE_MODE: 'auto' })
  })

  it('texts that look like templates so that nothing is filled in', () => {
    const text = '{{ name }} {% if x %} {# note #}'
    const plan = launch({ input: [{ id: '0', type: 'text', text }] })
    assert.doesNotMatch(fileOf(plan, 'turn.json'), /\{[{%#]/)
    assert.equal(recipeOf(plan)['prompt'], text)
  })

  it('texts with half a surrogate pair so that it can read its recipe', () => {
    const half = 'a \ud83d b'
    const plan = launch({ input: [{ id: '0', type: 'text', text: half }], instructions: half })
    assert.doesNotMatch(fileOf(plan, 'turn.json'), /\\ud83d/)
    const { prompt, instructions } = recipeOf(plan)
    assert.deepEqual([prompt, instructions], ['a \ufffd b', 'a \ufffd b'])
  })

  it('Goose begins a session that can be found by its name', () => {
    const plan = launch()
    assert.equal(optionOf(plan, '--name'), `inspan-${SESSION}`)
    assert.ok(!plan.args.includes('--resume'))
    assert.equal(plan.sessionId, undefined)
  })

  it('Goose continues the given session', () => {
    const plan = launch({ session: { kind: 'resume', nativeId: '20260101_1' } })
    assert.ok(plan.args.includes('--resume'))
    assert.equal(optionOf(plan, '--session-id'), '20260101_1')
    assert.equal(optionOf(plan, '--name'), undefined)
    assert.equal(plan.sessionId, '20260101_1')
  })

  it('the model, its provider, the number of steps and what else was given', () => {
    const plan = launchGoose(aRequest({ model: 'm-1', maxSteps: 3 }), { provider: 'openai', args: ['--debug'] })
    assert.equal(optionOf(plan, '--model'), 'm-1')
    assert.equal(optionOf(plan, '--provider'), 'openai')
    assert.equal(optionOf(plan, '--max-turns'), '3')
    assert.ok(plan.args.includes('--debug'))
  })

  it('MCP servers as extensions of its recipe', () => {
    const plan = launch({
      mcp: {
        files: { type: 'stdio', command: 'node', args: ['server.js'], env: { TOKEN: 'secret' }, timeout: 1_500 },
        web: { type: 'remote', url: 'https://example.com/mcp', headers: { Authorization: 'secret' } },
        off: { type: 'stdio', command: 'off', enabled: false },
      },
    })
    assert.deepEqual(
      extensionsOf(plan).filter(({ type }) => type !== 'platform'),
      [
        { type: 'stdio', name: 'files', cmd: 'node', args: ['server.js'], envs: { TOKEN: 'secret' }, timeout: 2 },
        {
          type: 'streamable_http',
          name: 'web',
          uri: 'https://example.com/mcp',
          headers: { Authorization: 'secret' },
        },
      ],
    )
    assert.doesNotMatch(plan.args.join(' '), /secret/)
  })

  it('no images', () => {
    assert.throws(
      () => launch({ input: [aPicture] }),
      (error) => InspanError.is(error, 'unsupported'),
    )
  })
})

describe('Goose may', () => {
  it('look around, without its shell', () => {
    assert.deepEqual(toolsOf(launch({ permissions: 'read-only' }), 'developer'), ['tree', 'read_image'])
  })

  it('edit, without its shell', () => {
    assert.deepEqual(toolsOf(launch(), 'developer'), ['write', 'edit', 'tree', 'read_image'])
  })

  it('do everything: an extension without a list has all of its tools', () => {
    const plan = launch({ permissions: 'full' })
    assert.deepEqual(
      extensionsOf(plan).map(({ name }) => name),
      ['developer', 'analyze', 'summon', 'skills'],
    )
    assert.equal(toolsOf(plan, 'developer'), undefined)
  })

  it('Goose does not get an extension of which no tool is left', () => {
    const plan = launch({ permissions: 'full', rules: { ...NO_RULES, categories: { other: 'deny' } } })
    assert.deepEqual(
      extensionsOf(plan).map(({ name }) => name),
      ['developer', 'analyze'],
    )
  })

  it('Goose may not start when reading is denied and its shell could read', () => {
    const rules = { ...NO_RULES, tools: { read_file: 'deny' } } as const
    assert.throws(
      () => launch({ permissions: 'full', rules }),
      (error) => InspanError.is(error, 'policy-unsupported'),
    )
    assert.ok(launch({ permissions: 'full', rules: { ...rules, categories: { execute: 'deny' } } }))
  })

  it('Goose may not start when one tool of a server is denied', () => {
    const mcp = { toy: { type: 'stdio', command: 'toy' } } as const
    assert.throws(
      () => launch({ mcp, rules: { ...NO_RULES, tools: { mcp__toy__echo: 'deny' } } }),
      (error) => InspanError.is(error, 'policy-unsupported'),
    )
  })
})

describe('a session of Goose', () => {
  const stored = (extensions: readonly JsonObject[]): JsonObject => ({
    extension_data: { 'enabled_extensions.v0': { extensions } },
  })

  it('has the tools of a turn when it was begun with the same', () => {
    const wanted = extensionsOf(launch())
    assert.equal(hasExtensions(stored(wanted.toReversed()), wanted), true)
  })

  it('has other tools when it was begun under other rules or with other servers', () => {
    const wanted = extensionsOf(launch({ permissions: 'full' }))
    assert.equal(hasExtensions(stored(extensionsOf(launch({ permissions: 'full', rules: DENY_SHELL }))), wanted), false)
    const mcp = { toy: { type: 'stdio', command: 'toy' } } as const
    assert.equal(hasExtensions(stored(extensionsOf(launch({ permissions: 'full', mcp }))), wanted), false)
  })

  it('a session of Goose that does not list its extensions may have any', () => {
    assert.equal(hasExtensions({}, []), false)
  })
})

describe('Goose over ACP', () => {
  it('asks about every call, with the model and provider that were given', () => {
    const plan = launchGooseLive(aRequest({ model: 'm-1' }), { provider: 'openai', args: ['--x'] }, true)
    assert.deepEqual(plan.args, ['acp', '--with-builtin', 'developer', '--x'])
    assert.deepEqual(plan.env, { GOOSE_MODE: 'approve', GOOSE_PROVIDER: 'openai', GOOSE_MODEL: 'm-1' })
  })

  it('does not start under rules when its user has always allowed tools', () => {
    assert.throws(
      () => launchGooseLive(aRequest({ rules: DENY_SHELL }), {}, false),
      (error) => InspanError.is(error, 'policy-unsupported'),
    )
    assert.deepEqual(launchGooseLive(aRequest(), {}, false).warnings, [])
  })
})
