import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { MemoryStore } from '@inspan/stores'
import type { ScriptedToolCall } from '@inspan/testing'
import { Workspace } from '@inspan/tools'
import type { HarnessConfig } from '../harness-config.ts'
import { HarnessBench } from '../harness.fixture.ts'

/** A folder with a file, gone at the end. */
class Folder implements Disposable {
  readonly base = mkdtempSync(join(tmpdir(), 'inspan-harness-'))
  readonly root = join(this.base, 'root')

  constructor() {
    mkdirSync(this.root)
    writeFileSync(join(this.root, 'a.txt'), 'hello\n')
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true })
  }
}

function benchOf(calls: readonly ScriptedToolCall[], config: Partial<HarnessConfig>): HarnessBench {
  return new HarnessBench([...calls.map((call) => ({ toolCalls: [call] })), { text: 'Done.' }], config)
}

const READ: ScriptedToolCall = { id: 'c1', name: 'read_file', input: { path: 'a.txt' } }
const ALLOW_READ = { categories: { read: 'allow' } } as const

const offered = ({ model }: HarnessBench): string[] =>
  ((model.requests[0]?.tools ?? []) as readonly { readonly name: string }[]).map(({ name }) => name)

suite('an agent under a harness with a workspace', () => {
  test('has its tools, whether it was given, configured or is made for the run', async () => {
    using folder = new Folder()
    const { root } = folder
    const inputs = [new Workspace({ root }), { root }, () => new Workspace({ root })]
    for (const workspace of inputs) {
      await using bench = benchOf([READ], { workspace, permissions: ALLOW_READ })
      await bench.harness.sendMessage({ content: 'Read.' })
      assert.equal(bench.all('tool_end')[0]?.result, 'hello\n')
      for (const name of ['read_file', 'write_file', 'execute_command', 'kill_process']) {
        assert.ok(offered(bench).includes(name), name)
      }
    }
  })

  test('is asked about for edits and commands, by the category of the tool', async () => {
    using folder = new Folder()
    const { root } = folder
    const bench = benchOf([{ id: 'c1', name: 'write_file', input: { path: 'b.txt', content: 'b' } }], {
      workspace: { root },
      permissions: ALLOW_READ,
    })
    await using _ = bench
    const asked = bench.next('tool_approval_required')
    const sent = bench.harness.sendMessage({ content: 'Write.' })
    assert.equal((await asked).toolName, 'write_file')
    assert.ok(!existsSync(join(root, 'b.txt')))
    await bench.harness.session.respondToToolApproval({ decision: 'always_allow_category' })
    await sent
    assert.equal(readFileSync(join(root, 'b.txt'), 'utf8'), 'b')
    assert.deepEqual(bench.harness.session.getGrants().categories, ['edit'])
    assert.equal(bench.harness.getToolCategory({ toolName: 'kill_process' }), 'execute')
  })

  test('is asked again when the file changed after the approval was asked for', async () => {
    using folder = new Folder()
    const { root } = folder
    const input = { path: 'a.txt', content: 'model' }
    const bench = benchOf([{ id: 'c1', name: 'write_file', input }], { workspace: { root } })
    await using _ = bench
    const asked = bench.next('tool_approval_required')
    const sent = bench.harness.sendMessage({ content: 'Write.' })
    await asked
    writeFileSync(join(root, 'a.txt'), 'by a person')
    const again = bench.next('tool_approval_required')
    await bench.harness.session.respondToToolApproval({ decision: 'approve' })
    await again
    assert.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'by a person')
    await bench.harness.session.respondToToolApproval({ decision: 'approve' })
    await sent
    assert.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'model')
  })

  test('meets rules about paths and commands under the exposed names of its tools', async () => {
    using folder = new Folder()
    const { root } = folder
    writeFileSync(join(root, 'secr\u{e9}t.txt'), 's')
    const calls = [
      { id: 'c1', name: 'view', input: { path: 'secr\u{e9}t.txt' } },
      // The same name as it is written on other systems.
      { id: 'c2', name: 'view', input: { path: 'secre\u{301}t.txt' } },
      { id: 'c3', name: 'view', input: { path: './x/../secr\u{e9}t.txt' } },
      { id: 'c4', name: 'run', input: { command: 'cat a.txt && rm a.txt' } },
      { id: 'c5', name: 'view', input: { path: 'a.txt' } },
    ]
    await using bench = benchOf(calls, {
      workspace: { root, tools: { read_file: { name: 'view' }, execute_command: { name: 'run' } } },
      permissions: {
        categories: { read: 'allow', execute: 'allow' },
        patterns: [
          { tool: 'view', pattern: 'secr\u{e9}t.txt', policy: 'deny' },
          { tool: 'run', pattern: 'rm *', policy: 'deny' },
        ],
      },
    })
    await bench.harness.sendMessage({ content: 'Go.' })
    assert.deepEqual(
      bench.all('tool_end').map(({ isError }) => isError),
      [true, true, true, true, false],
    )
    assert.ok(existsSync(join(root, 'a.txt')))
  })

  test('keeps the harness waiting for nothing when the workspace cannot be used', async () => {
    await using bench = benchOf([], { workspace: { root: '/nowhere/at/all' } })
    await bench.harness.sendMessage({ content: 'Hi.' })
    const [first, second, third] = bench.events
    assert.deepEqual(first, { type: 'workspace_status_changed', status: 'initializing' })
    assert.ok(second?.type === 'workspace_status_changed' && second.status === 'error')
    assert.ok(third?.type === 'workspace_error' && third.error === second.error)
    assert.match(third.error.message, /is not there/)
    assert.ok(!offered(bench).includes('read_file'))
  })
})

