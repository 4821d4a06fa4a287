import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { NO_RULES, type AgentEvent } from '@inspan/protocol'
import type { RealCli } from './bench.ts'
import { isThere, ownBench } from './own-bench.ts'
import { modeOf, proving, type AbilityClaim, type ProvingBody } from './proofs.ts'
import { idly, TEST_MS } from './side-by-side.ts'
import { startingAfter } from './toy-server.ts'

/** A test of what a CLI does its own way, and what that proves. */
export function testOwnWay(
  cli: RealCli,
  title: string,
  claims: AbilityClaim | readonly AbilityClaim[],
  body: ProvingBody,
): void {
  it(title, { timeout: TEST_MS }, proving(cli.profile, modeOf(cli), claims, body))
}

/** For CLIs that print nothing while they wait for the provider. */
export function testSilentRetry(cli: RealCli): void {
  const claim = { can: 'provider-429', but: 'It retries silently.' } as const
  testOwnWay(cli, 'waits and goes on without a word when there were too many requests', claim, async (t) => {
    const turns = [{ error: { status: 429, retryAfterMs: 100 } }, { text: 'Recovered.' }]
    const bench = await ownBench(t, cli, { turns })
    const { activity } = await idly(() => bench.turn())
    assert.ok(activity.some((event) => event.type === 'agent' && event.message === 'Recovered.'))
    assert.notEqual(bench.request(1), '')
    assert.equal(bench.request(2), '')
  })
}

/** For CLIs that do not report which server a tool is from. */
export function testNamelessMcp(cli: RealCli, toolName: string): void {
  const claim = { can: 'mcp', but: 'It does not report which server a tool is from.' } as const
  testOwnWay(cli, 'calls a tool of an MCP server', claim, async (t) => {
    const bench = await ownBench(t, cli, (place) => cli.scripts.mcp?.(place) ?? {})
    const { events } = await bench.turn({ options: cli.options?.mcp ?? {} })
    assert.equal((await bench.agent().describe()).mcp, true)
    const result = events.find((event) => event.type === 'tool-result' && event.toolName === toolName)
    assert.ok(result?.type === 'tool-result')
    assert.match(JSON.stringify(result.result), /echo: hi secret/)
  })
}

/** For CLIs that by default go on without the tools of a server that takes more than seconds to start. */
export function testSlowMcp(cli: RealCli): void {
  testOwnWay(cli, 'waits for an MCP server that takes long to start', [], async (t) => {
    const bench = await ownBench(t, cli, (place) => ({
      turns: [...(cli.scripts.mcp?.(place).turns ?? []), { text: 'Done.' }],
    }))
    const { events } = await bench.turn({ options: { mcp: startingAfter(4_000) } })
    const results = events.flatMap((event) => (event.type === 'tool-result' ? [JSON.stringify(event.result)] : []))
    assert.match(results.join(), /echo: hi secret/)
  })
}

/** The test cuts the answer when the CLI has reported this text. */
const HALF_SAID = { text: 'Half an answ', hang: true } as const
/** For CLIs that report text only at the end. A CLI that is too busy to read it before the cut asks again. */
const HALF_HEARD = [1_000, 5_000, 25_000].map((delayPerDeltaMs) => ({
  text: ['Half an answ', ''],
  delayPerDeltaMs,
  cut: true as const,
}))

/** For CLIs that do not ask again when an answer is cut off. */
export function testCutIsFatal(cli: RealCli): void {
  const claim = {
    cannot: 'provider-cut',
    because: 'It does not retry: the turn fails, and the text so far is kept.',
  } as const
  testOwnWay(cli, 'fails when the answer is cut off, and keeps the text so far', claim, async (t) => {
    const half = modeOf(cli) === 'live' ? [HALF_SAID] : HALF_HEARD
    const bench = await ownBench(t, cli, { turns: [...half, { text: 'Never said.' }] })
    const { events, activity } = await bench.turn({
      meanwhile: async (_session, { order }, over) => {
        while (!over.aborted && !order.includes('text-delta')) await pause(50)
        bench.provider.cut()
      },
    })
    assert.deepEqual(
      activity.flatMap((event) => (event.type === 'agent' ? [event.message] : [])),
      ['Half an answ'],
    )
    assert.equal(errorCodes(events).length, 1)
    const last = events.at(-1)
    assert.equal(last?.type === 'finish' && last.finishReason, 'error')
  })
}

/** For CLIs that take no images. */
export function testNoImages(cli: RealCli): void {
  testOwnWay(cli, 'refuses images: it accepts none', { cannot: 'image', because: 'It accepts none.' }, async (t) => {
    const bench = await ownBench(t, cli, { turns: [{ text: 'Never said.' }] })
    const image = { id: '0', type: 'image', mimeType: 'image/png', data: 'aGk=' } as const
    const { events } = await bench.turn({ turn: { input: [image] } })
    assert.deepEqual(errorCodes(events), ['unsupported'])
    assert.equal(bench.provider.requests.length, 0)
    assert.equal((await bench.agent().describe()).images, false)
  })
}

/** For CLIs that cannot be given instructions. */
export function testNoInstructions(cli: RealCli): void {
  const claim = { cannot: 'instructions', because: 'It takes none; a warning reports that.' } as const
  testOwnWay(cli, 'warns that it cannot be given instructions', claim, async (t) => {
    const bench = await ownBench(t, cli, { turns: [{ text: 'Done.' }] })
    const { warnings } = await bench.turn({ turn: { instructions: 'Speak like PIRATES do.' } })
    assert.ok(warnings.some((warning) => /cannot be given instructions/.test(warning)))
    assert.doesNotMatch(bench.request(0), /PIRATES/)
    assert.equal((await bench.agent().describe()).systemPrompt, 'none')
  })
}

/** For CLIs whose model is not offered the tool that starts a subagent. */
export function testNoSubagents(cli: RealCli, tool: string, because: string): void {
  testOwnWay(cli, 'has no subagents', { cannot: 'subagent', because }, async (t) => {
    const bench = await ownBench(t, cli, { turns: [{ text: 'Done.' }] })
    await bench.turn()
    assert.notEqual(bench.request(0), '')
    assert.ok(!bench.request(0).includes(`"name":"${tool}"`))
    assert.equal((await bench.agent().describe()).subagents, false)
    const allowed = { rules: { ...NO_RULES, tools: { [tool]: 'allow' } } } as const
    const refused = await bench.turn({ turn: { runId: 'run-2', ...allowed }, options: { strict: true } })
    assert.deepEqual(errorCodes(refused.events), ['unsupported'])
    assert.equal(bench.request(1), '')
  })
}

/** For CLIs that write wherever their model wants, if they may write at all. */
export function testUnconfined(cli: RealCli): void {
  const claim = { cannot: 'edit-only', because: 'It cannot be confined to its directory.' } as const
  testOwnWay(cli, 'writes outside of its directory where it may edit', claim, async (t) => {
    const bench = await ownBench(t, cli, (place) => cli.scripts['write-outside']?.(place) ?? {})
    await bench.turn({ options: { permissions: 'edit' } })
    assert.equal(await isThere(join(bench.place.home, 'outside.txt')), true)
  })
}

/** Returns the error codes of the turn. A code is empty if the CLI reports none. */
export function errorCodes(events: readonly AgentEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'error' ? [event.code ?? ''] : []))
}
