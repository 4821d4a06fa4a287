import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { compileFunction } from 'node:vm'
import { scriptedModel } from '@inspan/testing'
import { z } from 'zod'
import { Agent, createTool, Harness, MemoryStore, SqliteStore, type HarnessConfig } from '../../index.ts'
import { HarnessBench } from '../harness.fixture.ts'

/**
 * The pieces of the page, word for word, run as the texts they are: what a piece takes for granted (its imports, an agent,
 * a function that draws) is given to it, and nothing in it is changed. That they compile is shown by page-programs.test.ts.
 */
const PIECES: ReadonlyMap<string, string> = new Map(
  (await readFile(new URL('fixtures/page-snippets.txt', import.meta.url), 'utf8'))
    .split(/^=== /mu)
    .slice(1)
    .map((piece) => [piece.slice(0, piece.indexOf('\n')), piece.slice(piece.indexOf('\n') + 1)]),
)
const left = new Set(PIECES.keys())

/** Gives what the piece has put into its first variable. */
async function run(name: string, given: Readonly<Record<string, unknown>>): Promise<unknown> {
  const text = PIECES.get(name)
  assert.ok(text !== undefined, `the page has no piece "${name}"`)
  left.delete(name)
  const code = stripTypeScriptTypes(`async function piece() {\n${text}\n${returned(text)}}`)
  const piece = compileFunction(`${code}\nreturn piece()`, Object.keys(given)) as (...args: unknown[]) => unknown
  return piece(...Object.values(given))
}

function returned(text: string): string {
  const variable = /^(?:\/\/.*\n)*const (\w+)/u.exec(text)?.[1]
  return variable === undefined ? '' : `return ${variable}\n`
}

type Script = Parameters<typeof scriptedModel>[0]

function benchOf(script: Script = [], more: Partial<HarnessConfig> = {}): HarnessBench {
  return new HarnessBench(script, { id: 'harness', ...more })
}

