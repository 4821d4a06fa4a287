/**
 * A server of revision 2026-07-28 on standard input and output, which asks a question before it books. Run as: node
 * modern-server.fixture.ts <journal>
 */
import { appendFileSync } from 'node:fs'
import { acceptedContent, inputRequired, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

const [journal = ''] = process.argv.slice(2)

serveStdio(() => {
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
})