suite('the output of a command', () => {
  test('is shown as it comes, between the start and the end of its tool, by stream', async () => {
    using folder = new Folder()
    const { root } = folder
    const command = 'echo one; while [ ! -e go ]; do sleep 0.01; done; echo two >&2'
    const bench = benchOf([{ id: 'c1', name: 'execute_command', input: { command } }], {
      workspace: { root },
      initialState: { yolo: true },
    })
    await using _ = bench
    const first = bench.next('shell_output')
    const sent = bench.harness.sendMessage({ content: 'Run.' })
    assert.deepEqual(await first, { type: 'shell_output', toolCallId: 'c1', output: 'one\n', stream: 'stdout' })
    assert.equal(bench.harness.session.displayState.get().activeTools.get('c1')?.shellOutput, 'one\n')
    writeFileSync(join(root, 'go'), '')
    await sent
    assert.deepEqual(
      bench.all('shell_output').map(({ output, stream }) => [output, stream]),
      [
        ['one\n', 'stdout'],
        ['two\n', 'stderr'],
      ],
    )
    const order = bench.types().filter((type) => ['tool_start', 'shell_output', 'tool_end'].includes(type))
    assert.deepEqual(order, ['tool_start', 'shell_output', 'shell_output', 'tool_end'])
    const [end] = bench.all('tool_end')
    assert.deepEqual(end?.result, { exitCode: 0, stdout: 'one\n', stderr: 'two\n' })
  })
})

suite('request_access', () => {
  test('widens the workspace for the thread once a person said yes, also after a restart', async () => {
    using folder = new Folder()
    const { base, root } = folder
    const path = join(base, 'other.txt')
    writeFileSync(path, 'other')
    const storage = new MemoryStore()
    const read = { id: 'c2', name: 'read_file', input: { path } }
    const config = { workspace: { root }, permissions: ALLOW_READ, storage }
    const ask = { id: 'c1', name: 'request_access', input: { path: '../other.txt', reason: 'to see' } }
    const first = benchOf([{ ...read, id: 'c0' }, ask], config)
    await first.harness.sendMessage({ content: 'Look.' })
    assert.match(String(first.all('tool_end')[0]?.result), /outside of the workspace/)
    const [asked] = first.all('tool_suspended')
    assert.deepEqual(asked?.suspendPayload, { kind: 'sandbox_access_request', path, reason: 'to see' })
    await first.harness.destroy()

    await using second = benchOf([read], config)
    await second.harness.selectOrCreateThread()
    const ended = second.next('agent_end')
    await second.harness.respondToToolSuspension({ toolCallId: 'c1', resumeData: 'yes' })
    await ended
    assert.equal(second.all('tool_end').at(-1)?.result, 'other')
  })

  test('is about the place that a path leads to, and asks again when that is another one by the time of the answer', async () => {
    using folder = new Folder()
    const { base, root } = folder
    const [one, two, link] = ['one', 'two', 'link'].map((name) => join(base, name)) as [string, string, string]
    for (const path of [one, two]) writeFileSync(path, 'secret')
    symlinkSync(one, link)
    const ask = { id: 'c1', name: 'request_access', input: { path: '../link', reason: 'to see' } }
    const read = { id: 'c2', name: 'read_file', input: { path: two } }
    await using bench = benchOf([ask, read], { workspace: { root }, permissions: ALLOW_READ })
    await bench.harness.sendMessage({ content: 'Look.' })
    rmSync(link)
    symlinkSync(two, link)
    const again = bench.next('tool_suspended')
    await bench.harness.respondToToolSuspension({ toolCallId: 'c1', resumeData: 'yes' })
    await again
    const asked = (path: string): object => ({ kind: 'sandbox_access_request', path, reason: 'to see', given: link })
    assert.deepEqual(
      bench.all('tool_suspended').map(({ suspendPayload }) => suspendPayload),
      [asked(one), asked(two)],
    )
    await bench.harness.respondToToolSuspension({ toolCallId: 'c1', resumeData: 'no' })
    assert.match(String(bench.all('tool_end').at(-1)?.result), /outside of the workspace/)
  })
})

suite('the life of a workspace', () => {
  test('is reported by events in order, and ends its background processes', async () => {
    using folder = new Folder()
    const { root } = folder
    const bench = benchOf([{ id: 'c1', name: 'execute_command', input: { command: 'sleep 1000', background: true } }], {
      workspace: { root, id: 'ws', name: 'Here' },
      initialState: { yolo: true },
    })
    await bench.harness.init()
    assert.deepEqual(bench.events.slice(0, 3), [
      { type: 'workspace_status_changed', status: 'initializing' },
      { type: 'workspace_status_changed', status: 'ready' },
      { type: 'workspace_ready', workspaceId: 'ws', workspaceName: 'Here' },
    ])
    assert.ok(bench.harness.getWorkspace() instanceof Workspace)
    await bench.harness.sendMessage({ content: 'Run.' })
    const pid = (bench.all('tool_end')[0]?.result as { readonly pid: number } | undefined)?.pid ?? 0
    assert.ok(existsSync(`/proc/${pid}`))
    await bench.harness.destroyWorkspace()
    assert.ok(!existsSync(`/proc/${pid}`))
    assert.deepEqual(
      bench.all('workspace_status_changed').map(({ status }) => status),
      ['initializing', 'ready', 'destroying', 'destroyed'],
    )
    assert.equal(bench.harness.isWorkspaceReady(), false)
    await bench.harness.destroy()
  })
})
