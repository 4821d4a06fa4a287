import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InspanError, NO_RULES, type PermissionRules } from '@inspan/protocol'
import type { MCPConfiguration } from '@inspan/protocol/chat'
import { offeredTools, type NativeTools, type OfferedTools, type OfferOptions } from './offered-tools.ts'
import type { PermissionLevel } from './permissions.ts'

/** A CLI that reads only through its shell, as some do. */
const TOOLS: NativeTools = {
  categories: { read: ['tree'], edit: ['write', 'patch'], execute: ['sh'], other: ['fetch'] },
  harmless: ['delegate'],
  kinds: {
    shell: ['sh'],
    read: [],
    search: [],
    list: ['tree'],
    write: ['write'],
    edit: ['patch'],
    'web-search': [],
    'web-fetch': ['fetch'],
    subagent: ['delegate'],
    skill: [],
  },
}

interface Given {
  readonly rules?: Partial<PermissionRules>
  readonly permissions?: PermissionLevel
  readonly allowUngoverned?: boolean
  readonly mcp?: MCPConfiguration
  readonly options?: Partial<OfferOptions>
}

function offer({ rules = {}, permissions = 'full', allowUngoverned = false, mcp = {}, options }: Given): OfferedTools {
  const request = { rules: { ...NO_RULES, ...rules }, permissions, allowUngoverned, mcp }
  return offeredTools(request, TOOLS, { title: 'Program', why: 'It cannot.', hidesMcpTools: true, ...options })
}

it('reports which tools are allowed by name and not there', () => {
  const codes = (tools: PermissionRules['tools']): readonly unknown[] =>
    offer({ rules: { tools } }).warnings.map(({ code, message }) => [code, message])
  assert.deepEqual(codes({ skill: 'allow', web_search: 'allow', write_file: 'allow' }), [
    ['no-tool', 'Program has no such tool: skill, web_search.'],
  ])
  assert.deepEqual(codes({ skill: 'deny', subagent: 'allow', strange_tool: 'allow' }), [])
})

const names = (given: Given): readonly string[] => [...offer(given).offered].toSorted()
const unkept = (given: Given): unknown => {
  try {
    offer(given)
  } catch (error) {
    return InspanError.is(error, 'policy-unsupported') ? error.details['rules'] : error
  }
  return []
}
const mcp: MCPConfiguration = {
  toy: { type: 'stdio', command: 'toy' },
  web: { type: 'remote', url: 'https://example.com' },
}

describe('what a program may use if it cannot ask', () => {
  it('follows from the level', () => {
    assert.deepEqual(names({ permissions: 'read-only' }), ['delegate', 'tree'])
    assert.deepEqual(names({ permissions: 'edit' }), ['delegate', 'patch', 'tree', 'write'])
    assert.deepEqual(names({ permissions: 'full' }), ['delegate', 'fetch', 'patch', 'sh', 'tree', 'write'])
  })

  it('leaves out what a rule denies, by category, by our name and by its own', () => {
    assert.deepEqual(names({ rules: { categories: { read: 'deny', other: 'deny' } } }), ['patch', 'sh', 'write'])
    assert.deepEqual(names({ rules: { tools: { execute_command: 'deny' } } }), [
      'delegate',
      'fetch',
      'patch',
      'tree',
      'write',
    ])
    assert.ok(!names({ rules: { tools: { patch: 'deny' } } }).includes('patch'))
  })

  it('includes what a rule allows beyond the level', () => {
    assert.ok(names({ permissions: 'read-only', rules: { tools: { execute_command: 'allow' } } }).includes('sh'))
    assert.ok(names({ permissions: 'read-only', rules: { categories: { edit: 'allow' } } }).includes('write'))
  })

  it('has nothing of a category that is denied, whatever a rule allows of it', () => {
    const rules = { categories: { execute: 'deny' }, tools: { execute_command: 'allow' } } as const
    assert.ok(!names({ rules }).includes('sh'))
  })

  it('has nothing that would be asked about, and reports it', () => {
    const { offered, warnings } = offer({ rules: { tools: { execute_command: 'ask' } } })
    assert.ok(!offered.has('sh'))
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['rule-asks'],
    )
  })

  it('has no shell where editing is denied, because a command may write unseen, and reports that', () => {
    for (const given of [{}, { categories: { execute: 'allow' } }, { tools: { execute_command: 'allow' } }] as const) {
      for (const edit of ['deny', 'ask'] as const) {
        const rules = { ...given, categories: { ...('categories' in given ? given.categories : {}), edit } }
        const { offered, warnings } = offer({ rules })
        assert.deepEqual([...offered].toSorted(), ['delegate', 'fetch', 'tree'])
        assert.match(warnings.map(({ message }) => message).join(), /ask for commands that may change files/)
      }
    }
    assert.deepEqual(offer({ rules: { categories: { edit: 'deny' } }, permissions: 'edit' }).warnings, [], 'no shell')
  })

  it('includes unknown tools only where everything is allowed', () => {
    assert.equal(offer({}).hasStrangers, true)
    assert.equal(offer({ permissions: 'edit' }).hasStrangers, false)
    assert.deepEqual(offer({ rules: { tools: { unheard_of: 'deny' } } }).deniedStrangers, ['unheard_of'])
  })
})

