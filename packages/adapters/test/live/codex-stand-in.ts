import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { listen, longTool, say, type Json } from './stand-in-io.ts'

interface NativeTurn {
  readonly id: string
  readonly items: string[]
}

/** What it remembers from one process to the next, by thread. */
type Memory = Record<string, { turns: NativeTurn[]; injected: Json[] }>

/** One turn of the stand-in, as its body sees it. */
export interface CodexStandInTurn {
  readonly prompt: string
  readonly threadId: string
  /** What the thread was told as items of its history. */
  readonly injected: readonly Json[]
  /** Settles when the turn was interrupted. */
  readonly interrupted: Promise<void>
  say(text: string): void
  /** A command from its announcement to its end, as approved. */
  command(command: string): Promise<void>
  /** A change of files, likewise. */
  change(...changes: readonly Json[]): Promise<void>
  /** Announces an item, without asking. */
  started(item: Json): void
  completed(item: Json): void
  /** Asks the host; gives its answer. */
  ask(method: string, params: Json): Promise<Json>
  /** Takes its last question back. */
  withdraw(): void
  steered(): Promise<string>
  notify(method: string, params: Json): void
  fail(message: string): void
  raw(text: string): void
  longTool(): () => void
}

const MEMORY = 'memory.json'
const memory: Memory = existsSync(MEMORY) ? (JSON.parse(readFileSync(MEMORY, 'utf8')) as Memory) : {}
const replies = new Map<number, (answer: Json) => void>()
const steeredTexts: string[] = []
let wakeSteered: (() => void) | undefined
let active: { readonly threadId: string; readonly turnId: string; readonly abort: () => void } | undefined
let questions = 0

function remember(): void {
  writeFileSync(MEMORY, JSON.stringify(memory))
}

function thread(id: string): Memory[string] {
  memory[id] ??= { turns: [], injected: [] }
  return memory[id]
}

function ask(method: string, params: Json): Promise<Json> {
  const id = questions
  questions += 1
  say({ id, method, params })
  return new Promise((resolve) => replies.set(id, resolve))
}

async function take(
  threadId: string,
  turnId: string,
  prompt: string,
  body: (turn: CodexStandInTurn) => Promise<void>,
): Promise<void> {
  const { promise: interrupted, resolve: abort } = Promise.withResolvers<void>()
  active = { threadId, turnId, abort }
  const record: NativeTurn = { id: turnId, items: [] }
  thread(threadId).turns.push(record)
  remember()
  const place = { threadId, turnId }
  const notify = (method: string, params: Json): void => say({ method, params: { ...params, ...place } })
  const started = (item: Json): void => notify('item/started', { item })
  const completed = (item: Json): void => {
    record.items.push(String(item['id']))
    remember()
    notify('item/completed', { item })
  }
  let failure: string | undefined
  notify('turn/started', { turn: { id: turnId, rootTurnId: turnId, status: 'inProgress' } })
  const turn: CodexStandInTurn = {
    prompt,
    threadId,
    injected: thread(threadId).injected,
    interrupted,
    say: (text) => {
      const item = { type: 'agentMessage', id: `msg_${randomUUID()}`, text }
      started({ ...item, text: '' })
      notify('item/agentMessage/delta', { itemId: item.id, delta: text })
      completed(item)
    },
    command: async (command) => {
      const item = { type: 'commandExecution', id: `call_${randomUUID()}`, command, cwd: process.cwd() }
      started({ ...item, status: 'inProgress', exitCode: null })
      const { decision } = await ask('item/commandExecution/requestApproval', {
        ...place,
        kind: 'command',
        itemId: item.id,
        command,
        cwd: process.cwd(),
      })
      if (decision === 'accept') completed({ ...item, status: 'completed', exitCode: 0, aggregatedOutput: 'ran' })
      else completed({ ...item, status: 'declined', exitCode: null, aggregatedOutput: null })
    },
    change: async (...changes) => {
      const item = { type: 'fileChange', id: `call_${randomUUID()}`, changes }
      started({ ...item, status: 'inProgress' })
      const { decision } = await ask('item/fileChange/requestApproval', { ...place, itemId: item.id })
      completed({ ...item, status: decision === 'accept' ? 'completed' : 'declined' })
    },
    started,
    completed,
    ask: (method, params) => ask(method, { ...place, ...params }),
    withdraw: () => notify('serverRequest/resolved', { requestId: questions - 1 }),
    steered: async () => {
      while (steeredTexts.length === 0) await new Promise<void>((wake) => (wakeSteered = wake))
      return steeredTexts.shift() ?? ''
    },
    notify,
    fail: (message) => {
      failure = message
      notify('error', {
        error: { message, codexErrorInfo: { httpConnectionFailed: { httpStatusCode: 401 } } },
        willRetry: false,
      })
    },
    raw: (text) => void process.stdout.write(text),
    longTool,
  }
  const how = await Promise.race([
    body(turn).then(() => 'completed' as const),
    interrupted.then(() => 'interrupted' as const),
  ])
  active = undefined
  const total = thread(threadId).turns.length * 10
  const usage = { total: { inputTokens: total, outputTokens: total }, last: { inputTokens: 10, outputTokens: 10 } }
  notify('thread/tokenUsage/updated', { tokenUsage: usage })
  const error = failure === undefined ? null : { message: failure, codexErrorInfo: 'unauthorized' }
  const status = failure === undefined ? how : 'failed'
  notify('turn/completed', { turn: { id: turnId, rootTurnId: turnId, status, error } })
}

