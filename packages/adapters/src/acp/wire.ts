import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'
import type { JsonObject } from '@inspan/protocol'

/**
 * Connects the protocol's library with the process. Updates are mapped from the agent's output; the library gets only
 * requests to answer and responses it waits for, so that no unknown message can stop it.
 */
export class AcpWire {
  readonly stream: Stream
  /** The methods of our open requests, by id. */
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

  /** Returns the method of our request that this record answers, if it is an answer. */
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