describe('its MCP servers', () => {
  it('are those that are given, switched on and not denied', () => {
    const given = { ...mcp, off: { type: 'stdio', command: 'off', enabled: false } } as const
    assert.deepEqual(Object.keys(offer({ mcp: given }).mcp), ['toy', 'web'])
    const { mcp: left, deniedServers } = offer({ mcp, rules: { tools: { mcp__toy: 'deny' } } })
    assert.deepEqual([Object.keys(left), [...deniedServers]], [['web'], ['toy']])
    assert.deepEqual(offer({ mcp, rules: { categories: { mcp: 'deny' } } }).mcp, {})
    assert.deepEqual(offer({ mcp, permissions: 'read-only' }).mcp, {})
  })

  it('lose single tools if the program can hide them; otherwise it does not start', () => {
    const rules = { tools: { mcp__toy__echo: 'deny' } } as const
    assert.deepEqual(offer({ mcp, rules }).deniedMcpTools, [{ server: 'toy', tool: 'echo' }])
    assert.deepEqual(unkept({ mcp, rules, options: { hidesMcpTools: false } }), ['deny mcp__toy__echo'])
    assert.deepEqual(unkept({ rules, options: { hidesMcpTools: false } }), [], 'the server is not there')
  })
})

describe('rules that are not kept by removing tools', () => {
  it('are those about what its shell can do as well', () => {
    assert.deepEqual(unkept({ rules: { tools: { read_file: 'deny' } } }), ['deny read_file'])
    assert.deepEqual(unkept({ rules: { tools: { read_file: 'deny' } }, permissions: 'edit' }), [])
  })

  it('are patterns, unless the whole tool is removed', () => {
    const patterns = [{ tool: 'execute_command', pattern: 'rm *', policy: 'deny' }] as const
    assert.deepEqual(unkept({ rules: { patterns } }), ['deny execute_command where it matches "rm *"'])
    assert.deepEqual(unkept({ rules: { patterns }, permissions: 'edit' }), [])
    const ofServer = [{ tool: 'mcp__toy__echo', pattern: 'x', policy: 'deny' }] as const
    assert.equal((unkept({ mcp, rules: { patterns: ofServer } }) as readonly string[]).length, 1)
    assert.deepEqual(unkept({ rules: { patterns: ofServer } }), [])
    const ofStranger = [{ tool: 'unheard_of', pattern: 'x', policy: 'deny' }] as const
    assert.equal((unkept({ rules: { patterns: ofStranger } }) as readonly string[]).length, 1)
  })

  it('are a warning where that was allowed', () => {
    const { warnings } = offer({ rules: { tools: { read_file: 'deny' } }, allowUngoverned: true })
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['policy-unsupported'],
    )
  })
})
