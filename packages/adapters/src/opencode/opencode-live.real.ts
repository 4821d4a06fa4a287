import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openStage, testAcp, type AcpCli } from '../../test/acp/acp-scenarios.ts'
import { allowing, benchOf, isThere } from '../../test/live/live-scenarios.ts'
import { finishOf, liveHost, resultsOf, textOf } from '../../test/live/live-host.ts'
import { opencodeCli } from '../real/opencode-cli.ts'
import { pathWithRipgrep } from '../real/ripgrep.ts'
import { opencodeLive } from './live.ts'
import { opencodeProfile } from './profile.ts'

const cli: AcpCli = {
  ...opencodeCli({ profile: opencodeProfile, prefix: 'OPENCODE', agent: opencodeLive, path: await pathWithRipgrep() }),
  command: (command) => ({ name: 'bash', input: { command, description: 'Runs it' } }),
  write: (file) => ({ name: 'write', input: { filePath: file, content: 'made\n' } }),
  mcp: { name: 'toy_echo', input: { text: 'hi' } },
  refusesTogether: true,
  forgetsStopped: false,
}

testAcp(cli, (test) => {
  test('is asked about whatever its own settings allow, and has no subagents', async (t, bin) => {
    const bench = await benchOf(t, cli, bin, () => ({
      turns: [{ toolCalls: [cli.command('touch a.txt')] }, { text: 'Done.' }],
    }))
    const folder = join(bench.place.home, '.config/opencode')
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'opencode.json'), JSON.stringify({ permission: { '*': 'allow', bash: 'allow' } }))
    const host = liveHost(() => ({ policy: 'deny', reason: 'a rule' }))
    const { run } = await openStage(t, bench, { host })
    assert.equal(resultsOf(await run().all)[0]?.startsWith('✗'), true)
    assert.equal(await isThere(bench, 'a.txt'), false)
    const tools = JSON.stringify(bench.provider.requests.find(({ route }) => route === 'main')?.body)
    assert.ok(tools.includes('"bash"'))
    assert.ok(!tools.includes('"task"'))
  })

  test('does not see a tool that is denied for good', async (t, bin) => {
    const bench = await benchOf(t, cli, bin, () => ({ turns: [{ text: 'Done.' }] }))
    const { run } = await openStage(t, bench, { host: allowing() })
    const rules = { categories: { execute: 'deny' }, tools: { web_fetch: 'deny' }, patterns: [] } as const
    assert.equal(finishOf(await run({ rules }).all), 'stop')
    const tools = JSON.stringify(bench.provider.requests.find(({ route }) => route === 'main')?.body)
    assert.ok(tools.includes('"read"'))
    assert.ok(!tools.includes('"bash"') && !tools.includes('"webfetch"'))
  })

  test('is given instructions and a picture', async (t, bin) => {
    const bench = await benchOf(t, cli, bin, () => ({ turns: [{ text: 'I see.' }] }))
    const { run } = await openStage(t, bench)
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const events = await run({
      instructions: 'INSTRUCTIONS-9',
      input: [
        { id: '0', type: 'text', text: 'Look.' },
        { id: '1', type: 'image', mimeType: 'image/png', data: png },
      ],
    }).all
    assert.equal(textOf(events), 'I see.')
    assert.match(bench.request(0), /INSTRUCTIONS-9/)
    assert.ok(bench.request(0).includes(png))
  })
})
