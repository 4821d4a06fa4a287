import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { InspanError, type JsonObject } from '@inspan/protocol'
import type { FileInfo, WorkspaceFiles } from './files.ts'
import type { WorkspaceShell } from './shell.ts'
import { Workspace } from './workspace.ts'
import { WorkspaceBench } from './workspace.fixture.ts'

const ALL =
  'read_file write_file edit_file list_files delete file_stat mkdir grep execute_command get_process_output kill_process'

suite('the tools of a workspace', () => {
  test('have their category, and declare when they only read', async () => {
    await using bench = new WorkspaceBench()
    const tools = await bench.workspace.list()
    assert.equal(tools.map(({ name }) => name).join(' '), ALL)
    const of = (category: string): string =>
      tools
        .filter((tool) => tool.category === category)
        .map(({ name }) => name)
        .join(' ')
    assert.equal(of('read'), 'read_file list_files file_stat grep get_process_output')
    assert.equal(of('edit'), 'write_file edit_file delete mkdir')
    assert.equal(of('execute'), 'execute_command kill_process')
    for (const { annotations, category, name } of tools) {
      assert.equal(annotations?.readOnlyHint, category === 'read')
      // Known before the tools are loaded.
      assert.equal(bench.workspace.categoryOf(name), category, name)
    }
  })

  test('can be renamed, switched off and made to ask', async () => {
    await using bench = new WorkspaceBench({
      tools: {
        requireApproval: true,
        read_file: { name: 'view', requireApproval: false },
        delete: { enabled: false },
      },
    })
    const tools = await bench.workspace.list()
    const named = (name: string): (typeof tools)[number] | undefined => tools.find((tool) => tool.name === name)
    assert.deepEqual(
      [named('view')?.requiresApproval, named('grep')?.requiresApproval, named('read_file'), named('delete')],
      [false, true, undefined, undefined],
    )
    assert.equal(bench.workspace.toolNames.get('read_file'), 'view')
    assert.equal(bench.workspace.categoryOf('view'), 'read')
    writeFileSync(join(bench.root, 'a'), 'x')
    assert.equal(await bench.result('view', { path: 'a' }), 'x')
    await assert.rejects(bench.call('read_file', { path: 'a' }), /offers no tool/)
  })

  test('are the same objects every time they are listed', async () => {
    await using bench = new WorkspaceBench()
    assert.equal(await bench.workspace.list(), await bench.workspace.list())
  })

  test('report before a call what is wrong with its input', async () => {
    await using bench = new WorkspaceBench()
    const tools = await bench.workspace.list()
    const check = (name: string, input: object): Promise<string | undefined> | undefined =>
      tools.find((tool) => tool.name === name)?.checkInput?.(input as never)
    assert.equal(await check('read_file', { path: 'a' }), undefined)
    assert.match((await check('read_file', { path: 'a', offset: 0 })) ?? '', /`offset` has to be a whole number/)
    assert.match((await check('read_file', {})) ?? '', /`path` is missing/)
    assert.match((await check('edit_file', { path: 'a', edits: [1] })) ?? '', /`edits\[0\]` has to be an object/)
    assert.match((await check('execute_command', { command: ' ' })) ?? '', /`command` is empty/)
  })

  test('report in every result what was done, also when it failed', async () => {
    await using bench = new WorkspaceBench()
    const started = await bench.call('execute_command', { command: 'exit 2', background: true })
    const { processId } = started.result as { readonly processId: string }
    const ended = { type: 'command', command: 'exit 2', exitCode: 2, isSuccess: false }
    const none = { processId: 'none' }
    const cases: readonly [string, JsonObject, object][] = [
      ['write_file', { path: 'a', content: 'x' }, { type: 'write', path: 'a' }],
      ['read_file', { path: 'a' }, { type: 'read', path: 'a' }],
      [
        'edit_file',
        { path: 'a', old_string: 'x', new_string: 'y' },
        { type: 'write', path: 'a', startLine: 1, endLine: 1 },
      ],
      ['list_files', {}, { type: 'list', path: '.' }],
      ['file_stat', { path: 'a' }, { type: 'read', path: 'a' }],
      ['mkdir', { path: 'b' }, { type: 'write', path: 'b' }],
      ['grep', { pattern: 'y' }, { type: 'search', query: 'y', path: '.' }],
      ['delete', { path: 'a' }, { type: 'write', path: 'a' }],
      ['execute_command', { command: 'true' }, { type: 'command', command: 'true', exitCode: 0 }],
      ['get_process_output', { processId, wait: true }, ended],
      ['kill_process', { processId }, ended],
      // And when it failed.
      ['write_file', { path: '../a', content: 'x' }, { type: 'write', path: '../a', isSuccess: false }],
      ['read_file', { path: 'a' }, { type: 'read', path: 'a', isSuccess: false }],
      ['edit_file', { path: 'a' }, { type: 'write', path: 'a', isSuccess: false }],
      ['list_files', { path: 'no' }, { type: 'list', path: 'no', isSuccess: false }],
      ['file_stat', { path: '/etc' }, { type: 'read', path: '/etc', isSuccess: false }],
      ['mkdir', { path: '../b' }, { type: 'write', path: '../b', isSuccess: false }],
      ['grep', { pattern: '(' }, { type: 'search', query: '(', path: '.', isSuccess: false }],
      ['delete', { path: 'a' }, { type: 'write', path: 'a', isSuccess: false }],
      ['execute_command', { command: 'x', cwd: '/' }, { type: 'command', command: 'x', isSuccess: false }],
      ['get_process_output', none, { type: 'command', command: 'get_process_output', isSuccess: false }],
      ['kill_process', none, { type: 'command', command: 'kill_process', isSuccess: false }],
    ]
    for (const [name, input, expected] of cases) {
      const { activity } = await bench.call(name, input)
      const told = activity?.events.map(({ timestamp: _timestamp, ...event }) => event)
      assert.deepEqual(told, [{ isSuccess: true, ...expected }], `${name} ${JSON.stringify(input)}`)
    }
    assert.deepEqual([...new Set(cases.map(([name]) => name))].sort(), ALL.split(' ').sort())
  })

  test('bind an approval to the file as it was', async () => {
    await using bench = new WorkspaceBench()
    const tools = await bench.workspace.list()
    const state = (): unknown => tools.find(({ name }) => name === 'write_file')?.preconditions?.({ path: 'a' })
    const missing = await state()
    writeFileSync(join(bench.root, 'a'), '1')
    const first = await state()
    assert.deepEqual([missing, await state()], [{ a: null }, first])
    writeFileSync(join(bench.root, 'a'), '22')
    assert.notDeepEqual(await state(), first)
  })
})

