import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InspanError, NO_RULES, type PermissionRules } from '@inspan/protocol'
import { aPicture, aRequest, optionOf, SESSION } from '../../test/launch/request.ts'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import { claudeAnchor } from './driver.ts'
import { launchClaude } from './launch.ts'

const launch = (more: Partial<LaunchRequest> = {}): ReturnType<typeof launchClaude> => launchClaude(aRequest(more))
const rules = (more: Partial<PermissionRules>): PermissionRules => ({ ...NO_RULES, ...more })
const list = (text: string | undefined): readonly string[] => text?.split(',') ?? []

describe('the command line gives Claude Code', () => {
  it('the prompt on its input, so that nobody sees it and it can be long', () => {
    const plan = launch()
    assert.deepEqual(JSON.parse(plan.stdin ?? ''), {
      type: 'user',
      message: { role: 'user', content: [{ type: 'text', text: 'Do it.' }] },
      parent_tool_use_id: null,
      session_id: '',
    })
    assert.ok(plan.stdin?.endsWith('\n'))
    assert.ok(!plan.args.join(' ').includes('Do it.'))
    assert.equal(optionOf(plan, '--input-format'), 'stream-json')
    assert.equal(optionOf(plan, '--output-format'), 'stream-json')
  })

  it('no half of a surrogate pair, which a provider would refuse', () => {
    const plan = launch({ input: [{ id: '0', type: 'text', text: 'a \ud83d b 😀' }] })
    assert.ok(plan.stdin?.includes('"a \ufffd b 😀"'))
  })

  it('images, before the text', () => {
    const plan = launch({ input: [{ id: '0', type: 'text', text: 'See.' }, aPicture] })
    const { message } = JSON.parse(plan.stdin ?? '') as { message: { content: unknown } }
    assert.deepEqual(message.content, [
      { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' } },
      { type: 'text', text: 'See.' },
    ])
  })

  it('a session of our choice', () => {
    const plan = launch()
    assert.equal(optionOf(plan, '--session-id'), SESSION)
    assert.equal(optionOf(plan, '--resume'), undefined)
  })

  it('where to continue', () => {
    const plan = launch({ session: { kind: 'resume', nativeId: 'native', anchor: 'm1' } })
    assert.equal(optionOf(plan, '--resume'), 'native')
    assert.equal(optionOf(plan, '--resume-session-at'), 'm1')
    assert.ok(!plan.args.includes('--fork-session'))
    assert.equal(optionOf(plan, '--session-id'), undefined)
  })

  it('where to fork, into a session of our choice', () => {
    const plan = launch({ session: { kind: 'fork', nativeId: 'native', anchor: 'm1', id: SESSION } })
    assert.equal(optionOf(plan, '--resume'), 'native')
    assert.equal(optionOf(plan, '--resume-session-at'), 'm1')
    assert.ok(plan.args.includes('--fork-session'))
    assert.equal(optionOf(plan, '--session-id'), SESSION)
  })

  it('the model and the number of steps, if there is one', () => {
    const plan = launch({ model: 'opus', maxSteps: 3 })
    assert.equal(optionOf(plan, '--model'), 'opus')
    assert.equal(optionOf(plan, '--max-turns'), '3')
    assert.equal(optionOf(launch(), '--model'), undefined)
  })

  it('instructions in a file, anew for every turn', () => {
    const plan = launch({ instructions: 'Be brief.' })
    assert.equal(optionOf(plan, '--append-system-prompt-file'), '/private/instructions.md')
    assert.equal(optionOf(plan, '--system-prompt-snapshot'), 'off')
    assert.deepEqual(plan.files, [{ name: 'instructions.md', content: 'Be brief.' }])
  })

  it('MCP servers in a file, and the option to use no others', () => {
    const plan = launch({
      mcp: {
        files: { type: 'stdio', command: 'node', args: ['server.js'], env: { TOKEN: 'secret' } },
        web: { type: 'remote', url: 'https://example.com/mcp', headers: { Authorization: 'secret' } },
        off: { type: 'stdio', command: 'off', enabled: false },
      },
    })
    assert.equal(optionOf(plan, '--mcp-config'), '/private/mcp.json')
    assert.ok(plan.args.includes('--strict-mcp-config'))
    assert.ok(!plan.args.join(' ').includes('secret'))
    assert.deepEqual(JSON.parse(String(plan.files?.[0]?.content)), {
      mcpServers: {
        files: { type: 'stdio', command: 'node', args: ['server.js'], env: { TOKEN: 'secret' } },
        web: { type: 'http', url: 'https://example.com/mcp', headers: { Authorization: 'secret' } },
      },
    })
  })

  it('Claude Code gets the option to use no settings but those asked for', () => {
    assert.equal(optionOf(launch(), '--setting-sources'), '')
    const plan = launchClaude(aRequest(), { settings: ['user', 'project'], args: ['--effort', 'low'] })
    assert.equal(optionOf(plan, '--setting-sources'), 'user,project')
    assert.equal(optionOf(plan, '--effort'), 'low')
  })

  it('nothing it cannot take', () => {
    const input = [{ id: '0', type: 'file', mimeType: 'application/zip', data: 'AAAA' }] as const
    assert.throws(
      () => launch({ input }),
      (error) => InspanError.is(error, 'unsupported'),
    )
    assert.throws(
      () => launch({ input: [] }),
      (error) => InspanError.is(error, 'invalid-input'),
    )
  })
})

describe('Claude Code may', () => {
  it('look around', () => {
    const plan = launch({ permissions: 'read-only' })
    assert.equal(optionOf(plan, '--permission-mode'), 'dontAsk')
    assert.deepEqual(list(optionOf(plan, '--allowedTools')), ['Agent', 'Skill', 'ToolSearch', 'Read', 'Glob', 'Grep'])
  })

  it('edit in its directory, and nowhere else', () => {
    const plan = launch({ permissions: 'edit', mcp: { toy: { type: 'stdio', command: 'toy' } } })
    assert.equal(optionOf(plan, '--permission-mode'), 'acceptEdits')
    const allowed = list(optionOf(plan, '--allowedTools'))
    assert.ok(allowed.includes('mcp__toy'))
    for (const tool of ['Edit', 'Write', 'Bash', 'WebFetch']) assert.ok(!allowed.includes(tool), tool)
  })

  it('do everything, without its bypass', () => {
    const plan = launch({ permissions: 'full' })
    const allowed = list(optionOf(plan, '--allowedTools'))
    for (const tool of ['Edit', 'Write', 'Bash', 'WebFetch']) assert.ok(allowed.includes(tool), tool)
    assert.doesNotMatch(plan.args.join(' '), /bypass|dangerously/)
  })

  it('never ask anybody', () => {
    for (const permissions of ['read-only', 'edit', 'full'] as const) {
      assert.equal(optionOf(launch({ permissions }), '--permission-prompts'), 'none')
    }
  })
})

describe('our rules hold in Claude Code', () => {
  it('as denies of its own, which nothing allows again', () => {
    const plan = launch({
      permissions: 'full',
      rules: rules({ categories: { execute: 'deny' }, tools: { WebFetch: 'deny', mcp__toy__echo: 'deny' } }),
    })
    assert.deepEqual(list(optionOf(plan, '--disallowedTools')), [
      'Bash',
      'PowerShell',
      'Monitor',
      'Workflow',
      'WebFetch',
      'mcp__toy__echo',
    ])
    assert.ok(!list(optionOf(plan, '--allowedTools')).includes('Bash'))
  })

  it('whatever name a tool was given by others', () => {
    const plan = launch({
      rules: rules({ tools: { execute_command: 'deny', apply_patch: 'deny', read_file: 'allow' } }),
    })
    const denied = list(optionOf(plan, '--disallowedTools'))
    assert.ok(denied.includes('Bash') && denied.includes('Edit'))
    assert.ok(list(optionOf(plan, '--allowedTools')).includes('Read'))
  })

  it('so that without the right to edit nothing is accepted by itself', () => {
    const plan = launch({ rules: rules({ categories: { edit: 'deny' } }) })
    assert.equal(optionOf(plan, '--permission-mode'), 'dontAsk')
    assert.deepEqual(list(optionOf(plan, '--disallowedTools')), ['Edit', 'Write', 'NotebookEdit'])
  })

  it('so that without the right to edit no command writes either: it has no shell, and reports it', () => {
    for (const shell of [{ categories: { execute: 'allow' } }, { tools: { Bash: 'allow' } }] as const) {
      const categories = { ...('categories' in shell ? shell.categories : {}), edit: 'deny' } as const
      const plan = launch({ rules: rules({ ...shell, categories }) })
      assert.ok(list(optionOf(plan, '--disallowedTools')).includes('Bash'))
      assert.ok(!list(optionOf(plan, '--allowedTools')).includes('Bash'))
      assert.deepEqual(
        (plan.warnings ?? []).map(({ code }) => code),
        ['rule-asks'],
      )
    }
  })

  it('for unknown tools, by naming the known ones', () => {
    const plan = launch({ rules: rules({ categories: { other: 'deny', execute: 'deny' } }) })
    assert.equal(optionOf(plan, '--tools'), 'Read,Glob,Grep,Edit,Write,NotebookEdit')
    assert.equal(optionOf(launch(), '--tools'), undefined)
  })

  it('for MCP servers, by not starting them', () => {
    const mcp = { toy: { type: 'stdio', command: 'toy' } } as const
    const plan = launch({ mcp, rules: rules({ categories: { mcp: 'deny' } }) })
    assert.equal(optionOf(plan, '--mcp-config'), undefined)
  })

  it('where they ask, by denying, and that is reported', () => {
    const plan = launch({ rules: rules({ tools: { Bash: 'ask' } }) })
    assert.ok(list(optionOf(plan, '--disallowedTools')).includes('Bash'))
    assert.deepEqual(
      plan.warnings?.map(({ code, message }) => [code, message]),
      [['rule-asks', 'Nobody can be asked while Claude Code runs, so this is denied: ask for Bash.']],
    )
  })

  const pattern = { tool: 'execute_command', pattern: 'rm *', policy: 'deny' } as const

  it('our rules hold in Claude Code or it does not start', () => {
    assert.throws(
      () => launch({ rules: rules({ patterns: [pattern] }) }),
      (error) => {
        assert.ok(InspanError.is(error, 'policy-unsupported'))
        assert.deepEqual(error.details['rules'], ['deny execute_command where it matches "rm *"'])
        return true
      },
    )
  })

  it('our rules hold in Claude Code or it starts all the same if that was allowed, with a warning', () => {
    const plan = launch({ rules: rules({ patterns: [pattern] }), allowUngoverned: true })
    assert.equal(plan.warnings?.[0]?.code, 'policy-unsupported')
  })

  it('where a pattern forbids a part of what is denied in whole', () => {
    const plan = launch({ rules: rules({ patterns: [pattern], categories: { execute: 'deny' } }) })
    assert.deepEqual(plan.warnings, [])
  })
})

it('a turn of Claude Code can be resumed at its own messages and results, not at a subagent’s', () => {
  const native = { sessionId: 's', messageId: 'm1' }
  assert.equal(claudeAnchor({ type: 'text-delta', text: 'hi', native }), 'm1')
  assert.equal(claudeAnchor({ type: 'tool-result', toolCallId: 'c', toolName: 'Bash', result: '', native }), 'm1')
  assert.equal(claudeAnchor({ type: 'text-delta', text: 'hi', native, parentToolCallId: 'c' }), undefined)
  assert.equal(claudeAnchor({ type: 'reasoning-delta', text: 'hm', native }), undefined)
  assert.equal(claudeAnchor({ type: 'finish', finishReason: 'stop', native }), undefined)
})
