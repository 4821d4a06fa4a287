import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe } from 'node:test'
import { testAcp, type AcpCli } from '../../acp/acp-scenarios.ts'
import { ALLOW_ALL, finishOf, liveHost, resultsOf } from '../../live/live-host.ts'
import { allowing, benchOf, isThere, openStage } from '../../live/live-scenarios.ts'
import { opencodeCli, type RealFlavour } from './opencode-cli.ts'
import { testSilence } from './opencode-silence.ts'
import { testCutIsFatal, testNamelessMcp } from '../other-ways.ts'
import { ONLY_AT_ITS_END } from '../scenario.ts'
import { testCli } from '../scenarios.ts'
import { SIDE_BY_SIDE } from '../side-by-side.ts'

const HOST_DECIDES = 'its host decides, call by call'
const UNSUPPORTED = {
  mcp: 'it does not report which server a tool is from',
  'provider-429': 'it retries silently',
  'provider-500': 'it retries silently and without end',
  'provider-gone': 'it retries silently and without end',
  'read-only': HOST_DECIDES,
  'resume-at-anchor': ONLY_AT_ITS_END,
  subagent: 'it is not there, as it would ask nobody',
  touch: HOST_DECIDES,
  'write-outside': HOST_DECIDES,
}

export interface LiveFacts {
  readonly isCutFatal: boolean
  /** Path of the settings file, below home. */
  readonly settings: string
}

/** Tests OpenCode, or a program built on it, over ACP. */
export function testOpencodeLive(flavour: RealFlavour, { isCutFatal, settings }: LiveFacts): void {
  const unsupported = isCutFatal ? { ...UNSUPPORTED, 'provider-cut': 'it does not ask again' } : UNSUPPORTED
  const cli: AcpCli = {
    ...opencodeCli(flavour, unsupported),
    command: (command) => ({ name: 'bash', input: { command, description: 'Runs it' } }),
    write: (file) => ({ name: 'write', input: { filePath: file, content: 'made\n' } }),
    mcp: { name: 'toy_echo', input: { text: 'hi' } },
    refusesTogether: true,
    forgetsStopped: false,
  }

  testAcp(cli, (test) => {
    test(
      'is asked about whatever its own settings allow, and has no subagents',
      async (t, bin) => {
        const bench = await benchOf(t, cli, bin, () => ({
          turns: [{ toolCalls: [cli.command('touch a.txt')] }, { text: 'Done.' }],
        }))
        const file = join(bench.place.home, settings)
        await mkdir(dirname(file), { recursive: true })
        await writeFile(file, JSON.stringify({ permission: { '*': 'allow', bash: 'allow' } }))
        const host = liveHost(() => ({ policy: 'deny', reason: 'a rule' }))
        const { run } = await openStage(t, bench, { host })
        assert.equal(resultsOf(await run().all)[0]?.startsWith('✗'), true)
        assert.equal(await isThere(bench, 'a.txt'), false)
        const tools = JSON.stringify(bench.provider.requests.find(({ route }) => route === 'main')?.body)
        assert.ok(tools.includes('"bash"'))
        assert.ok(!tools.includes('"task"'))
        assert.equal((await bench.agent().describe()).subagents, false)
      },
      { cannot: 'subagent', because: 'It has none in this mode, because they would ask nobody.' },
    )

    test('does not see a tool that is always denied', async (t, bin) => {
      const bench = await benchOf(t, cli, bin, () => ({ turns: [{ text: 'Done.' }] }))
      const { run } = await openStage(t, bench, { host: allowing() })
      const rules = { categories: { execute: 'deny' }, tools: { web_fetch: 'deny' }, patterns: [] } as const
      assert.equal(finishOf(await run({ rules }).all), 'stop')
      const tools = JSON.stringify(bench.provider.requests.find(({ route }) => route === 'main')?.body)
      assert.ok(tools.includes('"read"'))
      assert.ok(!tools.includes('"bash"') && !tools.includes('"webfetch"'))
    })
  })

  const asInPrint = { ...cli, way: 'over ACP, as in print mode', host: ALLOW_ALL }
  testCli(asInPrint)

  describe(`${flavour.profile.title} over ACP, its own way`, SIDE_BY_SIDE, () => {
    testSilence(asInPrint)
    testNamelessMcp(asInPrint, 'toy_echo')
    if (isCutFatal) testCutIsFatal(asInPrint)
  })
}
