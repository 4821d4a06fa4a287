import { randomUUID } from 'node:crypto'
import { listen, longTool, note, say, type Json } from './stand-in-io.ts'

const SESSION = '11111111-2222-4333-8444-555555555555'

interface UserMessage {
  readonly uuid: string
  readonly text: string
}

/** What became of a call. */
interface Permission {
  readonly behavior: 'allow' | 'deny'
  readonly updatedInput?: Json
  readonly message?: string
}

/** One turn of the stand-in, as its body sees it. */
export interface ClaudeStandInTurn {
  readonly prompt: string
  readonly session: string
  /** Settles when the turn was interrupted. */
  readonly interrupted: Promise<void>
  say(text: string): void
  /** Announces a call, lets the hook judge it and asks where the hook wants that. */
  ask(name: string, input: Json): Promise<Permission & { readonly id: string }>
  result(id: string, content: string, isError?: boolean): void
  /** A call from its announcement to its result. */
  tool(name: string, input: Json): Promise<Permission>
  /** Takes back a request for permission. */
  withdraw(): void
  /** The next message that was said while this turn ran, heard within it. */
  steered(): Promise<string>
  /** Settles when such a message waits, which is then heard after this turn. */
  queued(): Promise<void>
  /** A record as it is. */
  print(record: Json): void
  raw(text: string): void
  /** Asks for something else than a permission; gives what was answered. */
  request(body: Json): Promise<Json>
  longTool(): () => void
}

const replies = new Map<string, (response: Json) => void>()
const queue: UserMessage[] = []
let wakeSteered: (() => void) | undefined
let abort: (() => void) | undefined
let lastAsk = ''

function request(body: Json): Promise<Json> {
  const id = randomUUID()
  lastAsk = id
  say({ type: 'control_request', request_id: id, request: body })
  return new Promise((resolve) => replies.set(id, resolve))
}

function stamp(record: Json): Json {
  return { ...record, session_id: SESSION, uuid: randomUUID() }
}

function lifecycle(uuid: string, state: string): void {
  say(stamp({ type: 'command_lifecycle', command_uuid: uuid, state }))
}

function state(name: 'idle' | 'running'): void {
  say(stamp({ type: 'system', subtype: 'session_state_changed', state: name }))
}

function assistant(block: Json): void {
  const message = { id: `msg_${randomUUID()}`, role: 'assistant', model: 'model', content: [block] }
  say(stamp({ type: 'assistant', message, parent_tool_use_id: null }))
}

function result(id: string, content: string, isError = false): void {
  const block = { type: 'tool_result', tool_use_id: id, content, is_error: isError }
  say(stamp({ type: 'user', message: { role: 'user', content: [block] }, parent_tool_use_id: null }))
}

async function ask(
  name: string,
  input: Json,
  cwd: string = process.cwd(),
): Promise<Permission & { readonly id: string }> {
  const id = `call_${randomUUID()}`
  assistant({ type: 'tool_use', id, name, input })
  const place = { tool_name: name, tool_use_id: id }
  const judged = await request({
    subtype: 'hook_callback',
    callback_id: 'any',
    input: { ...place, tool_input: input, cwd, hook_event_name: 'PreToolUse' },
  })
  const { permissionDecision: decision, permissionDecisionReason: reason } = (judged['hookSpecificOutput'] ??
    {}) as Json
  if (decision === 'allow') return { id, behavior: 'allow' }
  if (decision === 'deny') return { id, behavior: 'deny', message: String(reason) }
  return {
    id,
    ...((await request({ subtype: 'can_use_tool', ...place, input, description: name })) as unknown as Permission),
  }
}

async function tool(name: string, input: Json): Promise<Permission> {
  const permission = await ask(name, input)
  const isAllowed = permission.behavior === 'allow'
  result(
    permission.id,
    isAllowed ? `ran ${JSON.stringify(permission.updatedInput ?? input)}` : (permission.message ?? ''),
    !isAllowed,
  )
  return permission
}

async function queued(): Promise<void> {
  while (queue.length === 0) await new Promise<void>((wake) => (wakeSteered = wake))
}

