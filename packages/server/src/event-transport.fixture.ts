import { webSocketTransport, type Transport } from '@inspan/client'
import type { ClientHello, CommandsMessage, ReceiptMessage, ServerMessage } from '@inspan/protocol/wire'

/** Follows a thread as an `EventSource` does, and posts its commands one after the other: a client without WebSockets. */
export function eventTransport({ token, url }: { readonly token: string; readonly url: string }): Transport {
  const network = webSocketTransport({ url, token })
  return {
    request: (path, init) => network.request(path, init),
    open: ({ onClose, onMessage, onOpen }) => {
      let isOver = false
      let clientId = ''
      let following = new AbortController()
      let posting: Promise<void> = Promise.resolve()
      const over = (reason: string): void => {
        if (isOver) return
        isOver = true
        following.abort()
        onClose({ reason })
      }
      const take = (message: ServerMessage): void => {
        if (!isOver) onMessage(message)
      }
      const follow = async (hello: ClientHello, { signal }: AbortController): Promise<void> => {
        const [[thread, seq] = []] = Object.entries(hello.threads ?? {})
        const isNew = thread === undefined || seq === null || seq === undefined || hello.epoch === undefined
        const id = isNew ? '' : [hello.epoch, thread, String(seq)].map(encodeURIComponent).join('/')
        const query = new URLSearchParams({ client: hello.clientId, ...(thread === undefined ? {} : { thread }) })
        const headers = { authorization: `Bearer ${token}`, ...(isNew ? {} : { 'last-event-id': id }) }
        const { body } = await fetch(`${url}/v1/events?${query.toString()}`, { headers, signal })
        let text = ''
        for await (const piece of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
          const blocks = (text + piece).split('\n\n')
          text = blocks.pop() ?? ''
          for (const block of blocks) {
            if (block.startsWith('event: close')) continue
            const [, data] = /^data: (.*)$/m.exec(block) ?? []
            if (data !== undefined && !signal.aborted) take(JSON.parse(data) as ServerMessage)
          }
        }
        if (!signal.aborted) over('The stream has ended.')
      }
      const post = async ({ commands }: CommandsMessage): Promise<void> => {
        if (isOver) return
        const response = await network.request('/v1/commands', { body: { clientId, commands } })
        const { receipts } = (await response.json()) as { readonly receipts: readonly ReceiptMessage[] }
        for (const receipt of receipts) take(receipt)
      }
      queueMicrotask(onOpen)
      return {
        close: () => over('closed by the client'),
        send: (message) => {
          if (message.type === 'commands') {
            posting = posting.then(() => post(message)).catch(() => over('A command was not taken.'))
            return
          }
          ;({ clientId } = message)
          following.abort()
          const opened = new AbortController()
          following = opened
          void follow(message, opened).catch(() => {
            if (!opened.signal.aborted) over('The stream was lost.')
          })
        },
      }
    },
  }
}
