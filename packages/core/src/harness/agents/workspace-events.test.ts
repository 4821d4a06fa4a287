import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { suite, test, type TestContext } from 'node:test'
import { toWireEvent, type HarnessEvent } from '@inspan/protocol/harness'
import { Workspace } from '@inspan/tools'
import { HarnessBench } from '../harness.fixture.ts'

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'inspan-workspace-events-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The events of the workspace as clients get them, among the beginnings and ends of runs. */
function shown({ events }: HarnessBench): object[] {
  const isShown = ({ type }: HarnessEvent): boolean => type.startsWith('workspace_') || /^agent_(start|end)$/.test(type)
  return events.filter(isShown).map((event) => JSON.parse(JSON.stringify(toWireEvent(event))) as object)
}

const status = (name: string, more: object = {}): object => ({
  type: 'workspace_status_changed',
  status: name,
  ...more,
})
const STARTED = { type: 'agent_start' }
const ENDED = { type: 'agent_end', reason: 'complete' }
const GO = { content: 'Go.' }
const DONE = { text: 'Done.' }
const failing = (message: string) => (): never => {
  throw new TypeError(message)
}
const failure = (message: string): object => ({ name: 'TypeError', message })

suite('the events of a workspace', () => {
  test('workspace_status_changed and workspace_ready: before the first run, and at its end', async (t) => {
    const root = folderFor(t)
    await using bench = new HarnessBench([DONE], { workspace: { root } })
    await bench.harness.sendMessage(GO)
    await bench.harness.destroyWorkspace()
    await bench.harness.destroyWorkspace()
    assert.deepEqual(shown(bench), [
      status('initializing'),
      status('ready'),
      { type: 'workspace_ready', workspaceId: `workspace-${basename(root)}`, workspaceName: basename(root) },
      STARTED,
      ENDED,
      status('destroying'),
      status('destroyed'),
    ])
  })

  test('workspace_ready: the id and the name that were given, or what stands for them', async () => {
    const named: readonly [object, string, string][] = [
      [{ id: 'ws', name: 'Here', init: () => undefined }, 'ws', 'Here'],
      [{ id: 'ws', init: () => undefined }, 'ws', 'ws'],
      [{ init: () => undefined }, 'workspace', 'workspace'],
    ]
    for (const [workspace, workspaceId, workspaceName] of named) {
      await using bench = new HarnessBench([], { workspace })
      await bench.harness.init()
      assert.deepEqual(bench.all('workspace_ready'), [{ type: 'workspace_ready', workspaceId, workspaceName }])
    }
  })

  test('workspace_error after the status "error": why it cannot be used, before the run that does without it', async () => {
    await using bench = new HarnessBench([DONE], { workspace: { init: failing('no disk'), destroy: () => undefined } })
    await bench.harness.sendMessage(GO)
    // What never was there is not ended.
    await bench.harness.destroyWorkspace()
    const error = failure('no disk')
    assert.deepEqual(shown(bench), [
      status('initializing'),
      status('error', { error }),
      { type: 'workspace_error', error },
      STARTED,
      ENDED,
    ])
  })

  test('workspace_error between "destroying" and "destroyed": why its end failed, which the caller is told as well', async () => {
    const bench = new HarnessBench([], { workspace: { id: 'ws', destroy: failing('busy') } })
    await bench.harness.init()
    await assert.rejects(bench.harness.destroyWorkspace(), /could not be ended: busy/)
    assert.deepEqual(shown(bench).slice(3), [
      status('destroying'),
      { type: 'workspace_error', error: failure('busy') },
      status('destroyed'),
    ])
    await bench.harness.destroy()
  })

  test('workspace_error: a function that makes one for a run has failed, and no status is told of', async (t) => {
    const root = folderFor(t)
    let count = 0
    const workspace = (): Workspace => (++count === 1 ? failing('not today')() : new Workspace({ root }))
    await using bench = new HarnessBench([DONE, DONE], { workspace })
    await bench.harness.sendMessage(GO)
    await bench.harness.sendMessage(GO)
    const events = shown(bench)
    const at = events.findIndex((event) => 'error' in event)
    assert.deepEqual(events.splice(at, 1), [{ type: 'workspace_error', error: failure('not today') }])
    assert.ok(at < 2, 'it is told of before the end of the run')
    assert.deepEqual(events, [STARTED, ENDED, STARTED, ENDED])
    const tools = bench.model.requests.map((request) => JSON.stringify(request.tools).includes('read_file'))
    assert.deepEqual(tools, [false, true])
  })

  test('workspace_error: the one that an agent brings along cannot be initialised, once in a run that does without it', async (t) => {
    const root = folderFor(t)
    const own = new Workspace({ root: join(root, 'missing') })
    const config = { workspace: { root, id: 'ws' } }
    await using bench = new HarnessBench([DONE, DONE], config, { workspace: own })
    await bench.harness.sendMessage(GO)
    mkdirSync(own.root)
    await bench.harness.sendMessage(GO)
    const [failed, ...others] = bench.all('workspace_error')
    assert.deepEqual(others, [])
    assert.match(failed?.error.message ?? '', /The folder of the workspace is not there: .*missing/)
    assert.ok(bench.types().indexOf('workspace_error') < bench.types().indexOf('agent_end'))
    const tools = bench.model.requests.map((request) => JSON.stringify(request.tools).includes('read_file'))
    assert.deepEqual(tools, [false, true])
  })

  test('workspace_error: what an agent brings along fails at once instead of later', async () => {
    await using bench = new HarnessBench([DONE], {}, { workspace: { init: failing('own and broken') } })
    await bench.harness.sendMessage(GO)
    const errors = shown(bench).filter((event) => 'error' in event)
    assert.deepEqual(errors, [{ type: 'workspace_error', error: failure('own and broken') }])
  })
})

