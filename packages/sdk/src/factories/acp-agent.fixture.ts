/** A small agent that speaks the Agent Client Protocol: says what it was told, and asks before "run" is carried out. */
import { createInterface } from 'node:readline'

interface Incoming {
  readonly id?: number
  readonly method?: string
  readonly params?: { readonly prompt?: readonly { readonly text?: string }[]; readonly sessionId?: string }
  readonly result?: { readonly outcome?: { readonly optionId?: string } }
}

const answers = new Map<number, (message: Incoming) => void>()
let lastId = 100

function send(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
}

function ask(method: string, params: object): Promise<Incoming> {
  const id = ++lastId
  return new Promise((resolve) => {
    answers.set(id, resolve)
    send({ id, method, params })
  })
}

async function prompt(id: number, sessionId: string, text: string): Promise<void> {
  const update = (body: object): void => send({ method: 'session/update', params: { sessionId, update: body } })
  const say = (words: string): void =>
    update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: words } })
  if (text.includes('run')) {
    const toolCall = { toolCallId: 'call-1', title: 'echo hi', kind: 'execute', rawInput: { command: 'echo hi' } }
    update({ sessionUpdate: 'tool_call', ...toolCall, status: 'pending' })
    const options = [
      { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
      { optionId: 'no', name: 'No', kind: 'reject_once' },
    ]
    const answer = await ask('session/request_permission', { sessionId, toolCall, options })
    const isAllowed = answer.result?.outcome?.optionId === 'yes'
    const status = isAllowed ? 'completed' : 'failed'
    const content = [{ type: 'content', content: { type: 'text', text: isAllowed ? 'hi' : 'refused' } }]
    update({ sessionUpdate: 'tool_call_update', toolCallId: 'call-1', status, content })
    say(isAllowed ? 'Ran it.' : 'Did not run it.')
  } else {
    if (text.includes('odd')) update({ sessionUpdate: 'from_the_future', shape: 'odd' })
    say('You said: ')
    say(text.slice(-5))
  }
  send({ id, result: { stopReason: 'end_turn' } })
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line) as Incoming
  const { id, method, params } = message
  if (method === undefined && id !== undefined) answers.get(id)?.(message)
  else if (method === 'initialize') {
    send({ id, result: { protocolVersion: 1, agentCapabilities: { promptCapabilities: {} }, authMethods: [] } })
  } else if (method === 'session/new') send({ id, result: { sessionId: 'native-1' } })
  else if (method === 'session/prompt' && id !== undefined) {
    void prompt(id, params?.sessionId ?? '', params?.prompt?.map(({ text = '' }) => text).join('') ?? '')
  } else if (id !== undefined) send({ id, result: {} })
})
