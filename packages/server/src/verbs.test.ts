/** The commands of a conversation, sent by one client and seen by another. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { connect, type Client, type ClientState } from '@inspan/client'
import { createTool } from '@inspan/core'
import type { Command, ReceiptMessage } from '@inspan/protocol/wire'
import { stateWhere } from './client-state.fixture.ts'
import { ServerBench } from './server.fixture.ts'

/** A server with a tool that waits until the test lets it end. */
class HeldBench implements AsyncDisposable {
  readonly bench: ServerBench
  readonly sender: Client
  readonly watcher: Client
  /** Resolves when the tool runs. */
  readonly started: Promise<void>
  readonly release: () => void

  private constructor(
    bench: ServerBench,
    clients: readonly [Client, Client],
    started: Promise<void>,
    release: () => void,
  ) {
    this.bench = bench
    ;[this.sender, this.watcher] = clients
    this.started = started
    this.release = release
  }

  static async start(script: Parameters<typeof ServerBench.start>[0]): Promise<HeldBench> {
    const started = Promise.withResolvers<void>()
    const held = Promise.withResolvers<string>()
    const hold = createTool({
      id: 'hold',
      description: 'Takes long.',
      execute: (_input, { abortSignal }) => {
        started.resolve()
        abortSignal.addEventListener('abort', () => held.resolve('stopped'))
        return held.promise
      },
    })
    const permissions = { tools: { hold: 'allow' } } as const
    const bench = await ServerBench.start(script, { agent: { tools: { hold } }, harness: { permissions } })
    const open = (): Promise<Client> => connect({ url: bench.url, token: bench.token })
    const clients = [await open(), await open()] as const
    return new HeldBench(bench, clients, started.promise, () => held.resolve('held'))
  }

  send(command: Command): Promise<ReceiptMessage> {
    return this.sender.send(command).receipt
  }

  async done(command: Command): Promise<ReceiptMessage> {
    const receipt = await this.send(command)
    assert.equal(receipt.status, 'done', receipt.message)
    return receipt
  }

  sees(holds: (state: ClientState) => boolean): Promise<ClientState> {
    return stateWhere(this.watcher, holds)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.sender.close(), this.watcher.close()])
    await this.bench[Symbol.asyncDispose]()
  }
}