suite('shell_output', () => {
  test('has the call that it belongs to, between its start and its end, when two commands run at once', async (t) => {
    const root = folderFor(t)
    const command = (mine: string, other: string): string =>
      `echo ${mine} 1; touch ${mine}; while [ ! -e ${other} ]; do sleep 0.01; done; echo ${mine} 2 >&2`
    const toolCalls = [
      { id: 'a', name: 'execute_command', input: { command: command('a', 'b') } },
      { id: 'b', name: 'execute_command', input: { command: command('b', 'a') } },
    ]
    await using bench = new HarnessBench([{ toolCalls }, DONE], { workspace: { root }, initialState: { yolo: true } })
    await bench.harness.sendMessage(GO)
    for (const id of ['a', 'b']) {
      const own = bench.events.filter((event) => 'toolCallId' in event && event.toolCallId === id)
      const shownOfIt = own.filter(({ type }) => ['tool_start', 'shell_output', 'tool_end'].includes(type))
      assert.deepEqual(
        shownOfIt.map(({ type }) => type),
        ['tool_start', 'shell_output', 'shell_output', 'tool_end'],
      )
      assert.deepEqual(shownOfIt.slice(1, 3).map(toWireEvent), [
        { type: 'shell_output', toolCallId: id, output: `${id} 1\n`, stream: 'stdout' },
        { type: 'shell_output', toolCallId: id, output: `${id} 2\n`, stream: 'stderr' },
      ])
    }
  })

  test('has everything that a command prints, in its order, and nothing of one that runs in the background', async (t) => {
    const root = folderFor(t)
    writeFileSync(join(root, 'lines.sh'), 'i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo "line $i"; done\nprintf end')
    const script = [
      { toolCalls: [{ id: 'a', name: 'execute_command', input: { command: 'sh lines.sh' } }] },
      { toolCalls: [{ id: 'b', name: 'execute_command', input: { command: 'echo hidden', background: true } }] },
      { toolCalls: [{ id: 'c', name: 'execute_command', input: { command: 'sleep 0.1' } }] },
      DONE,
    ]
    await using bench = new HarnessBench(script, { workspace: { root }, initialState: { yolo: true } })
    await bench.harness.sendMessage(GO)
    const pieces = bench.all('shell_output')
    assert.deepEqual([...new Set(pieces.map(({ toolCallId }) => toolCallId))], ['a'])
    const expected = `${Array.from({ length: 2000 }, (_, index) => `line ${index + 1}\n`).join('')}end`
    assert.equal(pieces.map(({ output }) => output).join(''), expected)
  })
})
