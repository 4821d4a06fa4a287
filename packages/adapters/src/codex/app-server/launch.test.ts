import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InspanError, NO_RULES, type PermissionRules } from '@inspan/protocol'
import { aRequest, optionsOf } from '../../../test/launch/request.ts'
import { launchAppServer, sandboxOf } from './launch.ts'

const ruled = (rules: Partial<PermissionRules>): ReturnType<typeof aRequest> =>
  aRequest({ rules: { ...NO_RULES, ...rules } })

describe('the command line', () => {
  it('has the settings of print mode, except those that are sent with each thread', () => {
    const plan = launchAppServer(aRequest({ instructions: 'Be kind.' }), { config: { model_provider: 'mine' } })
    assert.equal(plan.args[0], 'app-server')
    const settings = optionsOf(plan, '-c')
    assert.ok(settings.includes('model_provider="mine"'))
    assert.ok(settings.every((setting) => !/^(?:approval_policy|developer_instructions)=/.test(setting)))
    assert.ok(optionsOf(plan, '--disable').includes('unbounded_connection_retries'))
    assert.ok(!plan.args.includes('exec'))
  })

  it('requires approval for every tool of an MCP server', () => {
    const plan = launchAppServer(aRequest({ mcp: { files: { type: 'stdio', command: 'files' } } }))
    assert.equal(optionsOf(plan, '-c').at(-1), 'mcp_servers.files.default_tools_approval_mode="prompt"')
  })

  it('has no settings for MCP servers that are disabled or denied, because Codex would not start', () => {
    const server = { type: 'stdio', command: 'files' } as const
    const mcp = { files: server, off: { ...server, enabled: false }, denied: server }
    const request = { ...ruled({ tools: { mcp__denied: 'deny' } }), mcp }
    const named = launchAppServer(request).args.flatMap((arg) => /^mcp_servers\.(\w+)/.exec(arg)?.[1] ?? [])
    assert.deepEqual([...new Set(named)], ['files'])
  })
})

describe('rules', () => {
  it('that ask, and patterns for calls that Codex asks about anyway, are applied call by call', () => {
    const request = ruled({
      categories: { execute: 'ask', edit: 'ask' },
      patterns: [
        { tool: 'execute_command', pattern: 'rm *', policy: 'deny' },
        { tool: 'write_file', pattern: '/etc/*', policy: 'deny' },
      ],
    })
    assert.deepEqual(launchAppServer(request).warnings, [])
    assert.equal(sandboxOf(request), 'workspace-write')
  })

  it('for calls that Codex never asks about are refused by name', () => {
    const request = ruled({ patterns: [{ tool: 'read_file', pattern: '/etc/*', policy: 'deny' }] })
    assert.throws(
      () => launchAppServer(request),
      (error) => InspanError.is(error) && error.code === 'policy-unsupported' && error.message.includes('/etc/*'),
    )
  })

  it('that deny all edits make the sandbox read-only', () => {
    assert.equal(sandboxOf(ruled({ categories: { edit: 'deny' } })), 'read-only')
  })
})