const texts = ({ messages }: ClientState): string[] => messages.map(({ content, role }) => `${role}: ${content}`)
const waiting = ({ head }: ClientState): string[] =>
  [...head.queue].map(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')).join(''))
const call = { toolCalls: [{ name: 'hold', input: {} }] }

describe('a conversation over the wire', () => {
  it('a message to a working agent reaches its next step', async () => {
    await using held = await HeldBench.start([call, { text: 'The backend, then.' }])
    await held.done({ type: 'submit', prompt: 'Go' })
    await held.started
    await held.done({ type: 'steer', message: 'Backend first.' })
    held.release()
    const state = await held.sees(
      (each) => each.status === 'idle' && texts(each).at(-1) === 'assistant: The backend, then.',
    )
    assert.ok(texts(state).includes('user: Backend first.'))
    assert.match(held.bench.model.requestBodies.at(-1) ?? '', /Backend first\./)
  })

  it('queued messages are edited, reordered and removed, and are then heard in their order', async () => {
    await using held = await HeldBench.start([call, { text: 'First.' }, { text: 'Second.' }, { text: 'Third.' }])
    await held.done({ type: 'submit', prompt: 'Go' })
    await held.started
    const queued: string[] = []
    for (const message of ['one', 'two', 'three']) {
      queued.push((await held.done({ type: 'follow-up', message })).itemId ?? '')
    }
    const [one = '', two = '', three = ''] = queued
    await held.done({ type: 'queue-edit', itemId: two, message: 'TWO' })
    await held.done({ type: 'queue-move', itemId: three, before: one })
    await held.done({ type: 'queue-remove', itemId: one })
    await held.sees((each) => waiting(each).join(' ') === 'three TWO')
    assert.equal((await held.send({ type: 'queue-remove', itemId: one })).reason, 'unknown-id')
    held.release()
    const end = await held.sees((each) => each.status === 'idle' && texts(each).at(-1) === 'assistant: Third.')
    assert.deepEqual(
      texts(end).filter((line) => line.startsWith('user: ')),
      ['user: Go', 'user: three', 'user: TWO'],
    )
  })

  it('a cancelled run ends with its calls, and what was queued is held', async () => {
    await using held = await HeldBench.start([call, { text: 'Never.' }])
    await held.done({ type: 'submit', prompt: 'Go' })
    await held.started
    await held.done({ type: 'follow-up', message: 'later' })
    await held.done({ type: 'cancel' })
    const state = await held.sees(({ head, status }) => status === 'idle' && head.lastRun !== null)
    assert.equal(state.head.lastRun?.outcome, 'aborted')
    assert.deepEqual(waiting(state), ['later'])
    assert.equal(held.bench.model.requests.length, 1)
  })

  it('`resume` continues another thread of ours, and leaves the one it was sent from alone', async () => {
    await using held = await HeldBench.start([{ text: 'I will remember.' }, { text: 'It was seven.' }])
    await held.done({ type: 'submit', prompt: 'Remember seven.' })
    const sessionId = (await held.sees((each) => each.status === 'idle' && texts(each).length === 2)).sessionId ?? ''
    const { id } = await held.sender.routes.createThread()
    await held.sender.open(id)
    await held.done({ type: 'resume', sessionId, prompt: 'Which number?' })
    const state = await held.sees((each) => each.status === 'idle' && texts(each).length === 4)
    assert.deepEqual(texts(state).slice(2), ['user: Which number?', 'assistant: It was seven.'])
    assert.deepEqual(held.sender.getState().messages, [])
    assert.equal((await held.send({ type: 'resume', sessionId: 'nobody', prompt: 'x' })).reason, 'unknown-id')
  })

  it('`approve` answers a question, approves a plan and gives access, `deny` sends a plan back with the reason', async () => {
    const plan = (title: string) => ({ toolCalls: [{ name: 'submit_plan', input: { title, plan: '1. Sort' } }] })
    await using held = await HeldBench.start([
      { toolCalls: [{ name: 'ask_user', input: { question: 'What name?' } }] },
      plan('First try'),
      plan('Second try'),
      { toolCalls: [{ name: 'request_access', input: { path: '/attic', reason: 'to sort' } }] },
      { text: 'Sorted.' },
    ])
    const asked = async (toolName: string): Promise<string> => {
      const { pendingApprovals = [] } = await held.sees(({ pendingApprovals: open = [] }) =>
        open.some((each) => each.toolName === toolName && !answered.has(each.toolCallId)),
      )
      const { toolCallId = '' } = pendingApprovals.find((each) => !answered.has(each.toolCallId)) ?? {}
      answered.add(toolCallId)
      return toolCallId
    }
    const answered = new Set<string>()
    const lastRequest = (): string => held.bench.model.requestBodies.at(-1) ?? ''
    await held.done({ type: 'mode', mode: 'plan' })
    await held.done({ type: 'submit', prompt: 'Go' })
    const question = await asked('ask_user')
    assert.equal((await held.send({ type: 'approve', toolCallId: question })).reason, 'answer-needed')
    await held.done({ type: 'approve', toolCallId: question, answer: 'Ada' })
    const first = await asked('submit_plan')
    assert.match(lastRequest(), /Ada/)
    await held.done({ type: 'deny', toolCallId: first, reason: 'Only the attic.' })
    const second = await asked('submit_plan')
    assert.match(lastRequest(), /Only the attic\./)
    // A yes is enough where there is nothing to choose, so a client needs to know no more than that something waits.
    await held.done({ type: 'approve', toolCallId: second })
    await held.done({ type: 'approve', toolCallId: await asked('request_access') })
    const state = await held.sees((each) => each.status === 'idle' && texts(each).at(-1) === 'assistant: Sorted.')
    assert.equal(state.head.mode, 'build')
    assert.match(lastRequest(), /Access to \/attic was granted\./)
    assert.equal((await held.send({ type: 'approve', toolCallId: second })).reason, 'unknown-id')
  })

  it('an attachment reaches the model and every client', async () => {
    await using held = await HeldBench.start([{ text: 'A note.' }])
    const data = Buffer.from('seven').toString('base64')
    const attachments = [{ mimeType: 'text/plain', data, fileName: 'note.txt' }]
    await held.done({ type: 'submit', prompt: 'What is it?', attachments })
    const { messages } = await held.sees((each) => each.status === 'idle' && texts(each).length === 2)
    assert.deepEqual(messages[0]?.attachments, attachments)
    assert.match(held.bench.model.requestBodies[0] ?? '', new RegExp(`${data}|seven`))
  })
})