/** Speaks the protocol of Codex' app server on standard input and output. */
export async function serve(body: (turn: CodexStandInTurn) => Promise<void>): Promise<void> {
  await listen((record) => {
    const { id, method } = record
    const params = (record['params'] ?? {}) as Json
    if (typeof method !== 'string') {
      replies.get(Number(id))?.((record['result'] ?? { error: record['error'] }) as Json)
      replies.delete(Number(id))
    } else if (id !== undefined) answer(Number(id), method, params, body)
  })
}

function answer(id: number, method: string, params: Json, body: (turn: CodexStandInTurn) => Promise<void>): void {
  const succeed = (result: Json): void => say({ id, result })
  const refuse = (message: string): void => say({ id, error: { code: -32600, message } })
  const threadId = String(params['threadId'])
  // As the real one: it confirms the policy, which a version without that policy would replace.
  const approvalPolicy = process.env['STAND_IN_POLICY'] ?? params['approvalPolicy']
  const unknownPolicy = process.env['STAND_IN_UNKNOWN_POLICY']
  if (unknownPolicy !== undefined && params['approvalPolicy'] === unknownPolicy) {
    refuse(`Invalid request: unknown variant \`${unknownPolicy}\`, expected \`on-request\` or \`never\``)
    return
  }
  switch (method) {
    case 'initialize':
      succeed({ userAgent: 'stand-in' })
      return
    case 'thread/start': {
      const started = `new-thread-${Object.keys(memory).length + 1}`
      thread(started)
      remember()
      succeed({ thread: { id: started }, approvalPolicy })
      return
    }
    case 'thread/resume':
      if (memory[threadId] === undefined) refuse(`no rollout found for thread id ${threadId}`)
      else succeed({ thread: { id: threadId }, approvalPolicy })
      return
    case 'thread/read':
      succeed({ thread: { id: threadId, model: 'model-of-the-thread' } })
      return
    case 'thread/fork': {
      const { turns } = thread(threadId)
      const last = turns.findIndex((turn) => turn.id === params['lastTurnId'])
      const forked = `${threadId}-fork`
      memory[forked] = { turns: turns.slice(0, last + 1), injected: [] }
      remember()
      succeed({ thread: { id: forked }, approvalPolicy })
      return
    }
    case 'thread/turns/list':
      succeed({
        data: thread(threadId)
          .turns.map((turn) => ({ id: turn.id }))
          .toReversed(),
        nextCursor: null,
      })
      return
    case 'thread/items/list': {
      const items = thread(threadId).turns.find((turn) => turn.id === params['turnId'])?.items ?? []
      succeed({
        data: items
          .toReversed()
          .slice(0, 1)
          .map((item) => ({ item: { id: item } })),
      })
      return
    }
    case 'thread/revert': {
      const known = thread(threadId)
      known.turns = known.turns.slice(
        0,
        known.turns.findIndex((turn) => turn.id === params['beforeTurnId']),
      )
      remember()
      succeed({})
      return
    }
    case 'thread/inject_items':
      thread(threadId).injected.push(...(params['items'] as Json[]))
      succeed({})
      return
    case 'turn/start': {
      const turnId = `turn-${randomUUID()}`
      succeed({ turn: { id: turnId } })
      void take(threadId, turnId, textOf(params['input']), body)
      return
    }
    case 'turn/steer':
      if (active?.turnId !== params['expectedTurnId']) refuse('no active turn to steer')
      else {
        succeed({ turnId: active?.turnId })
        const item = {
          type: 'userMessage',
          id: randomUUID(),
          clientId: params['clientUserMessageId'] ?? null,
          content: [],
        }
        say({ method: 'item/completed', params: { item, threadId, turnId: active?.turnId } })
        steeredTexts.push(textOf(params['input']))
        wakeSteered?.()
      }
      return
    case 'turn/interrupt':
      succeed({})
      active?.abort()
      return
    default:
      refuse(`unknown method ${method}`)
  }
}

function textOf(input: unknown): string {
  return (input as readonly Json[]).map(({ text }) => (typeof text === 'string' ? text : '')).join('')
}