suite('a workspace', () => {
  test('refuses settings that cannot be meant', () => {
    const wrong: readonly [unknown, RegExp][] = [
      [undefined, /made from/],
      [{}, /`root`/],
      [{ root: 1 }, /`root`/],
      [{ root: '.', basePath: 1 }, /no setting "basePath"/],
      [{ root: '.', tools: { reed: {} } }, /no setting "reed"/],
      [{ root: '.', tools: { grep: { nam: 'x' } } }, /no setting "nam"/],
      [{ root: '.', tools: { grep: { name: 'a b' } } }, /letters/],
      [{ root: '.', tools: { grep: { maxOutputTokens: 0 } } }, /whole number/],
      [{ root: '.', tools: { grep: { name: 'delete' } } }, /Two tools/],
    ]
    for (const [options, message] of wrong) {
      assert.throws(
        () => new Workspace(options as never),
        (error) => InspanError.is(error, 'invalid-input') && message.test(error.message),
      )
    }
  })

  test('reports when its folder is not there, or creates it', async () => {
    const base = mkdtempSync(join(tmpdir(), 'inspan-workspace-'))
    try {
      const root = join(base, 'new')
      await assert.rejects(new Workspace({ root }).init(), /is not there/)
      await new Workspace({ root, create: true }).init()
      assert.ok(existsSync(root))
    } finally {
      rmSync(base, { recursive: true })
    }
  })

  test('can have its files and its shell anywhere', async () => {
    const kept = new Map([['a.txt', 'elsewhere']])
    const info = (path: string): FileInfo => ({
      path,
      type: 'file',
      size: (kept.get(path) ?? '').length,
      mode: 0o644,
      modifiedAt: 0,
      version: kept.get(path) ?? '',
    })
    const files: WorkspaceFiles = {
      stat: async (path) => (kept.has(path) ? info(path) : null),
      read: async (path) => {
        if (!kept.has(path)) throw new InspanError('not-found', `There is no ${path}.`)
        return { bytes: Buffer.from(kept.get(path) ?? ''), info: info(path) }
      },
      write: async (path, bytes) => {
        kept.set(path, bytes.toString())
        return info(path)
      },
      makeFolder: async () => undefined,
      remove: async (path) => void kept.delete(path),
      list: async function* () {
        for (const path of kept.keys()) yield { path, type: 'file' }
      },
      grep: async function* () {},
    }
    const shell: WorkspaceShell = {
      isContained: true,
      run: async ({ command, cwd, onOutput }) => {
        onOutput(`${command} in ${cwd ?? 'the workspace'}`, 'stdout')
        return { ended: Promise.resolve({ exitCode: 0, signal: null }), kill: async () => undefined }
      },
    }
    await using bench = new WorkspaceBench({ files, shell })
    const { result } = await bench.call('execute_command', { command: 'ls', cwd: 'far' })
    assert.deepEqual(result, { exitCode: 0, stdout: 'ls in far', stderr: '' })
    assert.equal(await bench.result('read_file', { path: 'a.txt' }), 'elsewhere')
    await bench.result('edit_file', { path: 'a.txt', old_string: 'else', new_string: 'no' })
    await bench.result('write_file', { path: 'b.txt', content: 'b' })
    assert.equal(await bench.result('list_files', {}), 'a.txt\nb.txt')
    assert.equal(kept.get('a.txt'), 'nowhere')
  })
})
