import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { nativeDriver } from '@inspan/agent'
import {
  NO_RULES,
  type CallState,
  type Part,
  type PermissionRules,
  type StoredMessage,
  type Wait,
} from '@inspan/protocol'
import { IdList, List } from '@inspan/protocol/internal'
import { emptyState, type ThreadState } from '@inspan/protocol/log'
import { MemoryStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { policyFor, shellCall, shellRules } from '../../policy/policy.fixture.ts'
import { createThread, ProcessOwner, ThreadRuntime, type RunnableTool } from '../index.ts'
import { wasInterrupted } from '../calls/interrupted-before.ts'

/** A thread whose agent runs commands, one in each step, and then says it is done. */
class Shell implements AsyncDisposable {
  readonly ran: readonly string[]
  readonly #store: MemoryStore
  readonly #owner: ProcessOwner
  readonly runtime: ThreadRuntime

  private constructor(store: MemoryStore, owner: ProcessOwner, runtime: ThreadRuntime, ran: string[]) {
    this.#store = store
    this.#owner = owner
    this.runtime = runtime
    this.ran = ran
  }

  static async open(commands: readonly string[], rules: PermissionRules): Promise<Shell> {
    const store = new MemoryStore()
    await createThread(store, { id: 'thread', resourceId: 'test' })
    const owner = await ProcessOwner.register(store)
    const ran: string[] = []
    const tool: RunnableTool = {
      name: 'execute_command',
      inputSchema: { type: 'object' },
      execute: async (input) => {
        if (typeof input['command'] === 'string') ran.push(input['command'])
        return { result: 'ok' }
      },
    }
    const model = scriptedModel([
      ...commands.map((command, at) => ({
        toolCalls: [{ id: `c${at}`, name: 'execute_command', input: { command } }],
      })),
      { text: 'Done.' },
    ])
    const runtime = await ThreadRuntime.open({
      store,
      owner,
      thread: 'thread',
      agents: { native: { driver: nativeDriver({ id: 'native', model }), tools: [tool] } },
      policy: policyFor(rules),
    })
    return new Shell(store, owner, runtime, ran)
  }

  submit(): ReturnType<ThreadRuntime['submit']> {
    return this.runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'go' }] })
  }

  async wait(): Promise<Wait> {
    for (;;) {
      const [wait] = [...this.runtime.state.head.waits]
      if (wait !== undefined) return wait
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async toolResult(): Promise<unknown> {
    const { lineage } = this.runtime.state.head
    const { items } = await this.#store.listMessages(lineage, { order: 'oldest' })
    return items.flatMap(resultsOf)[0]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.runtime.close()
    await this.#owner.close()
    await this.#store.close()
  }
}

function resultsOf(message: StoredMessage): unknown[] {
  return message.parts.flatMap((part) => (part.type === 'tool-result' ? [part.result] : []))
}

suite('a thread under rules', () => {
  test('runs what is allowed', async () => {
    await using shell = await Shell.open(['git log'], shellRules({ allow: ['git log *'] }))
    assert.equal(await (await shell.submit()).done, 'complete')
    assert.deepEqual(shell.ran, ['git log'])
  })

  test('tells the model which rule denied which part', async () => {
    await using shell = await Shell.open(['ls; rm -fr x'], shellRules({ deny: ['rm -rf *'] }))
    assert.equal(await (await shell.submit()).done, 'complete')
    assert.deepEqual(shell.ran, [])
    assert.match(
      String(await shell.toolResult()),
      /`rm -fr x` is denied by the rule `deny execute_command\(rm -rf \*\)`/,
    )
  })

  test('gives the reason to whoever is asked, and follows the answer', async () => {
    await using shell = await Shell.open(['make > out'], shellRules({ allow: ['make *'] }))
    const { done } = await shell.submit()
    const wait = await shell.wait()
    assert.match(wait.description, /no rule allows `make > out`, and it writes out/)
    await shell.runtime.answer(wait.id, { decision: 'approve' })
    assert.equal(await done, 'complete')
    assert.deepEqual(shell.ran, ['make > out'])
  })

  test('a deny that comes while somebody thinks beats the approval', async () => {
    await using shell = await Shell.open(['make'], NO_RULES)
    const { done } = await shell.submit()
    const wait = await shell.wait()
    await shell.runtime.configure({ rules: shellRules({ deny: ['make *'] }) })
    await shell.runtime.answer(wait.id, { decision: 'approve' })
    assert.equal(await done, 'complete')
    assert.deepEqual(shell.ran, [])
  })

  test('a run keeps its denies when the rules of the thread are loosened', async () => {
    await using shell = await Shell.open(['make', 'rm x'], NO_RULES)
    await shell.runtime.configure({ rules: shellRules({ deny: ['rm *'] }) })
    const { done } = await shell.submit()
    const wait = await shell.wait()
    await shell.runtime.configure({ rules: shellRules({ allow: ['rm *'] }), yolo: true })
    await shell.runtime.answer(wait.id, { decision: 'approve' })
    assert.equal(await done, 'complete')
    assert.deepEqual(shell.ran, ['make'])
  })
})

suite('a call was interrupted before', () => {
  const make = shellCall('make')
  const inDoubt: CallState = { stage: 'ended', outcome: 'in-doubt' }
  const approved: CallState = { stage: 'ended', outcome: 'ok', answer: { decision: 'approve' } }

  function stateWith(...calls: readonly CallState[]): ThreadState {
    const parts = calls.map((call, at): Part => ({
      id: String(at),
      type: 'tool-call',
      toolCallId: `earlier-${at}`,
      toolName: 'execute_command',
      args: { command: 'make' },
      call,
    }))
    const message = { id: 'm', role: 'assistant', order: 1, at: 0, state: 'open', parts: List.from(parts) } as const
    return { ...emptyState('thread'), messages: IdList.from([message]) }
  }

  test('when the same one was cut short, until somebody has approved it', () => {
    assert.equal(wasInterrupted(make, stateWith()), false)
    assert.equal(wasInterrupted(make, stateWith(inDoubt)), true)
    assert.equal(wasInterrupted(shellCall('make all'), stateWith(inDoubt)), false, 'another call')
    assert.equal(wasInterrupted(make, stateWith(inDoubt, approved)), false)
    assert.equal(wasInterrupted(make, stateWith(inDoubt, approved, inDoubt)), true)
  })
})