async function take(message: UserMessage, body: (turn: ClaudeStandInTurn) => Promise<void>): Promise<void> {
  const { promise: interrupted, resolve } = Promise.withResolvers<void>()
  abort = resolve
  lifecycle(message.uuid, 'started')
  say(stamp({ type: 'system', subtype: 'init', cwd: process.cwd(), tools: [], model: 'model' }))
  const turn: ClaudeStandInTurn = {
    prompt: message.text,
    session: SESSION,
    interrupted,
    say: (text) => assistant({ type: 'text', text }),
    ask,
    result,
    tool,
    withdraw: () => say({ type: 'control_cancel_request', request_id: lastAsk }),
    queued,
    steered: async () => {
      await queued()
      const heard = queue.shift()
      lifecycle(heard?.uuid ?? '', 'started')
      lifecycle(heard?.uuid ?? '', 'completed')
      return heard?.text ?? ''
    },
    print: (record) => say(stamp(record)),
    raw: (text) => void process.stdout.write(text),
    request,
    longTool,
  }
  const how = await Promise.race([
    body(turn).then(() => 'completed' as const),
    interrupted.then(() => 'cancelled' as const),
  ])
  abort = undefined
  const isError = how === 'cancelled'
  say(
    stamp({
      type: 'result',
      subtype: isError ? 'error_during_execution' : 'success',
      is_error: isError,
      stop_reason: 'end_turn',
      terminal_reason: isError ? 'aborted_tools' : 'completed',
      usage: { input_tokens: 10, output_tokens: 5 },
      model_usage_since_last_result: { model: { inputTokens: 10, outputTokens: 5, costUSD: 0.5 } },
      total_cost_usd: 0.5,
    }),
  )
  lifecycle(message.uuid, how)
}

/** As it does when its session does not hold the message any more. */
function refuseToResume(): void {
  const at = process.argv.indexOf('--resume-session-at')
  if (at === -1) return
  const error = `No message found with message.uuid of: ${process.argv[at + 1]}`
  note('argv', process.argv.slice(2))
  process.stderr.write(`${error}\n`)
  say(stamp({ type: 'result', subtype: 'error_during_execution', is_error: true, errors: [error] }))
  process.exitCode = 1
  process.exit()
}

function textOf({ text }: Json): string {
  return typeof text === 'string' ? text : ''
}

/** Speaks the control protocol of Claude Code on standard input and output. */
export async function serve(body: (turn: ClaudeStandInTurn) => Promise<void>): Promise<void> {
  if (process.env['STAND_IN_RESUMES'] === 'never') refuseToResume()
  let isBusy = false
  const run = async (): Promise<void> => {
    if (isBusy) return
    isBusy = true
    state('running')
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await take(next, body)
    isBusy = false
    state('idle')
  }
  await listen((record) => {
    switch (record['type']) {
      case 'control_response': {
        const { request_id: id, response, error } = record['response'] as Json
        replies.get(String(id))?.((response ?? { error }) as Json)
        replies.delete(String(id))
        return
      }
      case 'control_request':
        control(String(record['request_id']), record['request'] as Json)
        return
      case 'user': {
        const content = (record['message'] as Json)['content'] as readonly Json[]
        const message = { uuid: String(record['uuid']), text: content.map(textOf).join('') }
        lifecycle(message.uuid, 'queued')
        queue.push(message)
        wakeSteered?.()
        void run()
      }
    }
  })
}

function control(id: string, asked: Json): void {
  const succeed = (response: Json): void =>
    say({ type: 'control_response', response: { subtype: 'success', request_id: id, response } })
  switch (asked['subtype']) {
    case 'initialize':
      succeed({ commands: [], hooks_applied: true })
      return
    case 'set_model':
      succeed({ model: asked['model'] })
      return
    case 'mcp_set_servers':
      succeed({ added: Object.keys(asked['servers'] as Json), removed: [], errors: {} })
      return
    case 'interrupt': {
      const dropped = queue.splice(0)
      for (const { uuid } of dropped) lifecycle(uuid, 'cancelled')
      succeed({ still_queued: [], cancelled: dropped.map(({ uuid }) => uuid) })
      abort?.()
      return
    }
    default:
      say({ type: 'control_response', response: { subtype: 'error', request_id: id, error: 'Unsupported' } })
  }
}