suite('every piece of the page, word for word', () => {
  after(() => assert.deepEqual([...left], [], 'pieces that were not run'))

  test('the usage example', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'inspan-page-'))
    const cwd = process.cwd()
    const rendered: unknown[] = []
    const stores: SqliteStore[] = []
    class LibSQLStore extends SqliteStore {
      constructor(options: ConstructorParameters<typeof SqliteStore>[0]) {
        super(options)
        stores.push(this)
      }
    }
    process.chdir(folder)
    try {
      const myAgent = new Agent({ id: 'my-agent', model: scriptedModel([{ text: ['Hel', 'lo!'] }]) })
      const renderMessage = (message: { content: unknown }): void => void rendered.push(message.content)
      const harness = await run('the usage example', { Harness, LibSQLStore, z, myAgent, renderMessage })
      assert.ok(harness instanceof Harness)
      assert.deepEqual(rendered.at(-1), [{ type: 'text', text: 'Hello!' }])
      await harness.destroy()
    } finally {
      for (const store of stores) await store.close()
      process.chdir(cwd)
      await rm(folder, { recursive: true })
    }
  })

  test('lifecycle', async () => {
    await using bench = benchOf()
    const { harness } = bench
    assert.equal(harness.getMastra(), undefined)
    await run('init()', { harness })
    assert.ok(await run('getMastra()', { harness }))
    assert.equal(Reflect.get(Object(await run('selectOrCreateThread()', { harness })), 'resourceId'), 'harness')
    await harness.registerHeartbeat({ id: 'gateway-sync', intervalMs: 60_000, handler: () => undefined })
    await run('removeHeartbeat()', { harness })
    await run('stopHeartbeats()', { harness })
    assert.equal(Reflect.get(Object(await run('getCurrentAgent()', { harness })), 'id'), 'agent')
    assert.equal(await run('getResolvedMemory()', { harness }), null)
    assert.deepEqual(await run('listModes()', { harness }), [{ id: 'build' }])
    await run('destroy()', { harness })
    assert.equal(harness.getMastra(), undefined)
  })

  test('models', async () => {
    await using bench = benchOf([], { modelAuthChecker: () => true })
    const { harness } = bench
    await harness.session.model.switch({ modelId: 'anthropic/claude-sonnet-4-5' })
    const status = await run('getCurrentModelAuthStatus()', { harness })
    assert.deepEqual(status, { hasAuth: true, apiKeyEnvVar: 'ANTHROPIC_API_KEY' })
    const models = await run('listAvailableModels()', { harness })
    assert.ok(Array.isArray(models) && models.length > 0)
    for (const field of ['id', 'provider', 'modelName', 'hasApiKey', 'apiKeyEnvVar', 'useCount']) {
      assert.ok(
        models.every((model: object) => field in model),
        field,
      )
    }
  })

  test('threads', async () => {
    const storage = new MemoryStore()
    const info = { id: 'thread-abc123', resourceId: 'harness', title: 'Old', createdAt: 1, updatedAt: 1, hidden: false }
    await storage.createStream({ kind: 'thread', headSeq: 0, info: { ...info, metadata: {} } })
    await using bench = benchOf([], { storage })
    const { harness } = bench
    const created = Object(await run('createThread()', { harness })) as { id: string; title: string }
    assert.deepEqual([created.id, created.title], [harness.session.thread.getId(), 'New conversation'])
    await run('switchThread()', { harness })
    assert.equal(harness.session.thread.getId(), 'thread-abc123')
    await run('renameThread()', { harness })
    const cloned = Object(await run('cloneThread()', { harness })) as { id: string; title: string }
    assert.deepEqual([cloned.id, cloned.title], [harness.session.thread.getId(), 'Clone of Updated title'])
    const other = Object(await run('cloneThread() of another', { harness })) as { id: string; title: string }
    assert.deepEqual([other.id, other.title], [harness.session.thread.getId(), 'Alternative approach'])
    const session = Object(await run('getSession()', { harness })) as { threads: readonly unknown[] }
    assert.deepEqual(Object.keys(session).toSorted(), ['currentModeId', 'currentThreadId', 'threads'])
    assert.equal(session.threads.length, 4)
    await run('memory.deleteThread()', { harness })
    assert.deepEqual(
      bench.all('thread_deleted').map(({ threadId }) => threadId),
      ['thread-abc123'],
    )
    await run('setResourceId()', { harness })
    assert.deepEqual([harness.session.thread.getId(), harness.session.identity.getResourceId()], [null, 'project-xyz'])
    assert.deepEqual(await run('getKnownResourceIds()', { harness }), ['harness'])
  })

  test('messages and flow control', async () => {
    await using bench = benchOf([
      { text: 'First.' },
      { text: 'Half', hang: true },
      { text: 'Secure.' },
      { text: 'Applied.' },
    ])
    const { harness } = bench
    await run('sendMessage()', { harness })
    const begun = bench.next('message_update')
    const sent = harness.sendMessage({ content: 'Go on' })
    await begun
    await run('abort()', { harness })
    await sent
    assert.equal(bench.all('agent_end').at(-1)?.reason, 'aborted')
    // Nobody awaits them on the page: the one is heard before the other.
    const applied = bench.next('agent_end', () => bench.model.calls === 4)
    await run('steer()', { harness })
    await run('followUp()', { harness })
    assert.equal((await applied).reason, 'complete')
    const said = (await harness.session.thread.listActiveMessages()).filter(({ role }) => role === 'user')
    assert.deepEqual(
      said.flatMap(({ content }) => content),
      ['Explain the authentication flow', 'Go on', 'Focus on security implications', 'Now apply those changes'].map(
        (text) => ({ type: 'text', text }),
      ),
    )
  })

  test('answers to tools', async () => {
    const options = ['Add tests', 'Update docs', 'Nothing'].map((label) => ({ label }))
    const choose = { question: 'What else?', options, selectionMode: 'multi_select' }
    const results: unknown[] = []
    for (const [piece, input] of [
      ['respondToToolSuspension()', { question: 'Refactor?' }],
      ['ask_user selections', choose],
      ['respondToToolSuspension() with several choices', choose],
    ] as const) {
      await using bench = benchOf([{ toolCalls: [{ name: 'ask_user', input }] }, { text: 'Good.' }])
      const { harness } = bench
      const ended = bench.next('agent_end', ({ reason }) => reason === 'complete')
      if (PIECES.get(piece)?.startsWith('harness.subscribe') === true) await run(piece, { harness })
      else
        harness.subscribe(
          async (event) => void (event.type === 'tool_suspended' && (await run(piece, { harness, event }))),
        )
      await harness.sendMessage({ content: 'Go' })
      await ended
      results.push(...bench.all('tool_end').map(({ result }) => result))
    }
    const both = { content: 'User answered: Add tests, Update docs', isError: false }
    assert.deepEqual(results, [
      { content: 'User answered: Yes, proceed with the refactor', isError: false },
      both,
      both,
    ])
  })

  test('answers to a plan: of the two that the page gives at once the first one counts', async () => {
    const plan = { toolCalls: [{ name: 'submit_plan', input: { plan: 'Do it' } }] }
    await using bench = benchOf([plan, { text: 'Done.' }], {
      modes: [{ id: 'plan', transitionsTo: 'do' }, { id: 'do' }],
    })
    const { harness } = bench
    const event = bench.next('tool_suspended')
    await harness.sendMessage({ content: 'Go' })
    const ended = bench.next('agent_end')
    await run('respondToToolSuspension() for a plan', { harness, event: await event })
    assert.equal((await ended).reason, 'complete')
    assert.deepEqual([harness.session.mode.get(), bench.all('error').length], ['do', 1])
  })

  test('permissions and workspace', async () => {
    const ended: string[] = []
    const workspace = { id: 'ws', init: () => undefined, destroy: () => void ended.push('ws') }
    await using bench = benchOf([], {
      toolCategoryResolver: (name) => (name === 'mastra_workspace_write_file' ? 'edit' : null),
      workspace,
    })
    const { harness } = bench
    assert.equal(await run('getToolCategory()', { harness }), 'edit')
    assert.equal(await run('getWorkspace()', { harness }), workspace)
    assert.equal(await run('resolveWorkspace()', { harness }), workspace)
    await run('hasWorkspace()', { harness })
    await run('isWorkspaceReady()', { harness })
    assert.equal(harness.getWorkspace(), workspace)
    await run('destroyWorkspace()', { harness })
    assert.deepEqual(ended, ['ws'])
  })

  test('observational memory and subagents', async () => {
    const known = { activeObservations: 'Likes tea.', generationCount: 2, observationTokenCount: 30 }
    const record = { id: 'om', threadId: null, resourceId: 'harness', pendingMessageTokens: 0, ...known }
    const subagents = await run('forked subagents', {})
    assert.ok(Array.isArray(subagents))
    await using bench = benchOf([], { memory: { getObservationalMemoryRecord: async () => record }, subagents })
    const { harness } = bench
    assert.equal(harness.listSubagents()[0]?.id, 'collaborator')
    await harness.createThread()
    await run('loadOMProgress()', { harness })
    assert.equal(bench.all('om_status')[0]?.generationCount, 2)
    const logged: unknown[] = []
    await run('getObservationalMemoryRecord()', {
      harness,
      console: { log: (value: unknown) => void logged.push(value) },
    })
    assert.deepEqual(logged, Object.values(known))
  })

  test('drawing', async () => {
    const frames: unknown[] = []
    await using bench = benchOf([{ text: 'Hello' }])
    const { harness } = bench
    const unsubscribe = await run('subscribe() for the display', {
      harness,
      render: (state: { currentMessage: { content: unknown } | null }) =>
        void frames.push(state.currentMessage?.content),
    })
    await harness.sendMessage({ content: 'Hi' })
    assert.equal(typeof unsubscribe, 'function')
    assert.deepEqual([frames[0], frames.at(-1)], [undefined, [{ type: 'text', text: 'Hello' }]])
  })

  test('raw events, until it has unsubscribed', async () => {
    const seen: string[] = []
    const paint = createTool({ id: 'paint', description: 'Paints.', execute: () => 'painted' })
    const script = [{ toolCalls: [{ name: 'paint' }] }, { error: { status: 400, message: 'No.' } }]
    await using bench = benchOf(script, { tools: { paint } })
    const { harness } = bench
    const given = {
      renderMessage: ({ role }: { role: string }) => void seen.push(role),
      showApprovalPrompt: (toolName: string) => {
        seen.push(toolName)
        return harness.session.respondToToolApproval({ decision: 'decline' })
      },
      console: { error: (error: Error) => void seen.push(error.message) },
    }
    // The piece ends its subscription at once, so it is given one that ends later.
    const ends: (() => void)[] = []
    const subscribe: typeof harness.subscribe = (listener) => {
      ends.push(harness.subscribe(listener))
      return () => undefined
    }
    await run('subscribe() for raw events', { harness: { subscribe }, ...given })
    await harness.sendMessage({ content: 'Go' })
    for (const end of ends) end()
    assert.deepEqual([...new Set(seen)], ['assistant', 'paint', 'No.'])
  })
})
