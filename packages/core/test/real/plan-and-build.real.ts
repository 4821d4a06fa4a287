import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { AgentDriver } from '@inspan/protocol/driver'
import type { HarnessEvent } from '@inspan/protocol/harness'
import { startProvider, type Provider } from '@inspan/testing'
import { Harness } from '../../src/index.ts'
import { programDriver, type ProgramId } from './program-driver.ts'
import { installedPrograms, makePlace, scripted, TEST_MS, type ProgramFolders } from './programs.ts'

/** What the conversation's own requests said, without titles and the like. */
function asked(provider: Provider): readonly string[] {
  return provider.requests.filter(({ route }) => route === 'main').map(({ text }) => text)
}

suite('one thread, two programs', () => {
  const bins = installedPrograms()
  const live = (id: ProgramId, { root, work }: ProgramFolders, { url }: Provider): AgentDriver =>
    programDriver(id, { bin: bins[id], root, providerUrl: url, cwd: work, transport: 'live' })

  test(
    'is planned with Claude Code and built with Codex; each knows what the other did',
    { timeout: TEST_MS },
    async (t) => {
      const place = await makePlace(t)
      const anthropic = await scripted(t, [{ text: 'PLAN-77: write built.txt.' }, { text: 'REVIEW-99: well done.' }])
      const openai = await scripted(t, [
        {
          toolCalls: [
            { name: 'exec_command', input: { cmd: 'echo built > built.txt && echo RAN-OK', yield_time_ms: 30_000 } },
          ],
        },
        { text: 'BUILT-88: it is there.' },
      ])
      const harness = new Harness({
        id: 'two-programs',
        modes: [
          { id: 'plan', agent: live('claude-code', place, anthropic), transitionsTo: 'build' },
          { id: 'build', agent: live('codex', place, openai) },
        ],
      })
      place.ends.push(() => harness.destroy())
      const events: HarnessEvent[] = []
      harness.subscribe((event) => {
        events.push(event)
        if (event.type !== 'tool_approval_required') return
        void harness.session.respondToToolApproval({ toolCallId: event.toolCallId, decision: 'approve' })
      })
      const failures = (): readonly string[] =>
        events.flatMap((event) => (event.type === 'error' ? [event.error.message] : []))

      await harness.sendMessage({ content: 'TASK-1: make a plan.' })
      assert.deepEqual(failures(), [])
      const threadId = harness.session.thread.getId()

      await harness.session.mode.switch({ modeId: 'build' })
      await harness.sendMessage({ content: 'TASK-2: build it.' })
      assert.deepEqual(failures(), [])
      assert.equal(await readFile(join(place.work, 'built.txt'), 'utf8'), 'built\n')
      assert.equal(events.filter(({ type }) => type === 'tool_approval_required').length, 1)

      await harness.session.mode.switch({ modeId: 'plan' })
      await harness.sendMessage({ content: 'TASK-3: review it.' })
      assert.deepEqual(failures(), [])

      // What Claude Code planned was handed over to Codex, and what Codex built to Claude Code.
      const [toCodex = ''] = asked(openai)
      for (const word of ['TASK-1', 'PLAN-77', 'TASK-2']) assert.ok(toCodex.includes(word), `Codex knows ${word}`)
      const toClaude = asked(anthropic)
      assert.equal(toClaude.length, 2)
      for (const word of ['PLAN-77', 'TASK-2', 'BUILT-88', 'TASK-3']) {
        assert.ok(toClaude[1]?.includes(word), `Claude Code knows ${word}`)
      }
      assert.ok(!toClaude[0]?.includes('BUILT-88'))

      // And all of it is one thread.
      assert.equal(harness.session.thread.getId(), threadId)
      const messages = await harness.session.thread.listActiveMessages()
      const said = JSON.stringify(messages.map(({ content }) => content))
      const places = ['TASK-1', 'PLAN-77', 'TASK-2', 'RAN-OK', 'BUILT-88', 'TASK-3', 'REVIEW-99'].map((word) =>
        said.indexOf(word),
      )
      assert.ok(!places.includes(-1), said)
      assert.deepEqual(
        places,
        places.toSorted((a, b) => a - b),
      )
      assert.deepEqual(
        events.flatMap((event) => (event.type === 'agent_end' ? [event.reason] : [])),
        ['complete', 'complete', 'complete'],
      )
    },
  )

  test(
    'a plan that Claude Code submits in its own way leads to Codex when it is approved, in the same run',
    { timeout: TEST_MS },
    async (t) => {
      const place = await makePlace(t)
      // It keeps its plan in a file whose name it tells the model.
      const file = String.raw`{{re:(/[^ \x60"]*plans/[a-z-]*\.md)}}`
      const anthropic = await scripted(t, [
        { toolCalls: [{ name: 'ToolSearch', input: { query: 'select:EnterPlanMode,ExitPlanMode', max_results: 5 } }] },
        { toolCalls: [{ name: 'EnterPlanMode', input: {} }] },
        { toolCalls: [{ name: 'Write', input: { file_path: file, content: 'PLAN-55: write built.txt.' } }] },
        { toolCalls: [{ name: 'ExitPlanMode', input: {} }] },
        { text: 'The planner goes on by itself.' },
      ])
      const openai = await scripted(t, [{ text: 'BUILT-66: done.' }])
      const harness = new Harness({
        id: 'own-plans',
        modes: [
          { id: 'plan', agent: live('claude-code', place, anthropic), transitionsTo: 'build' },
          { id: 'build', agent: live('codex', place, openai) },
        ],
      })
      place.ends.push(() => harness.destroy())
      const events: HarnessEvent[] = []
      harness.subscribe((event) => void events.push(event))
      await harness.session.permissions.setYolo({ enabled: true })
      await harness.sendMessage({ content: 'TASK-4: make a plan.' })
      const [asked] = harness.session.suspensions.list()
      const failures = events.flatMap((event) => (event.type === 'error' ? [event.error.message] : []))
      assert.equal(asked?.toolName, 'ExitPlanMode', failures.join('; '))
      await harness.respondToToolSuspension({ resumeData: { action: 'approved' } })

      assert.equal(harness.session.mode.get(), 'build')
      const said = JSON.stringify(await harness.session.thread.listActiveMessages())
      assert.ok(said.includes('BUILT-66'), said)
      assert.ok(!said.includes('goes on by itself'), 'the planner has not gone on')
      assert.ok(openai.requests.some(({ text }) => text.includes('PLAN-55') && text.includes('approved')))
      assert.deepEqual(
        events.flatMap((event) => (event.type === 'agent_end' ? [event.reason] : [])),
        ['suspended', 'complete'],
      )
    },
  )

  test('a subagent of Claude Code is reported as one', { timeout: TEST_MS }, async (t) => {
    const place = await makePlace(t)
    const prompt = 'SUBTASK-77'
    const input = { description: 'Look', prompt, subagent_type: 'general-purpose', run_in_background: false }
    const anthropic = await startProvider({
      routes: [
        {
          match: prompt,
          turns: [{ toolCalls: [{ name: 'Bash', input: { command: 'echo SUB-RAN' } }] }, { text: 'REPORT-1: found.' }],
        },
      ],
      turns: [{ toolCalls: [{ name: 'Agent', input }] }, { text: 'Thanks.' }],
    })
    t.after(() => anthropic.close())
    const harness = new Harness({ id: 'helpers', modes: [{ id: 'a', agent: live('claude-code', place, anthropic) }] })
    place.ends.push(() => harness.destroy())
    const events: HarnessEvent[] = []
    harness.subscribe((event) => void events.push(event))
    await harness.session.permissions.setYolo({ enabled: true })
    await harness.sendMessage({ content: 'Delegate.' })
    const told = events.flatMap((event) => (event.type.startsWith('subagent_') ? [event] : []))
    const of = <Type extends HarnessEvent['type']>(type: Type): Extract<HarnessEvent, { type: Type }>[] =>
      told.filter((event): event is Extract<HarnessEvent, { type: Type }> => event.type === type)
    const [start] = of('subagent_start')
    assert.deepEqual([start?.agentType, start?.task], ['general-purpose', prompt], told.map(({ type }) => type).join())
    assert.equal(of('subagent_tool_start')[0]?.subToolName, of('subagent_tool_end')[0]?.subToolName)
    assert.match(JSON.stringify(of('subagent_tool_end')[0]?.subToolResult), /SUB-RAN/)
    assert.match(of('subagent_end')[0]?.result ?? '', /REPORT-1/)
    assert.equal(of('subagent_end')[0]?.isError, false)
    assert.equal(of('subagent_end').length, 1)
    const words = events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('')
    assert.equal(words, 'Thanks.', 'what the subagent says is not what the agent says')
  })
})
