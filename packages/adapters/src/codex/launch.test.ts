import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InspanError, NO_RULES, type PermissionRules } from '@inspan/protocol'
import { aPicture, aRequest, optionOf, optionsOf } from '../../test/launch/request.ts'
import type { LaunchPlan, LaunchRequest } from '../launch/launch-plan.ts'
import { launchCodex } from './launch.ts'
import { toToml } from './toml.ts'

const launch = (more: Partial<LaunchRequest> = {}): LaunchPlan => launchCodex(aRequest(more))
const rules = (more: Partial<PermissionRules>): PermissionRules => ({ ...NO_RULES, ...more })

function setting(plan: LaunchPlan, key: string): string | undefined {
  return optionsOf(plan, '-c')
    .find((each) => each.startsWith(`${key}=`))
    ?.slice(key.length + 1)
}

const refused =
  (...names: string[]) =>
  (error: unknown): boolean => {
    assert.ok(InspanError.is(error, 'policy-unsupported'))
    assert.deepEqual(error.details['rules'], names)
    return true
  }

describe('the command line of Codex', () => {
  it('passes the prompt on standard input, so that it is not in the process list and can be long', () => {
    const plan = launch()
    assert.equal(plan.stdin, 'Do it.')
    assert.equal(plan.args[0], 'exec')
    assert.equal(plan.args.at(-1), '-')
    assert.ok(plan.args.includes('--json'))
  })

  it('passes images as files, at a place where the prompt cannot be taken for one', () => {
    const plan = launch({ input: [{ id: '0', type: 'text', text: 'See.' }, aPicture] })
    assert.equal(optionOf(plan, '--image'), '/private/image-1.jpg')
    assert.equal(plan.files?.[0]?.name, 'image-1.jpg')
    assert.ok(plan.args.indexOf('--image') < plan.args.indexOf('--json'))
  })

  it('resumes a session at its end', () => {
    const plan = launch({ session: { kind: 'resume', nativeId: 'thread' } })
    assert.deepEqual(plan.args.slice(-3), ['resume', 'thread', '-'])
  })

  it('passes the model and the instructions', () => {
    const plan = launch({ model: 'gpt-5.5', instructions: 'Be "brief".\nNow.' })
    assert.equal(optionOf(plan, '--model'), 'gpt-5.5')
    assert.equal(setting(plan, 'developer_instructions'), String.raw`"Be \"brief\".\nNow."`)
  })

  it('passes changed instructions as text, because a session keeps its first ones', () => {
    const session = { kind: 'resume', nativeId: 'thread' } as const
    const plan = launch({ session, instructions: 'Be brief.', hasNewInstructions: true })
    assert.match(plan.stdin ?? '', /^<instructions>\n.*\nBe brief\.\n<\/instructions>\n\nDo it\.$/s)
    assert.equal(launch({ session, instructions: 'Be brief.' }).stdin, 'Do it.')
  })

  it('makes Codex give up when the network is gone', () => {
    assert.deepEqual(optionsOf(launch(), '--disable'), ['unbounded_connection_retries'])
  })

  it('cannot limit the number of steps, and a warning reports that', () => {
    assert.equal(launch({ maxSteps: 3 }).warnings?.[0]?.code, 'max-steps')
  })

  it('ignores the configuration of the user, unless that is asked for', () => {
    const own = launch()
    assert.ok(own.args.includes('--ignore-user-config') && own.args.includes('--ignore-rules'))
    const plan = launchCodex(aRequest(), {
      userConfig: true,
      config: { model_provider: 'mine' },
      args: ['--ephemeral'],
    })
    assert.ok(!plan.args.includes('--ignore-user-config') && !plan.args.includes('--ignore-rules'))
    assert.equal(setting(plan, 'model_provider'), '"mine"')
    assert.ok(plan.args.includes('--ephemeral'))
  })

  it('passes MCP servers, with their secrets in the environment', () => {
    const plan = launch({
      mcp: {
        'my files': { type: 'stdio', command: 'node', args: ['a b.js'], env: { TOKEN: 'secret-1', PATH: '/bin' } },
        more: { type: 'stdio', command: 'more', env: { TOKEN: 'other' } },
        web: { type: 'remote', url: 'https://example.com/mcp', headers: { Authorization: 'secret-2' } },
        off: { type: 'stdio', command: 'off', enabled: false },
      },
    })
    assert.equal(
      setting(plan, 'mcp_servers'),
      '{"my files"={"command"="node","args"=["a b.js"],"env_vars"=["TOKEN"],"env"={"PATH"="/bin"},"default_tools_approval_mode"="approve"},' +
        '"more"={"command"="more","args"=[],"env"={"TOKEN"="other"},"default_tools_approval_mode"="approve"},' +
        '"web"={"url"="https://example.com/mcp","env_http_headers"={"Authorization"="INSPAN_MCP_2_0"},"default_tools_approval_mode"="approve"}}',
    )
    assert.deepEqual(plan.env, { TOKEN: 'secret-1', INSPAN_MCP_2_0: 'secret-2' })
  })

  it('makes Codex wait for the MCP servers it is given, and for no others', () => {
    const mcp = { toy: { type: 'stdio', command: 'toy' } } as const
    assert.equal(setting(launch({ mcp }), 'mcp_optional_startup_grace_ms'), '0')
    assert.equal(setting(launch(), 'mcp_optional_startup_grace_ms'), undefined)
  })

  it('passes the time limit for the start of a server, if one is set', () => {
    const mcp = {
      toy: { type: 'stdio', command: 'toy', timeout: 2_500 },
      other: { type: 'stdio', command: 'o' },
    } as const
    assert.equal(
      setting(launch({ mcp }), 'mcp_servers'),
      '{"toy"={"command"="toy","args"=[],"startup_timeout_sec"=2.5,"default_tools_approval_mode"="approve"},' +
        '"other"={"command"="o","args"=[],"default_tools_approval_mode"="approve"}}',
    )
  })
})

