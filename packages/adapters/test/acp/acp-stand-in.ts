import { listen, longTool, say, type Json } from '../live/stand-in-io.ts'

/** What the agent tells of itself, and what it refuses. */
export interface AcpStandInSetup {
  readonly capabilities?: Json
  readonly protocolVersion?: number
  readonly authMethods?: readonly Json[]
  /** What opening a session answers, besides its id. */
  readonly session?: Json
  /** By method: the error it is answered with. */
  readonly refuse?: Readonly<Record<string, Json>>
  /** What a loaded session shows of its past. */
  readonly past?: readonly Json[]
  /** Printed before anything else. */
  readonly banner?: string
}

/** One turn of the stand-in, as its body sees it. */
export interface AcpStandInTurn {
  readonly prompt: string
  /** How many prompts this process has had, this one included. */
  readonly count: number
  readonly session: string
  /** Settles when the turn was cancelled. */
  readonly cancelled: Promise<void>
  update(kind: string, fields?: Json): void
  text(words: string, messageId?: string): void
  /** Announces a call. */
  call(id: string, fields: Json): void
  progress(id: string, fields: Json): void
  done(id: string, fields?: Json): void
  /** Asks whether a call may be made; gives the outcome. */
  ask(id: string, fields?: Json, options?: readonly Json[]): Promise<Json>
  /** A call from its announcement to its result. */
  tool(id: string, command: string): Promise<Json>
  /** Asks the client for anything; gives its answer, result or error. */
  request(method: string, params: Json): Promise<Json>
  notify(method: string, params: Json): void
  raw(text: string): void
  longTool(): () => void
}

export type Body = (turn: AcpStandInTurn) => Promise<Json | undefined | void> | Json | undefined | void

const OPTIONS: readonly Json[] = [
  { optionId: 'for-ever', name: 'Always', kind: 'allow_always' },
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
]

const waiting = new Map<number, (answer: Json) => void>()
let cancel: (() => void) | undefined
let requests = 0
let prompts = 0
let sessions = 0

function answer(id: unknown, result: Json): void {
  say({ jsonrpc: '2.0', id, result })
}

function request(method: string, params: Json): Promise<Json> {
  requests += 1
  const id = requests
  say({ jsonrpc: '2.0', id, method, params })
  return new Promise((resolve) => waiting.set(id, resolve))
}

function turnOf(session: string, prompt: string): AcpStandInTurn {
  const { promise: cancelled, resolve } = Promise.withResolvers<void>()
  cancel = resolve
  const notify = (method: string, params: Json): void => say({ jsonrpc: '2.0', method, params })
  const update = (kind: string, fields: Json = {}): void =>
    notify('session/update', { sessionId: session, update: { sessionUpdate: kind, ...fields } })
  const turn: AcpStandInTurn = {
    prompt,
    count: prompts,
    session,
    cancelled,
    update,
    text: (words, messageId) =>
      update('agent_message_chunk', {
        content: { type: 'text', text: words },
        ...(messageId === undefined ? {} : { messageId }),
      }),
    call: (id, fields) => update('tool_call', { toolCallId: id, ...fields }),
    progress: (id, fields) => update('tool_call_update', { toolCallId: id, ...fields }),
    done: (id, fields = {}) => update('tool_call_update', { toolCallId: id, status: 'completed', ...fields }),
    ask: async (id, fields = {}, options = OPTIONS) => {
      const asked = { sessionId: session, toolCall: { toolCallId: id, ...fields }, options }
      const { result } = await request('session/request_permission', asked)
      return (result as { readonly outcome: Json }).outcome
    },
    tool: async (id, command) => {
      turn.call(id, { title: command, kind: 'execute', status: 'pending', rawInput: { command } })
      const outcome = await turn.ask(id)
      const isAllowed = outcome['optionId'] === 'yes'
      if (isAllowed) turn.done(id, { rawOutput: { exit_code: 0, output: `ran ${command}` } })
      else turn.progress(id, { status: 'failed', content: [textOf(`did not run ${command}`)] })
      return outcome
    },
    request,
    notify,
    raw: (text) => void process.stdout.write(text),
    longTool,
  }
  return turn
}

export function textOf(text: string): Json {
  return { type: 'content', content: { type: 'text', text } }
}

async function take(id: unknown, turn: AcpStandInTurn, body: Body): Promise<void> {
  const isCancelled = turn.cancelled.then(() => ({ stopReason: 'cancelled' }))
  const result = await Promise.race([body(turn), isCancelled])
  if (result !== undefined && 'error' in result) say({ jsonrpc: '2.0', id, ...result })
  else answer(id, { stopReason: 'end_turn', ...result })
}

/** Speaks the protocol until its input ends; the body says what it does in a turn. */
export async function serve(setup: AcpStandInSetup, body: Body): Promise<void> {
  if (setup.banner !== undefined) process.stdout.write(setup.banner)
  await listen((record) => {
    const {
      id,
      method,
      params = {},
    } = record as { readonly id?: number; readonly method?: string; readonly params?: Json }
    if (method === undefined) {
      if (id !== undefined) waiting.get(id)?.(record)
      return
    }
    const refusal = setup.refuse?.[method]
    if (refusal !== undefined) {
      say({ jsonrpc: '2.0', id, error: refusal })
      return
    }
    switch (method) {
      case 'initialize':
        answer(id, {
          protocolVersion: setup.protocolVersion ?? 1,
          agentCapabilities: setup.capabilities ?? {},
          agentInfo: { name: 'stand-in', version: '1.2.3' },
          ...(setup.authMethods === undefined ? {} : { authMethods: setup.authMethods }),
        })
        return
      case 'session/new':
        sessions += 1
        answer(id, { sessionId: `session-${process.pid}-${sessions}`, ...setup.session })
        return
      case 'session/load':
        for (const update of setup.past ?? []) {
          say({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: params['sessionId'], update } })
        }
        answer(id, { ...setup.session })
        return
      case 'session/prompt': {
        prompts += 1
        const [first] = params['prompt'] as readonly { readonly text?: string }[]
        void take(id, turnOf(String(params['sessionId']), first?.text ?? ''), body)
        return
      }
      case 'session/cancel':
        cancel?.()
        return
      default:
        if (id !== undefined) answer(id, { ...setup.session })
    }
  })
}
