import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import {
  client,
  ndJsonStream,
  type AnyMessage,
  type ClientConnection,
  type InitializeResponse,
  type PromptResponse,
  type RequestPermissionOutcome,
  type RequestPermissionRequest,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'
import schema from '@agentclientprotocol/sdk/schema/v1/schema.json' with { type: 'json' }
import { fromJSONSchema } from 'zod'

const bin = fileURLToPath(new URL('../../bin/inspan.js', import.meta.url))

type PermissionAnswerer = (
  request: RequestPermissionRequest,
) => RequestPermissionOutcome | Promise<RequestPermissionOutcome>

const reject: PermissionAnswerer = () => ({ outcome: 'selected', optionId: 'reject' })

/** `inspan acp` as a child process, driven by the client of the SDK. Every message of the agent is validated. */
export class AcpBench implements AsyncDisposable {
  readonly child: ChildProcess
  readonly updates: SessionUpdate[] = []
  readonly permissions: RequestPermissionRequest[] = []
  readonly messages: AnyMessage[] = []
  readonly #connection: ClientConnection
  readonly #waiting = new Set<() => void>()
  /** The methods of our requests by id, since a response does not say what it answers. */
  readonly #methods = new Map<unknown, string>()
  #errors = ''
  answer: PermissionAnswerer = reject

  constructor(args: readonly string[], options: { readonly cwd: string; readonly env?: Record<string, string> }) {
    const { cwd, env } = options
    const base = { PATH: process.env['PATH'] ?? '', INSPAN_HOME: `${cwd}/.home`, HOME: cwd }
    const child = spawn(process.execPath, [bin, 'acp', ...args], { cwd, env: { ...base, ...env } })
    this.child = child
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#errors += text))
    const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout))
    const readable = stream.readable.pipeThrough(
      new TransformStream<AnyMessage, AnyMessage>({
        transform: (message, controller) => {
          this.messages.push(message)
          controller.enqueue(message)
        },
      }),
    )
    const sent = new TransformStream<AnyMessage, AnyMessage>({
      transform: (message, controller) => {
        if ('method' in message && 'id' in message) this.#methods.set(message.id, message.method)
        controller.enqueue(message)
      },
    })
    void sent.readable.pipeTo(stream.writable).catch(() => undefined)
    this.#connection = client({ name: 'test' })
      .onNotification('session/update', ({ params }) => {
        this.updates.push(params.update)
        for (const wake of this.#waiting) wake()
      })
      .onRequest('session/request_permission', async ({ params }) => {
        this.permissions.push(params)
        for (const wake of this.#waiting) wake()
        return { outcome: await this.answer(params) }
      })
      .connect({ readable, writable: sent.writable })
  }

  get agent(): ClientConnection['agent'] {
    return this.#connection.agent
  }

  /** What it printed on standard error. */
  get errors(): string {
    return this.#errors
  }

  async start(cwd: string): Promise<string> {
    await this.initialize()
    const { sessionId } = await this.agent.request('session/new', { cwd, mcpServers: [] })
    return sessionId
  }

  initialize(): Promise<InitializeResponse> {
    return this.agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
  }

  prompt(sessionId: string, text: string): Promise<PromptResponse> {
    return this.agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })
  }

  /** The pieces of text of one kind of update, joined. */
  text(kind: 'agent_message_chunk' | 'agent_thought_chunk' | 'user_message_chunk'): string {
    return this.updates
      .map((update) => (update.sessionUpdate === kind && update.content.type === 'text' ? update.content.text : ''))
      .join('')
  }

  of<Kind extends SessionUpdate['sessionUpdate']>(kind: Kind): Extract<SessionUpdate, { sessionUpdate: Kind }>[] {
    return this.updates.filter(
      (update): update is Extract<SessionUpdate, { sessionUpdate: Kind }> => update.sessionUpdate === kind,
    )
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiting.add(resolve)
      await promise
      this.#waiting.delete(resolve)
    }
  }

  /** Ends the agent by ending its input, and checks everything it said. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { child } = this
    if (child.exitCode === null && child.signalCode === null) {
      child.stdin?.end()
      await once(child, 'close')
    }
    this.#connection.close()
    for (const message of this.messages) checkAgentMessage(message, this.#methods)
  }
}

/** Validates a message of the agent. `methods`: those of the client's requests by id, as a response names only the id. */
export function checkAgentMessage(message: AnyMessage, methods: ReadonlyMap<unknown, string>): void {
  const says = JSON.stringify(message)
  const [name, value] = typeOf(message, methods)
  const checked = definition(name).safeParse(value)
  assert.ok(checked.success, `${name}: ${checked.error?.message ?? ''}\n${says}`)
}

function typeOf(message: AnyMessage, methods: ReadonlyMap<unknown, string>): [name: string, value: unknown] {
  if ('method' in message) {
    const name = message.method === 'session/update' ? 'SessionNotification' : 'RequestPermissionRequest'
    if (message.method !== 'session/update' && message.method !== 'session/request_permission') {
      return ['CancelRequestNotification', message.params]
    }
    return [name, message.params]
  }
  if ('error' in message) return ['Error', message.error]
  const method = methods.get(message.id) ?? ''
  return [RESPONSES[method] ?? `no type for ${method}`, message.result]
}

const RESPONSES: Readonly<Record<string, string>> = {
  initialize: 'InitializeResponse',
  'session/new': 'NewSessionResponse',
  'session/load': 'LoadSessionResponse',
  'session/resume': 'ResumeSessionResponse',
  'session/list': 'ListSessionsResponse',
  'session/close': 'CloseSessionResponse',
  'session/set_mode': 'SetSessionModeResponse',
  'session/set_config_option': 'SetSessionConfigOptionResponse',
  'session/prompt': 'PromptResponse',
}

const definitions = new Map<string, ReturnType<typeof fromJSONSchema>>()

function definition(name: string): ReturnType<typeof fromJSONSchema> {
  const known = definitions.get(name)
  if (known !== undefined) return known
  assert.ok(name in schema.$defs, name)
  const made = fromJSONSchema({ $defs: schema.$defs, $ref: `#/$defs/${name}` } as never)
  definitions.set(name, made)
  return made
}
