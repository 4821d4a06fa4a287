import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ownBench } from '../real/own-bench.ts'
import { pathWithRipgrep } from '../real/ripgrep.ts'
import { testCli } from '../real/scenarios.ts'
import { opencode } from './driver.ts'
import { opencodeProfile } from './profile.ts'
import { opencodeCli } from '../real/opencode-cli.ts'
import { testSilence } from '../real/opencode-silence.ts'

const cli = opencodeCli(
  { profile: opencodeProfile, prefix: 'OPENCODE', agent: opencode, path: await pathWithRipgrep() },
  {
    'endless-command': 'it tells of a call when it is over',
    'head-moved': 'it is resumed at our anchor, never at its end',
    mcp: 'it does not tell which server a tool is from',
    'provider-429': 'it retries without a word',
    'provider-500': 'it retries without a word and without end',
    'provider-gone': 'it retries without a word and without end',
  },
)

testCli(cli)

describe('OpenCode, its own way', () => {
  testSilence(cli)

  it('calls a tool of an MCP server', async (t) => {
    const bench = await ownBench(t, cli, (place) => cli.scripts.mcp?.(place) ?? {})
    const { events } = await bench.turn({ options: cli.options?.mcp ?? {} })
    const result = events.find((event) => event.type === 'tool-result' && event.toolName === 'toy_echo')
    assert.ok(result?.type === 'tool-result')
    assert.match(JSON.stringify(result.result), /echo: hi secret/)
  })
})
