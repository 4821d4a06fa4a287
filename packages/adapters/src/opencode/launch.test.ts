import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { InspanError, NO_RULES, type JsonObject, type PermissionRules } from '@inspan/protocol'
import { aPicture, aRequest, fileOf, optionOf } from '../../test/launch/request.ts'
import { KILO_CODE } from '../kilo-code/driver.ts'
import type { LaunchPlan, LaunchRequest } from '../launch/launch-plan.ts'
import { OPENCODE, opencodeAnchor } from './driver.ts'
import { launchOpencode, type OpencodeLaunchOptions } from './launch.ts'
import { launchOpencodeLive } from './live-launch.ts'

const rules = (more: Partial<PermissionRules>): PermissionRules => ({ ...NO_RULES, ...more })

for (const flavour of [OPENCODE, KILO_CODE]) {
  const { prefix, profile } = flavour
  const { title } = profile
  const launch = (more: Partial<LaunchRequest> = {}, options: OpencodeLaunchOptions = {}): LaunchPlan =>
    launchOpencode(aRequest(more), flavour, options)
  const configOf = ({ env }: LaunchPlan): JsonObject =>
    JSON.parse(env?.[`${prefix}_CONFIG_CONTENT`] ?? '') as JsonObject
  const agentOf = (plan: LaunchPlan, name = 'inspan'): JsonObject =>
    (configOf(plan)['agent'] as Record<string, JsonObject>)[name] ?? {}
  const permissionOf = (plan: LaunchPlan, name?: string): JsonObject => agentOf(plan, name)['permission'] as JsonObject

  describe(`the command line gives ${title}`, () => {
    it('the prompt on its input: as an argument it would get quotes', () => {
      const plan = launch()
      assert.equal(plan.stdin, 'Do it.')
      assert.ok(!plan.args.includes('Do it.'))
      assert.equal(plan.args[0], 'run')
      assert.equal(optionOf(plan, '--format'), 'json')
    })

    it('images as files that it may read, whatever else it may not', () => {
      const plan = launch({ input: [aPicture], permissions: 'read-only' })
      assert.equal(optionOf(plan, '--file'), '/private/image-1.jpg')
      assert.equal(fileOf(plan, 'image-1.jpg'), 'AAAA')
      assert.equal(plan.stdin, 'See the attached images.')
      assert.deepEqual(permissionOf(plan)['external_directory'], { '*': 'deny', '/private/*': 'allow' })
    })

    it('the session to resume; a new one gets a title without asking a model for it', () => {
      const resumed = launch({ session: { kind: 'resume', nativeId: 'ses_1', anchor: 'm' } })
      assert.equal(optionOf(resumed, '--session'), 'ses_1')
      assert.ok(!resumed.args.includes('--title'))
      assert.equal(launch().args.at(-1), '--title')
    })

    it('the model, the number of steps and what else was given', () => {
      const plan = launch({ model: 'a/b', maxSteps: 3 }, { args: ['--variant', 'high'] })
      assert.equal(optionOf(plan, '--model'), 'a/b')
      assert.equal(agentOf(plan)['steps'], 3)
      assert.equal(optionOf(plan, '--variant'), 'high')
    })

    it('instructions in a file, after those of its own configuration', () => {
      const plan = launch({ instructions: 'Be brief.' }, { config: { instructions: ['own.md'], provider: {} } })
      assert.deepEqual(configOf(plan)['instructions'], ['own.md', '/private/instructions.md'])
      assert.equal(fileOf(plan, 'instructions.md'), 'Be brief.')
      assert.deepEqual(configOf(plan)['provider'], {})
    })

    it('MCP servers in its environment, which nobody else sees', () => {
      const plan = launch({
        mcp: {
          files: { type: 'stdio', command: 'node', args: ['server.js'], env: { TOKEN: 'secret' }, timeout: 5_000 },
          web: { type: 'remote', url: 'https://example.com/mcp', headers: { Authorization: 'secret' } },
          off: { type: 'stdio', command: 'off', enabled: false },
        },
      })
      assert.deepEqual(configOf(plan)['mcp'], {
        files: {
          type: 'local',
          command: ['node', 'server.js'],
          environment: { TOKEN: 'secret' },
          enabled: true,
          timeout: 5_000,
        },
        web: { type: 'remote', url: 'https://example.com/mcp', headers: { Authorization: 'secret' }, enabled: true },
      })
      assert.equal(permissionOf(plan)['files_*'], 'allow')
      assert.doesNotMatch(plan.args.join(' '), /secret/)
    })

    it('its directory, and options that load no plugins unless asked to and prevent updates', () => {
      const plan = launch()
      assert.equal(plan.env?.['PWD'], '/work')
      assert.ok(plan.args.includes('--pure'))
      assert.ok(!launch({}, { plugins: true }).args.includes('--pure'))
      assert.equal(plan.env?.[`${prefix}_DISABLE_AUTOUPDATE`], '1')
      assert.ok(`${prefix}_PERMISSION` in (plan.env ?? {}), 'what the environment would allow is taken away')
    })
  })

  describe(`${title} may`, () => {
    it('look around, in its directory, and not at secrets', () => {
      const permission = permissionOf(launch({ permissions: 'read-only' }))
      assert.deepEqual(permission['read'], {
        '*': 'allow',
        '*.env': 'deny',
        '*.env.*': 'deny',
        '*.env.example': 'allow',
      })
      assert.deepEqual([permission['grep'], permission['edit'], permission['bash']], ['allow', 'deny', 'deny'])
      assert.deepEqual(permission['external_directory'], { '*': 'deny' })
      assert.equal(permission['*'], 'deny')
    })

    it('edit', () => {
      const permission = permissionOf(launch())
      assert.deepEqual([permission['edit'], permission['bash']], ['allow', 'deny'])
    })

    it('do everything, and ask nobody', () => {
      const permission = permissionOf(launch({ permissions: 'full' }))
      for (const name of ['*', 'edit', 'bash', 'webfetch', 'external_directory', 'task'])
        assert.equal(permission[name], 'allow', name)
      assert.equal(permission['question'], 'deny')
      assert.ok(!JSON.stringify(permission).includes('"ask"'))
    })

    it('not do what our rules deny, in its subagents neither', () => {
      const plan = launch({
        permissions: 'full',
        rules: rules({
          categories: { execute: 'deny' },
          tools: { mcp__toy__echo: 'deny', mcp__other: 'deny', strange: 'deny' },
        }),
      })
      for (const name of ['inspan', 'general', 'explore']) {
        const permission = permissionOf(plan, name)
        for (const denied of ['bash', 'toy_echo', 'other_*', 'strange'])
          assert.equal(permission[denied], 'deny', denied)
      }
      assert.deepEqual(permissionOf(plan)['task'], { '*': 'deny', general: 'allow', explore: 'allow' })
      assert.equal(permissionOf(plan, 'general')['task'], 'deny')
    })

    it('not start under rules with patterns, unless that was allowed', () => {
      const patterned = rules({ patterns: [{ tool: 'execute_command', pattern: 'rm *', policy: 'deny' }] })
      assert.throws(
        () => launch({ permissions: 'full', rules: patterned }),
        (error) => InspanError.is(error, 'policy-unsupported'),
      )
      const plan = launch({ permissions: 'full', rules: patterned, allowUngoverned: true })
      assert.deepEqual(
        plan.warnings?.map(({ code }) => code),
        ['policy-unsupported'],
      )
    })
  })

  describe(`${title} over ACP`, () => {
    const livePermission = (more: Partial<LaunchRequest>): JsonObject =>
      permissionOf(launchOpencodeLive(aRequest(more), flavour))

    it('asks about what no rule denies', () => {
      const permission = livePermission({
        rules: rules({ tools: { read_file: 'ask' }, categories: { edit: 'allow' } }),
      })
      assert.equal(permission['*'], 'ask')
      for (const name of ['read', 'edit', 'bash', 'toy_*']) assert.equal(permission[name], undefined, name)
    })

    it('denies by itself what our rules deny: tools, categories, servers and tools of servers', () => {
      const mcp = { toy: { type: 'stdio', command: 'toy' }, 'other one': { type: 'stdio', command: 'other' } } as const
      const byName = livePermission({
        mcp,
        rules: rules({
          categories: { execute: 'deny' },
          tools: { Edit: 'deny', mcp__toy__echo: 'deny', mcp__gone: 'deny', strange: 'deny' },
        }),
      })
      for (const name of ['bash', 'edit', 'toy_echo', 'gone_*', 'strange']) assert.equal(byName[name], 'deny', name)
      const allServers = livePermission({ mcp, rules: rules({ categories: { mcp: 'deny' } }) })
      for (const name of ['toy_*', 'other_one_*']) assert.equal(allServers[name], 'deny', name)
      // Of several matching entries the last one counts.
      assert.equal(Object.keys(byName)[0], '*')
    })
  })
}

it('Kilo Code leaves no daemon running, and its background processes are commands', () => {
  const { env } = launchOpencode(aRequest(), KILO_CODE)
  assert.equal(env?.['KILO_NO_DAEMON'], '1')
  const { agent } = JSON.parse(env?.['KILO_CONFIG_CONTENT'] ?? '') as {
    readonly agent: { readonly inspan: { readonly permission: JsonObject } }
  }
  assert.equal(agent.inspan.permission['background_process'], 'deny')
})

it('a turn of OpenCode can be resumed where a model call was over', () => {
  const native = { sessionId: 's', messageId: 'm1' }
  assert.equal(opencodeAnchor({ type: 'step-finish', stepIndex: 0, finishReason: 'stop', native }), 'm1')
  assert.equal(opencodeAnchor({ type: 'text-delta', text: 'hi', native }), undefined)
})
