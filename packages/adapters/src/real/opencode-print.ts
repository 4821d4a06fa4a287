import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { opencodeCli, type RealFlavour } from './opencode-cli.ts'
import { testSilence } from './opencode-silence.ts'
import { testCutIsFatal } from './other-ways.ts'
import { ownBench } from './own-bench.ts'
import { testCli } from './scenarios.ts'

const TEST_MS = 10 * 60_000

const UNSUPPORTED = {
  'endless-command': 'it tells of a call when it is over',
  'head-moved': 'it is resumed at our anchor, never at its end',
  mcp: 'it does not tell which server a tool is from',
  'provider-429': 'it retries without a word',
  'provider-500': 'it retries without a word and without end',
  'provider-gone': 'it retries without a word and without end',
}

/** OpenCode, or a program built on it, with a process for every turn. */
export function testOpencodePrint(flavour: RealFlavour, { isCutFatal }: { readonly isCutFatal: boolean }): void {
  const cli = opencodeCli(
    flavour,
    isCutFatal ? { ...UNSUPPORTED, 'provider-cut': 'it does not ask again' } : UNSUPPORTED,
  )

  testCli(cli)

  describe(`${flavour.profile.title}, its own way`, () => {
    testSilence(cli)
    if (isCutFatal) testCutIsFatal(cli)

    it('calls a tool of an MCP server', { timeout: TEST_MS }, async (t) => {
      const bench = await ownBench(t, cli, (place) => cli.scripts.mcp?.(place) ?? {})
      const { events } = await bench.turn({ options: cli.options?.mcp ?? {} })
      const result = events.find((event) => event.type === 'tool-result' && event.toolName === 'toy_echo')
      assert.ok(result?.type === 'tool-result')
      assert.match(JSON.stringify(result.result), /echo: hi secret/)
    })
  })
}