describe('Codex may', () => {
  it('read, edit in its directory, or do everything, as its sandbox allows, and never asks', () => {
    const sandbox = (permissions: LaunchRequest['permissions']): string | undefined =>
      setting(launch({ permissions }), 'sandbox_mode')
    assert.equal(sandbox('read-only'), '"read-only"')
    assert.equal(sandbox('edit'), '"workspace-write"')
    assert.equal(sandbox('full'), '"danger-full-access"')
    assert.equal(setting(launch(), 'approval_policy'), '"never"')
  })

  it('call MCP servers only when that is granted', () => {
    const mcp = { toy: { type: 'stdio', command: 'toy' } } as const
    assert.doesNotMatch(setting(launch({ mcp, permissions: 'read-only' }), 'mcp_servers') ?? '', /approve/)
  })
})

describe('our rules hold in Codex', () => {
  it('for commands, by taking its shell away', () => {
    for (const given of [rules({ categories: { execute: 'deny' } }), rules({ tools: { Bash: 'deny' } })]) {
      assert.deepEqual(optionsOf(launch({ rules: given }), '--disable').slice(1), ['shell_tool', 'unified_exec'])
    }
  })

  it('for edits, by a sandbox in which nothing can be written', () => {
    for (const given of [rules({ categories: { edit: 'deny' } }), rules({ tools: { write_file: 'deny' } })]) {
      assert.equal(setting(launch({ permissions: 'full', rules: given }), 'sandbox_mode'), '"read-only"')
    }
  })

  it('for reading, only together with its shell', () => {
    assert.throws(() => launch({ rules: rules({ categories: { read: 'deny' } }) }), refused('deny read tools'))
    const plan = launch({ rules: rules({ categories: { read: 'deny', execute: 'deny' } }) })
    assert.ok(optionsOf(plan, '--disable').includes('view_image'))
  })

  it('for the web, subagents and tools of MCP servers', () => {
    const plan = launch({
      mcp: { toy: { type: 'stdio', command: 'toy' }, gone: { type: 'stdio', command: 'gone' } },
      rules: rules({ tools: { WebSearch: 'deny', Task: 'deny', mcp__toy__echo: 'deny', mcp__gone: 'deny' } }),
    })
    assert.equal(setting(plan, 'web_search'), '"disabled"')
    assert.deepEqual(optionsOf(plan, '--disable').slice(1), ['multi_agent', 'multi_agent_v2'])
    const servers = setting(plan, 'mcp_servers') ?? ''
    assert.match(servers, /"toy"=\{.*"disabled_tools"=\["echo"\]\}/)
    assert.doesNotMatch(servers, /gone/)
  })

  it('for all MCP servers, by not starting them', () => {
    const mcp = { toy: { type: 'stdio', command: 'toy' } } as const
    const plan = launch({ mcp, rules: rules({ categories: { mcp: 'deny' } }) })
    assert.equal(setting(plan, 'mcp_servers'), undefined)
    assert.deepEqual(optionsOf(plan, '--disable').slice(1), ['apps', 'plugins'])
  })

  it('or Codex does not start', () => {
    const given = rules({
      categories: { other: 'deny' },
      tools: { update_goal: 'deny', skill: 'ask' },
      patterns: [{ tool: 'Bash', pattern: 'rm *', policy: 'deny' }],
    })
    const names = ['deny every other tool', 'deny update_goal', 'deny skill', 'deny Bash where it matches "rm *"']
    assert.throws(() => launch({ rules: given }), refused(...names))
    const plan = launch({ rules: given, allowUngoverned: true })
    assert.deepEqual(
      plan.warnings?.map(({ code }) => code),
      ['rule-asks', 'policy-unsupported'],
    )
  })

  it('or Codex does not start with a configuration that may have servers of its own', () => {
    const given = { rules: rules({ categories: { mcp: 'deny' }, tools: { mcp__toy__echo: 'deny' } }) }
    assert.throws(
      () => launchCodex(aRequest(given), { userConfig: true }),
      refused('deny every mcp tool', 'deny mcp__toy__echo'),
    )
  })
})

it('settings are written as TOML', () => {
  assert.equal(
    toToml({ a: ['x"y', 1, true], 'b c': { d: '\u007f\n\u0001' } }),
    String.raw`{"a"=["x\"y",1,true],"b c"={"d"="\u007F\n\u0001"}}`,
  )
  assert.equal(toToml('a\ud800b'), '"a\ufffdb"')
})
