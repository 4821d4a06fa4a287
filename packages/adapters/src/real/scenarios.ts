import assert from 'node:assert/strict'
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { after, before, describe, it, type TestContext } from 'node:test'
import { NO_RULES, type AgentEvent, type CancelReceipt } from '@evener/protocol'
import type { Turn as ModelTurn } from '@evener/testing'
import {
  aMessage,
  assertActivity,
  makeBench,
  makePlace,
  putFile,
  type Bench,
  type Expected,
  type Place,
  type RealCli,
  type RealScript,
  type ToolScenario,
} from './bench.ts'
import type { Ability } from './abilities.ts'
import { dialects, liveDialects } from '../dialects.ts'
import { normalize } from '../launch/normalize.ts'
import { installedCli } from './clis.ts'
import { modeOf, proving, type Claim } from './proofs.ts'
import { SIDE_BY_SIDE } from './side-by-side.ts'
import { assertNoPrivateDirs } from './no-leftovers.ts'

const INSTALL_MS = 30 * 60_000
const SCENARIO_MS = 10 * 60_000
/** Programs have asked the model by then, unless the machine is very busy. */
const DEADLINE_MS = 20_000

export const ONLY_AT_ITS_END =
  'It goes on only at the end of its session: elsewhere a new one begins, which is told what was said.'

/** One thing that every program has to do, whatever its own words for it are. */
interface Scenario {
  readonly name: string
  readonly title: string
  /** Default: the ability that has the scenario's name. */
  readonly proves?: Ability
  /** It shows that a program cannot do this, and what happens instead. */
  readonly disproves?: Ability
  /** What the model says. Default: the program's own script for this scenario, or for the one that is named here. */
  readonly script?: readonly ModelTurn[]
  readonly scriptOf?: ToolScenario
  readonly files?: Readonly<Record<string, string>>
  readonly play: (bench: Bench) => Promise<Claim | void>
}

const LINES = Array.from({ length: 10 }, (_, n) => `line ${n + 1}`).join('\n')
const SKILL = '---\nname: greet\ndescription: How to greet\n---\nSay hello.\n'
const FILES = {
  'hello.txt': `${LINES}\n`,
  'src/app.js': 'export const answer = 41 // needle\n',
  '.agents/skills/greet/SKILL.md': SKILL,
  '.claude/skills/greet/SKILL.md': SKILL,
}

function answered(events: readonly AgentEvent[]): string | undefined {
  const activity = events.flatMap((event) => event.activity?.events ?? [])
  return activity.flatMap((event) => (event.type === 'agent' ? [event.message] : [])).at(-1)
}

function finishOf(events: readonly AgentEvent[]): Extract<AgentEvent, { type: 'finish' }> {
  const last = events.at(-1)
  assert.ok(last?.type === 'finish')
  return last
}

/** As it says that it does. */
async function assertUsage(
  bench: Bench,
  events: readonly AgentEvent[],
  { inputTokens, outputTokens }: { readonly inputTokens?: number; readonly outputTokens: number },
): Promise<void> {
  const { usage: counts } = await bench.agent().describe()
  const { usage } = finishOf(events)
  if (counts === 'none') {
    assert.equal(usage?.outputTokens, undefined)
    return
  }
  assert.equal(usage?.outputTokens, outputTokens)
  if (inputTokens !== undefined) assert.equal(usage?.inputTokens, inputTokens)
}

function theError(events: readonly AgentEvent[]): string {
  const errors = events.flatMap((event) => (event.type === 'error' ? [event.error.message] : []))
  assert.equal(errors.length, 1, `one failure is one error: ${JSON.stringify(errors)}`)
  return errors[0] ?? ''
}

