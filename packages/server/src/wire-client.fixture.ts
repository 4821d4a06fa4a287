import { WebSocket } from 'ws'
import type { ClientMessage, ServerMessage } from '@inspan/protocol/wire'

type MessageOf<Type extends ServerMessage['type']> = Extract<ServerMessage, { type: Type }>

/** A client that shows every message as it comes, for tests of the protocol itself. */
export class WireClient {
  readonly socket: WebSocket
  readonly messages: ServerMessage[] = []
  /** Resolves with code and reason when the connection is closed. */
  readonly closed: Promise<string>
  #taken = 0
  #waiting: (() => void)[] = []

  constructor(url: string, token: string, protocols: string[] = ['inspan.v1']) {
    const address = url.startsWith('unix:') ? `ws+${url}:/v1/ws` : `${url.replace('http', 'ws')}/v1/ws`
    this.socket = new WebSocket(address, protocols, { headers: { authorization: `Bearer ${token}` } })
    this.socket.on('message', (data) => {
      this.messages.push(JSON.parse((data as Buffer).toString()) as ServerMessage)
      this.#wake()
    })
    this.closed = new Promise((resolve) => {
      this.socket.on('close', (code, reason) => {
        resolve(`${code} ${reason.toString()}`)
        this.#wake()
      })
    })
    this.socket.on('error', () => undefined)
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  async opened(): Promise<this> {
    if (this.socket.readyState === WebSocket.CONNECTING) {
      await new Promise((resolve) => this.socket.once('open', resolve))
    }
    return this
  }

  send(message: ClientMessage | object): void {
    this.socket.send(JSON.stringify(message))
  }

  /** Returns the next message of a type that was not taken yet; messages of other types are passed over. */
  async next<Type extends ServerMessage['type']>(
    type: Type,
    fits: (message: MessageOf<Type>) => boolean = () => true,
  ): Promise<MessageOf<Type>> {
    for (;;) {
      const message = await this.take()
      if (message.type === type && fits(message as MessageOf<Type>)) return message as MessageOf<Type>
    }
  }

  /** Returns the next message that was not taken yet, of whatever type. */
  async take(): Promise<ServerMessage> {
    for (;;) {
      const message = this.messages[this.#taken]
      if (message !== undefined) {
        this.#taken++
        return message
      }
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error('The connection was closed.')
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  async close(): Promise<void> {
    this.socket.close()
    await this.closed
  }
}
