import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { chatId, readChatRequest } from '../ai/chat-request.ts'
import { ChatStreams } from '../ai/chat-streams.ts'
import type { ServerContext } from '../context.ts'
import { headOfStream, readBody, type App } from './app-types.ts'
import type { EventStreams } from './event-stream.ts'

/** Chats of the AI SDK: `new DefaultChatTransport({ api: '…/v1/ai/chat' })`. */
export function addAiRoutes(app: App, context: ServerContext, streams: EventStreams): void {
  const chats = new ChatStreams(context)
  streams.onClose(() => chats.close())

  app.post('/v1/ai/chat', async (c) => {
    await chats.send(readChatRequest(await readBody(c)), c.get('caller'), c.env.outgoing)
    return RESPONSE_ALREADY_SENT
  })
  app.get('/v1/ai/chat/:id/stream', async (c) => {
    const head = headOfStream(c)
    if (head !== undefined) return head
    const isFollowed = await chats.resume(chatId(c.req.param('id')), c.get('caller'), c.env.outgoing)
    return isFollowed ? RESPONSE_ALREADY_SENT : c.body(null, 204)
  })
}
