import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { InspanError } from '@inspan/protocol'
import type { MCPConfiguration } from '@inspan/protocol/chat'
import { errorOf, printTurn } from '../../test/launch/print-turn.ts'
import { aRequest } from '../../test/launch/request.ts'
import { scratch } from '../../test/launch/stand-in.ts'
import { finishOf, liveHost, take } from '../../test/live/live-host.ts'
import { aTurn } from '../../test/launch/diary.ts'
import { standInProgram } from '../../test/live/stand-in-program.ts'
import { launchAntigravity } from '../antigravity/launch.ts'
import { launchCline } from '../cline/launch.ts'
import { codexLive } from '../codex/app-server/driver.ts'
import { launchCodex } from '../codex/launch.ts'
import { OPENCODE } from '../opencode/driver.ts'
import { launchOpencode } from '../opencode/launch.ts'
import type { LaunchPlan } from './launch-plan.ts'
import { MAX_ARGUMENT_BYTES, refuseUnstartable } from './plan-limits.ts'

const LONG = 'x'.repeat(MAX_ARGUMENT_BYTES + 1)
const prompt = (text: string): { input: [{ id: string; type: 'text'; text: string }] } => ({
  input: [{ id: '0', type: 'text', text }],
})
const manyServers: MCPConfiguration = Object.fromEntries(
  Array.from({ length: 20 }, (_, n) => [`s${n}`, { type: 'stdio', command: 'c', args: ['y'.repeat(10_000)] }]),
)

function refusalOf(plan: LaunchPlan): string {
  try {
    refuseUnstartable(plan, 'Program')
  } catch (error) {
    assert.ok(InspanError.is(error, 'unsupported'))
    return error.message
  }
  return ''
}

describe('what a program cannot be started with', () => {
  it('is an argument or a variable that the system does not take, by a single byte', async () => {
    const fits = LONG.slice(1)
    const start = async (arg: string, variable: string): Promise<unknown> =>
      promisify(execFile)('true', [arg], { env: { V: variable.slice('V='.length) } })
    if (process.platform === 'linux') {
      await start(fits, fits)
      await assert.rejects(start(LONG, ''), { code: 'E2BIG' })
      await assert.rejects(start('', LONG), { code: 'E2BIG' })
    }
    assert.equal(refusalOf({ args: [fits], env: { V: fits.slice('V='.length) } }), '')
    assert.match(refusalOf({ args: [LONG] }), /131072 bytes.*131071/)
    assert.match(refusalOf({ args: [], env: { V: LONG.slice('V='.length) } }), /V.*131072 bytes/)
    assert.match(refusalOf({ args: ['--system', 'ü'.repeat(70_000)] }), /--system/)
  })

  it('is a NUL character, as that ends an argument', () => {
    assert.match(refusalOf({ args: ['--', 'a\0b'] }), /NUL/)
    assert.match(refusalOf({ args: [], env: { V: 'a\0b' } }), /NUL.*V/)
  })

  it('is reported before the start, with the exact input', async (t) => {
    const launch = (): LaunchPlan => ({ args: ['--system', LONG] })
    const { events, notes } = await printTurn(t, `hello(); done()`, { spec: { launch } })
    assert.equal(errorOf(events).code, 'unsupported')
    assert.match(errorOf(events).message, /Stand-in cannot be given --system/)
    assert.equal(notes.processes.length, 0)
  })

  it('is reported also for one that stays', async (t) => {
    const dir = await scratch(t)
    const host = liveHost()
    const options = { bin: await standInProgram(dir, 'codex', `t.say('hi')`), cwd: dir, env: { CODEX_API_KEY: 'any' } }
    const session = await codexLive({ ...options, mcp: manyServers }).open(null, host.host)
    const events = await take(session.run(aTurn), host).all
    await session.close()
    assert.equal(finishOf(events), 'error')
    assert.equal(errorOf(events).code, 'unsupported')
    assert.equal(host.processes.length, 0)
  })
})

describe('long texts', () => {
  it('Codex receives long texts on its input', () => {
    const plan = launchCodex(aRequest({ ...prompt(LONG), instructions: LONG }))
    assert.equal(refusalOf(plan), '')
    assert.match(plan.stdin ?? '', /^<instructions>[^]*x{9}\n<\/instructions>\n\nx{9}/)
    assert.match(refusalOf(launchCodex(aRequest({ mcp: manyServers }))), /mcp_servers/)
  })

  it('Cline receives long prompts in a file that it reads, but not long instructions', () => {
    assert.equal(refusalOf(launchCline(aRequest(prompt(LONG)))), '')
    assert.match(refusalOf(launchCline(aRequest({ instructions: LONG }))), /--system/)
    assert.match(refusalOf(launchCline(aRequest(prompt('a\0b')))), /NUL/)
  })

  it('Cline is refused long texts if it may read no files', () => {
    const blind = aRequest({ ...prompt(LONG), rules: { categories: {}, tools: { read_file: 'deny' }, patterns: [] } })
    assert.throws(
      () => launchCline(blind),
      (error: unknown) => InspanError.is(error, 'unsupported') && /a prompt of 131073 bytes/.test(error.message),
    )
  })

  it('OpenCode receives long texts in files, but not its servers', () => {
    assert.equal(refusalOf(launchOpencode(aRequest({ ...prompt(LONG), instructions: LONG }), OPENCODE)), '')
    assert.match(refusalOf(launchOpencode(aRequest({ mcp: manyServers }), OPENCODE)), /OPENCODE_CONFIG_CONTENT/)
  })

  it('Antigravity cannot receive long texts', () => {
    assert.match(refusalOf(launchAntigravity(aRequest(prompt(LONG)))), /--print/)
  })
})