const isThere = async (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** A scenario in which a tool is used and the normalized activity is what counts. */
function tool(
  name: ToolScenario,
  title: string,
  expected: (place: Place) => readonly Expected[],
  after: (bench: Bench, events: readonly AgentEvent[]) => Promise<void> = async () => undefined,
): Scenario {
  return {
    name,
    title,
    files: FILES,
    play: async (bench) => {
      const { cli, place } = bench
      const { events, activity } = await bench.turn({ options: cli.options?.[name] ?? {} })
      assertActivity(activity, (cli.expected?.[name] ?? expected)(place))
      assert.equal(answered(events), 'Done.')
      assert.equal(finishOf(events).finishReason, 'stop')
      await after(bench, events)
    },
  }
}

const contentOf = async ({ place }: Bench, file: string): Promise<string> => readFile(join(place.work, file), 'utf8')

const scenarios: readonly Scenario[] = [
  {
    name: 'text',
    title: 'says a text, with its usage',
    script: [{ text: ['Hello ', 'there.'], usage: { inputTokens: 100, outputTokens: 20 } }],
    play: async (bench) => {
      const { events, activity, binding } = await bench.turn()
      assertActivity(activity, [{ type: 'agent', message: 'Hello there.' }])
      const said = events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : []))
      assert.equal(said.join(''), 'Hello there.')
      assert.equal(finishOf(events).finishReason, 'stop')
      await assertUsage(bench, events, { inputTokens: 100, outputTokens: 20 })
      assert.ok(binding?.nativeId)
      assert.equal(binding.version, bench.cli.profile.npm?.version)
      if ((await bench.agent().describe()).usage === 'none') return { can: 'text', but: 'It does not tell the usage.' }
    },
  },
  tool('command-succeeds', 'runs a command that succeeds', () => [
    { type: 'command', command: /echo fine/, isSuccess: true },
  ]),
  tool('command-fails', 'runs a command that fails, with its exit code', () => [
    { type: 'command', command: /exit 3/, exitCode: 3, isSuccess: false },
  ]),
  tool('read-range', 'reads a range of lines', ({ work }) => [
    { type: 'read', path: join(work, 'hello.txt'), startLine: 2, endLine: 4, isSuccess: true },
  ]),
  tool(
    'write',
    'writes a file',
    ({ work }) => [{ type: 'write', path: join(work, 'new.txt'), isSuccess: true }],
    async (bench) => assert.match(await contentOf(bench, 'new.txt'), /^made\n?$/),
  ),
  tool(
    'edit',
    'edits a file',
    ({ work }) => [{ type: 'write', path: join(work, 'src/app.js'), isSuccess: true }],
    async (bench) => assert.match(await contentOf(bench, 'src/app.js'), /answer = 42/),
  ),
  tool('search', 'searches', () => [{ type: 'search', query: 'needle', isSuccess: true }]),
  tool('list', 'lists a directory', ({ work }) => [{ type: 'list', path: join(work, 'src'), isSuccess: true }]),
  tool('parallel', 'runs calls side by side', () => [
    { type: 'command', command: /echo (?:one|two)/, isSuccess: true },
    { type: 'command', command: /echo (?:one|two)/, isSuccess: true },
  ]),
  tool('subagent', 'starts a subagent and hears of its end', () => [
    { type: 'orchestration', action: 'subagent_started' },
    { type: 'orchestration', action: 'subagent_completed', isSuccess: true },
  ]),
  tool('skill', 'uses a skill', ({ work }) => [
    { type: 'skill', path: new RegExp(`^${work}/.*/skills/greet/SKILL.md$`), isSuccess: true },
  ]),
  tool(
    'mcp',
    'calls a tool of an MCP server',
    () => [{ type: 'unknown' }],
    async (_bench, events) => {
      const result = events.find((event) => event.type === 'tool-result' && event.serverName === 'toy')
      assert.ok(result?.type === 'tool-result')
      assert.match(JSON.stringify(result.result), /echo: hi secret/)
    },
  ),
  {
    name: 'reasoning',
    title: 'shows its reasoning apart from its words',
    script: [{ reasoning: 'Let me think about it.', text: 'Done.' }],
    play: async (bench) => {
      const { events, activity } = await bench.turn({ options: bench.cli.options?.reasoning ?? {} })
      assertActivity(activity, [{ type: 'agent', message: 'Done.' }])
      const reasoning = events.flatMap((event) => (event.type === 'reasoning-delta' ? [event.text] : []))
      assert.match(reasoning.join(''), /Let me think about it\./)
    },
  },
  {
    name: 'provider-401',
    title: 'fails when the provider does not know its key',
    script: [{ error: { status: 401, message: 'invalid x-api-key' }, repeat: true }],
    play: async (bench) => {
      const { events } = await bench.turn()
      assert.notEqual(theError(events), '')
      assert.equal(finishOf(events).finishReason, 'error')
    },
  },
  {
    name: 'provider-429',
    title: 'waits and goes on when there were too many requests, and warns',
    script: [{ error: { status: 429, retryAfterMs: 100 } }, { text: 'Recovered.' }],
    play: async (bench) => {
      const { events, warnings } = await bench.turn()
      assert.equal(answered(events), 'Recovered.')
      assert.equal(finishOf(events).finishReason, 'stop')
      assert.ok(warnings.length > 0, 'the retry is a warning')
    },
  },
  {
    name: 'provider-500',
    title: 'fails when the provider is broken, with one error',
    script: [{ error: { status: 500, message: 'out of order' }, repeat: true }],
    play: async (bench) => {
      const { events } = await bench.turn()
      assert.notEqual(theError(events), '')
      assert.equal(finishOf(events).finishReason, 'error')
    },
  },
  {
    name: 'provider-cut',
    title: 'goes on when the answer is cut off',
    script: [{ text: ['Half an ', 'answ'], cut: true }, { text: 'Recovered.' }],
    play: async (bench) => {
      const { events } = await bench.turn()
      assert.equal(answered(events), 'Recovered.')
      assert.equal(finishOf(events).finishReason, 'stop')
    },
  },
  {
    name: 'provider-gone',
    title: 'gives up when the provider cannot be reached',
    script: [{ text: 'Never said.' }],
    play: async (bench) => {
      await bench.provider.close()
      const { events } = await bench.turn()
      assert.notEqual(theError(events), '')
      assert.equal(finishOf(events).finishReason, 'error')
    },
  },
  {
    name: 'deadline',
    title: 'is ended by our deadline when the provider never answers',
    script: [{ hang: true, repeat: true }],
    play: async (bench) => {
      const { events } = await bench.turn({ options: { deadlineMs: DEADLINE_MS } })
      theError(events)
      assert.equal(events.find((event) => event.type === 'error')?.code, 'deadline')
      assert.equal(finishOf(events).finishReason, 'error')
    },
  },
  {
    name: 'resume',
    title: 'goes on with its session, and counts only what the turn used',
    script: ['First answer.', 'Second answer.'].map((text) => ({
      text,
      usage: { inputTokens: 100, outputTokens: 20 },
    })),
    play: async (bench) => {
      const first = await bench.turn()
      assert.ok(first.binding)
      const second = await bench.turn({ binding: first.binding })
      assert.equal(answered(second.events), 'Second answer.')
      assert.match(bench.request(1), /First answer\./)
      assert.equal(second.binding?.nativeId, first.binding.nativeId)
      await assertUsage(bench, second.events, { outputTokens: 20 })
    },
  },
  {
    name: 'resume-at-anchor',
    title: 'goes on at our anchor, not at the end of its session',
    script: ['First answer.', 'Second answer.', 'Third answer.', 'Fourth answer.'].map((text) => ({ text })),
    play: async (bench) => {
      const { binding } = await bench.turn()
      assert.ok(binding)
      await bench.turn({ binding })
      const third = await bench.turn({ binding })
      const request = bench.request(2)
      assert.match(request, /First answer\./)
      assert.doesNotMatch(request, /Second answer\./)
      assert.ok(third.binding)
      await bench.turn({ binding: third.binding })
      assert.match(bench.request(3), /First answer\.[^]*Third answer\./)
    },
  },
  {
    name: 'fork',
    title: 'forks its session at our anchor and leaves the other as it was',
    script: ['First answer.', 'Second answer.', 'Third answer.', 'Fourth answer.'].map((text) => ({ text })),
    play: async (bench) => {
      const first = await bench.turn()
      assert.ok(first.binding)
      const second = await bench.turn({ binding: first.binding })
      const { anchor = '', nativeId } = first.binding
      const fork = await bench.turn({
        binding: { ...first.binding, origin: true },
        history: [aMessage('First answer.', { sessionId: nativeId, messageId: anchor })],
      })
      assert.notEqual(fork.binding?.nativeId, nativeId)
      const request = bench.request(2)
      assert.match(request, /First answer\./)
      assert.doesNotMatch(request, /Second answer\./)
      assert.ok(second.binding)
      await bench.turn({ binding: second.binding })
      const after = bench.request(3)
      assert.match(after, /Second answer\./)
      assert.doesNotMatch(after, /Third answer\./)
      const { fork: can } = await bench.agent().describe()
      if (can === 'none') return { cannot: 'fork', because: ONLY_AT_ITS_END }
    },
  },
  {
    name: 'head-moved',
    title: 'begins a new session when its own may have gone on unseen',
    disproves: 'resume-at-anchor',
    script: ['First answer.', 'Second answer.'].map((text) => ({ text })),
    play: async (bench) => {
      const { binding } = await bench.turn()
      assert.ok(binding)
      const { extra: _extra, anchor: _anchor, ...unsettled } = binding
      const second = await bench.turn({ binding: unsettled })
      assert.doesNotMatch(bench.request(1), /First answer\./)
      assert.ok(second.warnings.some((warning) => /begins a new session/.test(warning)))
    },
  },
  {
    name: 'handover',
    title: 'hears what others said in the thread',
    script: [{ text: 'Done.' }],
    play: async (bench) => {
      const { events } = await bench.turn({ history: [aMessage('The plan is PLAN-99.')] })
      assert.equal(answered(events), 'Done.')
      assert.match(bench.request(0), /The plan is PLAN-99\./)
    },
  },
  {
    name: 'instructions',
    title: 'is given instructions and a model, and other instructions later',
    script: ['First answer.', 'Second answer.'].map((text) => ({ text })),
    play: async (bench) => {
      const first = await bench.turn({ turn: { instructions: 'Speak like PIRATES do.' } })
      assert.match(bench.request(0), /Speak like PIRATES do\./)
      assert.ok(first.binding)
      await bench.turn({ binding: first.binding, turn: { instructions: 'Speak like SAILORS do.' } })
      assert.match(bench.request(1), /Speak like SAILORS do\./)
    },
  },
  {
    name: 'image',
    title: 'is shown an image',
    script: [{ text: 'A dot.' }],
    play: async (bench) => {
      const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
      const { events } = await bench.turn({
        options: bench.cli.options?.image ?? {},
        turn: {
          input: [
            { id: '0', type: 'text', text: 'What is this?' },
            { id: '1', type: 'image', mimeType: 'image/png', data },
          ],
        },
      })
      assert.equal(answered(events), 'A dot.')
      assert.match(bench.request(0), /iVBORw0KGgo/)
    },
  },
  {
    name: 'touch',
    title: 'does not run commands that our rules deny',
    proves: 'rules',
    play: async (bench) => {
      const { events } = await bench.turn({ turn: { rules: { ...NO_RULES, categories: { execute: 'deny' } } } })
      assert.equal(await isThere(join(bench.place.work, 'touched.txt')), false)
      assert.equal(finishOf(events).finishReason, 'stop')
    },
  },
  {
    name: 'read-only',
    scriptOf: 'write',
    title: 'does not write where it may only read',
    proves: 'read-only',
    files: FILES,
    play: async (bench) => {
      const { events } = await bench.turn({ options: { permissions: 'read-only' } })
      assert.equal(await isThere(join(bench.place.work, 'new.txt')), false)
      assert.equal(finishOf(events).finishReason, 'stop')
    },
  },
  {
    name: 'write-outside',
    title: 'does not write outside of its directory where it may only edit',
    proves: 'edit-only',
    play: async (bench) => {
      const { events } = await bench.turn({ options: { permissions: 'edit' } })
      assert.equal(await isThere(join(bench.place.home, 'outside.txt')), false)
      assert.equal(finishOf(events).finishReason, 'stop')
    },
  },
  {
    name: 'recording',
    scriptOf: 'parallel',
    title: 'is recorded so that the recording reads again exactly as it was',
    proves: 'recording',
    play: async (bench) => {
      const dir = join(bench.place.temp, 'recording')
      const { activity } = await bench.turn({ options: { record: () => ({ dir }) } })
      const lines = (await readFile(join(dir, 'raw.jsonl'), 'utf8')).split('\n')
      assert.deepEqual(await Array.fromAsync(normalize(lines, { dialects, liveDialects })), activity)
      const recorded = activity.map((event) => `${JSON.stringify(event)}\n`).join('')
      assert.equal(await readFile(join(dir, 'events.jsonl'), 'utf8'), recorded)
    },
  },
  {
    name: 'endless-command',
    title: 'is stopped in the middle of a command, and nothing is left running',
    proves: 'stop',
    play: async (bench) => {
      let receipt: CancelReceipt | undefined
      const { events } = await bench.turn({
        meanwhile: async (session, { order }, over) => {
          const started = join(bench.place.work, 'started.txt')
          while (!over.aborted && !(order.includes('tool-call') && (await isThere(started)))) await pause(50)
          receipt = await session.cancel()
        },
      })
      assert.ok(receipt)
      assert.equal(receipt.calls.length, 1)
      assert.notEqual(receipt.how, 'gone')
      assert.equal(finishOf(events).finishReason, 'other')
      assert.ok(!events.some(({ type }) => type === 'error'))
    },
  },
  {
    name: 'missing-key',
    title: 'says what to set when it has no key',
    script: [{ text: 'Never said.' }],
    play: async (bench) => {
      const { events } = await bench.turn({ hasKey: false })
      const said = theError(events)
      assert.ok(said.includes(bench.cli.profile.key.hint), said)
      assert.equal(finishOf(events).finishReason, 'error')
      assert.equal(bench.provider.requests.length, 0)
    },
  },
]

