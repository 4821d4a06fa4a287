import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import * as acp from '@agentclientprotocol/sdk'

/**
 * An agent on the protocol's own library, which shares nothing with ours: it does what the lines of its prompt say
 * (`read f`, `write f text`, `run command`, `find text`, `think text`, `say text`), on real files and with real commands,
 * and asks before it changes anything.
 */

interface Session {
  readonly cwd: string
  running: AbortController
}

const sessions = new Map<string, Session>()
let calls = 0

acp
  .agent()
  .onRequest('initialize', () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentInfo: { name: 'line-by-line', title: 'Line by line', version: '0.3.1' },
    agentCapabilities: { loadSession: false, promptCapabilities: { image: false } },
    authMethods: [],
  }))
  .onRequest('session/new', ({ params }) => {
    const sessionId = `session-${sessions.size + 1}`
    sessions.set(sessionId, { cwd: params.cwd, running: new AbortController() })
    return { sessionId }
  })
  .onRequest('session/prompt', async ({ params, client }) => {
    const session = sessions.get(params.sessionId)
    if (session === undefined) throw acp.RequestError.resourceNotFound(params.sessionId)
    session.running = new AbortController()
    const text = params.prompt.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
    const worker = new Worker(client, params.sessionId, session)
    for (const line of text.split('\n')) {
      if (session.running.signal.aborted) return { stopReason: 'cancelled' as const }
      await worker.take(line.trim())
    }
    return { stopReason: 'end_turn' as const }
  })
  .onNotification('session/cancel', ({ params }) => sessions.get(params.sessionId)?.running.abort())
  .connect(
    acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>),
  )

class Worker {
  readonly #client: acp.AgentContext
  readonly #sessionId: string
  readonly #session: Session

  constructor(client: acp.AgentContext, sessionId: string, session: Session) {
    this.#client = client
    this.#sessionId = sessionId
    this.#session = session
  }

  async take(line: string): Promise<void> {
    const [verb = '', ...words] = line.split(' ')
    const rest = words.join(' ')
    switch (verb) {
      case 'say':
        for (const text of rest.split(/(?<= )/)) await this.#tell('agent_message_chunk', text)
        return
      case 'think':
        await this.#tell('agent_thought_chunk', rest)
        return
      case 'read':
        await this.#read(rest)
        return
      case 'write':
        await this.#write(words[0] ?? '', words.slice(1).join(' '))
        return
      case 'find':
        await this.#find(rest)
        return
      case 'run':
        await this.#run(rest)
    }
  }

  async #read(name: string): Promise<void> {
    const path = this.#path(name)
    const toolCallId = await this.#begin({
      title: `Reading ${basename(path)}`,
      kind: 'read',
      locations: [{ path, line: 1 }],
    })
    const text = await readFile(path, 'utf8').catch(() => undefined)
    await this.#end(toolCallId, text !== undefined, text ?? 'It is not there.')
  }

  async #write(name: string, text: string): Promise<void> {
    const path = this.#path(name)
    const oldText = await readFile(path, 'utf8').catch(() => null)
    const content: acp.ToolCallContent[] = [{ type: 'diff', path, oldText, newText: text }]
    const toolCallId = await this.#begin({ title: `Writing ${basename(path)}`, kind: 'edit', content })
    if (!(await this.#isAllowed(toolCallId))) return this.#end(toolCallId, false, 'You said no.')
    await writeFile(path, text)
    await this.#update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' })
  }

  async #find(query: string): Promise<void> {
    const rawInput = { query, path: this.#session.cwd }
    const toolCallId = await this.#begin({ title: `Looking for ${query}`, kind: 'search', rawInput })
    const found = await this.#shell(`grep -rn -- '${query}' .`)
    await this.#end(toolCallId, found.code < 2, found.output)
  }

  async #run(command: string): Promise<void> {
    const toolCallId = await this.#begin({ title: `\`${command}\``, kind: 'execute', rawInput: { command } })
    if (!(await this.#isAllowed(toolCallId))) return this.#end(toolCallId, false, 'You said no.')
    await this.#update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' })
    const { code, output } = await this.#shell(command)
    await this.#end(toolCallId, code === 0, output, { exitCode: code })
  }

  async #begin(call: Omit<acp.ToolCall, 'toolCallId'>): Promise<string> {
    calls += 1
    const toolCallId = `call-${calls}`
    await this.#update({ sessionUpdate: 'tool_call', toolCallId, status: 'pending', ...call })
    return toolCallId
  }

  async #end(toolCallId: string, isFine: boolean, text: string, rawOutput?: object): Promise<void> {
    const status = isFine ? 'completed' : 'failed'
    const content: acp.ToolCallContent[] = [{ type: 'content', content: { type: 'text', text } }]
    await this.#update({ sessionUpdate: 'tool_call_update', toolCallId, status, content, rawOutput })
  }

  async #isAllowed(toolCallId: string): Promise<boolean> {
    const { outcome } = await this.#client.request('session/request_permission', {
      sessionId: this.#sessionId,
      toolCall: { toolCallId },
      options: [
        { optionId: 'go', name: 'Go ahead', kind: 'allow_once' },
        { optionId: 'stop', name: 'Rather not', kind: 'reject_once' },
      ],
    })
    return outcome.outcome === 'selected' && outcome.optionId === 'go'
  }

  #tell(sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk', text: string): Promise<void> {
    return this.#update({ sessionUpdate, content: { type: 'text', text } })
  }

  #update(update: acp.SessionUpdate): Promise<void> {
    return this.#client.notify('session/update', { sessionId: this.#sessionId, update })
  }

  #path(name: string): string {
    return join(this.#session.cwd, name)
  }

  #shell(command: string): Promise<{ readonly code: number; readonly output: string }> {
    const { cwd, running } = this.#session
    const child = spawn('sh', ['-c', command], { cwd, signal: running.signal, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    return new Promise((resolve) => {
      child.on('error', () => resolve({ code: 130, output }))
      child.on('close', (code) => resolve({ code: code ?? 130, output }))
    })
  }
}
