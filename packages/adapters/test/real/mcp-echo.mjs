// A server of the Model Context Protocol on standard input and output with one tool, `echo`. It can take long to start.
import { createInterface } from 'node:readline'

const answer = (id, body) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...body })}\n`)

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'toy', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: [
      {
        name: 'echo',
        description: 'Says the text again',
        inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      },
    ],
  }),
  'tools/call': ({ arguments: { text } }) => ({
    content: [{ type: 'text', text: `echo: ${text} ${process.env.TOY_TOKEN ?? ''}`.trim() }],
  }),
}

await new Promise((resolve) => setTimeout(resolve, Number(process.env.TOY_STARTS_AFTER_MS ?? 0)))
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) continue
  const handle = methods[method]
  if (handle === undefined) answer(id, { error: { code: -32601, message: `There is no method ${method}.` } })
  else answer(id, { result: handle(params ?? {}) })
}
