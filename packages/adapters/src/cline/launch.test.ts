import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InspanError, NO_RULES, type JsonObject } from '@inspan/protocol'
import { aPicture, aRequest, fileOf, optionOf } from '../../test/launch/request.ts'
import type { LaunchPlan, LaunchRequest } from '../launch/launch-plan.ts'
import { launchCline } from './launch.ts'
import { launchClineLive } from './live.ts'

const launch = (more: Partial<LaunchRequest> = {}): LaunchPlan => launchCline(aRequest(more))

interface Settings {
  readonly disabledTools: readonly string[]
}
const disabledIn = (plan: Pick<LaunchPlan, 'files'>): readonly string[] =>
  (JSON.parse(fileOf(plan, 'settings.json')) as Settings).disabledTools
const serversIn = (plan: Pick<LaunchPlan, 'files'>): unknown =>
  (JSON.parse(fileOf(plan, 'mcp.json')) as { readonly mcpServers: JsonObject }).mcpServers

describe('the command line gives Cline', () => {
  it('the prompt as its last argument, which is never taken for a command or an option', () => {
    const plan = launch({ input: [{ id: '0', type: 'text', text: '--version' }] })
    assert.deepEqual(plan.args.slice(-2), ['--', '--version '])
    assert.equal(plan.args[0], '--json')
    assert.equal(plan.stdin, undefined)
  })

  it('a prompt that is too long for an argument in a file', () => {
    const text = 'ä'.repeat(70_000)
    const plan = launch({ input: [{ id: '0', type: 'text', text }] })
    assert.equal(plan.args.at(-1), 'Your task is in the file /private/task.md. Read all of it, then do it. ')
    assert.equal(fileOf(plan, 'task.md'), text)
  })

  it('the model, its provider and the instructions', () => {
    const plan = launchCline(aRequest({ model: 'm-1', instructions: 'Be brief.' }), {
      provider: 'openrouter',
      args: ['--thinking'],
    })
    assert.equal(optionOf(plan, '--model'), 'm-1')
    assert.equal(optionOf(plan, '--provider'), 'openrouter')
    assert.equal(optionOf(plan, '--system'), 'Be brief.')
    assert.ok(plan.args.includes('--thinking'))
    for (const name of ['--model', '--provider', '--system']) assert.equal(optionOf(launch(), name), undefined)
  })

  it('its settings in private files, in place of the user’s own, and leaves no daemon behind', () => {
    const { env = {} } = launch()
    assert.deepEqual(env, {
      CLINE_GLOBAL_SETTINGS_PATH: '/private/settings.json',
      CLINE_MCP_SETTINGS_PATH: '/private/mcp.json',
      CLINE_NO_AUTO_UPDATE: '1',
      CLINE_SESSION_BACKEND_MODE: 'local',
    })
  })

  it('MCP servers in a file, and none that are switched off', () => {
    const plan = launch({
      mcp: {
        files: { type: 'stdio', command: 'node', args: ['server.js'], env: { TOKEN: 'secret' } },
        web: { type: 'remote', url: 'https://example.com/mcp', headers: { Authorization: 'secret' }, timeout: 90_500 },
        off: { type: 'stdio', command: 'off', enabled: false },
      },
    })
    assert.deepEqual(serversIn(plan), {
      files: { command: 'node', args: ['server.js'], env: { TOKEN: 'secret' }, timeout: 60 },
      web: {
        type: 'streamableHttp',
        url: 'https://example.com/mcp',
        headers: { Authorization: 'secret' },
        timeout: 91,
      },
    })
    assert.doesNotMatch(plan.args.join(' '), /secret/)
    assert.deepEqual(serversIn(launch()), {})
  })

  it('Cline cannot be limited to a number of steps, and a warning reports that', () => {
    assert.deepEqual(
      launch({ maxSteps: 3 }).warnings?.map(({ code }) => code),
      ['max-steps'],
    )
  })

  it('no images', () => {
    assert.throws(
      () => launch({ input: [aPicture] }),
      (error) => InspanError.is(error, 'unsupported'),
    )
  })
})

describe('Cline may', () => {
  it('look around: what writes and what runs is not there', () => {
    const disabled = disabledIn(launch({ permissions: 'read-only' }))
    for (const name of ['editor', 'apply_patch', 'run_commands', 'fetch_web_content']) {
      assert.ok(disabled.includes(name), name)
    }
    for (const name of ['read_files', 'search_codebase', 'skills']) assert.ok(!disabled.includes(name), name)
  })

  it('edit, and not run commands', () => {
    const disabled = disabledIn(launch())
    assert.ok(!disabled.includes('editor') && disabled.includes('run_commands'))
  })

  it('do everything but answer its own questions', () => {
    assert.deepEqual(disabledIn(launch({ permissions: 'full' })), ['ask_question'])
  })

  it('Cline may not do what our rules deny, including tools of servers and unknown tools', () => {
    const plan = launch({
      permissions: 'full',
      rules: {
        ...NO_RULES,
        categories: { execute: 'deny' },
        tools: { mcp__toy__echo: 'deny', strange_tool: 'deny', subagent: 'deny' },
      },
    })
    assert.deepEqual(disabledIn(plan), [
      'ask_question',
      'run_commands',
      'spawn_agent',
      'team_spawn_teammate',
      'strange_tool',
      'toy__echo',
    ])
  })

  it('Cline may not start under rules that it cannot keep', () => {
    const patterns = [{ tool: 'execute_command', pattern: 'rm *', policy: 'deny' }] as const
    assert.throws(
      () => launch({ permissions: 'full', rules: { ...NO_RULES, patterns } }),
      (error) => InspanError.is(error, 'policy-unsupported'),
    )
  })
})

describe('Cline over ACP', () => {
  it('asks about everything, with the settings of print mode', () => {
    const plan = launchClineLive(aRequest({ mcp: { toy: { type: 'stdio', command: 'toy' } } }), { provider: 'p' })
    assert.deepEqual(plan.args, ['--acp', '--auto-approve', 'false'])
    assert.equal(plan.env?.['CLINE_PROVIDER'], 'p')
    assert.equal(plan.env?.['CLINE_SESSION_BACKEND_MODE'], 'local')
    assert.deepEqual(serversIn(plan), { toy: { command: 'toy', args: [], env: {}, timeout: 60 } })
  })

  it('has no subagents, which would ask nobody, unless that was allowed', () => {
    assert.ok(disabledIn(launchClineLive(aRequest())).includes('spawn_agent'))
    assert.ok(!disabledIn(launchClineLive(aRequest({ allowUngoverned: true }))).includes('spawn_agent'))
  })

  it('does not have the tools that are always denied; patterns are judged call by call', () => {
    const patterns = [{ tool: 'execute_command', pattern: 'rm *', policy: 'deny' }] as const
    const plan = launchClineLive(aRequest({ rules: { ...NO_RULES, categories: { edit: 'deny' }, patterns } }))
    const disabled = disabledIn(plan)
    assert.ok(disabled.includes('editor') && !disabled.includes('run_commands'))
  })
})
