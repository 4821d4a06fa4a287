import { appendFileSync } from 'node:fs'
import { acceptedContent, inputRequired, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

/** A server of revision 2026-07-28, which asks a question before it books. It notes every call in the journal. */
export function modernServer(journal: string): McpServer {
  const server = new McpServer({ name: 'modern', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } })
  server.registerTool(
    'book',
    { description: 'Books a table.', inputSchema: z.object({ day: z.string() }) },
    async ({ day }, { mcpReq }) => {
      const given = acceptedContent<{ guests: number }>(mcpReq.inputResponses, 'guests')
      appendFileSync(journal, `${day} ${JSON.stringify(mcpReq.requestState() ?? null)}\n`)
      if (mcpReq.inputResponses?.['guests'] !== undefined && given === undefined) {
        return { content: [{ type: 'text', text: 'Nothing was booked.' }] }
      }
      if (given === undefined) {
        return inputRequired({
          inputRequests: {
            guests: inputRequired.elicit({
              message: 'For how many?',
              requestedSchema: { type: 'object', properties: { guests: { type: 'number' } }, required: ['guests'] },
            }),
          },
          requestState: `secret-state-of-${day}`,
        })
      }
      return { content: [{ type: 'text', text: `${day}: a table for ${given.guests}` }] }
    },
  )
  server.registerTool('grow', { description: 'Adds a tool.' }, async () => {
    server.registerTool('grown', { description: 'Was added.' }, async () => ({ content: [] }))
    return { content: [{ type: 'text', text: 'grown' }] }
  })
  return server
}
