import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'
import type { JsonObject } from '@evener/protocol'

/**
 * The way between the protocol's library and the process. What the agent tells is mapped from its output; the library
 * gets only what it has to answer or is waiting for, so nothing that it does not know can stop it.
 */
export class Wire {
  readonly stream: Stream
  /** By the id of the request: its method. */
  readonly #awaited = new Map<number, string>()
  #controller: ReadableStreamDefaultController<AnyMessage> | undefined

  constructor(send: (message: JsonObject) => void) {
    this.stream = {
      readable: new ReadableStream<AnyMessage>({
        start: (controller) => {
          this.#controller = controller
        },
      }),
      writable: new WritableStream<AnyMessage>({
        write: (message) => {
          if ('method' in message && 'id' in message && typeof message.id === 'number') {
            this.#awaited.set(message.id, message.method)
          }
          send(message as unknown as JsonObject)
        },
      }),
    }
  }

  /** Gives the method of ours that is answered, if one is. */
  receive(record: JsonObject): string | undefined {
    const { id, method } = record
    if (record['jsonrpc'] !== '2.0') return undefined
    if (typeof method === 'string') {
      if (id !== undefined || method === '$/cancel_request') this.#pass(record)
      return undefined
    }
    const answered = typeof id === 'number' ? this.#awaited.get(id) : undefined
    if (answered === undefined) return undefined
    this.#awaited.delete(Number(id))
    this.#pass(record)
    return answered
  }

  #pass(record: JsonObject): void {
    this.#controller?.enqueue(record as unknown as AnyMessage)
  }
}