/** All scenarios on the pinned version of a program. */
export function testCli(cli: RealCli): void {
  const { title, npm } = cli.profile
  describe([title, npm?.version, cli.way].filter((word) => word !== undefined).join(' '), SIDE_BY_SIDE, () => {
    let bin = ''
    after(assertNoPrivateDirs)
    before(async () => void (bin = await installedCli(cli.profile)), { timeout: INSTALL_MS })
    for (const scenario of scenarios) {
      if (cli.unsupported?.[scenario.name] !== undefined) continue
      const body = proving(cli.profile, modeOf(cli), claimOf(cli, scenario), (t) => play(t, cli, bin, scenario))
      it(scenario.title, { timeout: SCENARIO_MS }, body)
    }
  })
}

function claimOf(cli: RealCli, { name, proves, disproves }: Scenario): Claim {
  if (disproves !== undefined) {
    return { cannot: disproves, because: cli.unsupported?.[disproves] ?? ONLY_AT_ITS_END }
  }
  return { can: proves ?? (name as Ability), but: cli.notes?.[name] }
}

async function play(t: TestContext, cli: RealCli, bin: string, scenario: Scenario): Promise<Claim | void> {
  const place = await makePlace(t)
  const script = scriptFor(cli, scenario, place)
  const bench = await makeBench(t, cli, bin, place, script)
  for (const [name, content] of Object.entries(scenario.files ?? {})) await putFile(join(place.work, name), content)
  return scenario.play(bench)
}

function scriptFor(cli: RealCli, { name, script, scriptOf }: Scenario, place: Place): RealScript {
  if (script !== undefined) return { turns: script }
  const own = cli.scripts[scriptOf ?? (name as ToolScenario)]
  assert.ok(
    own,
    `${cli.profile.title} needs a script for "${name}", or a reason in "unsupported" why it cannot do that`,
  )
  return thenDone(own(place))
}

function thenDone(script: RealScript): RealScript {
  return { ...script, turns: [...(script.turns ?? []), { text: 'Done.' }] }
}
