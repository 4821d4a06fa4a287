/** Why the server ends a connection. Each reason has one WebSocket close code, and clients act on it. */
export const CLOSE = {
  /** The server stops; connect again later. */
  shutdown: { code: 1001, reason: 'shutdown' },
  /** The client sent something that is no message of the protocol. */
  protocol: { code: 1008, reason: 'protocol' },
  tooLarge: { code: 1009, reason: 'too-large' },
  /** The client reads too slowly; connect again and start from a snapshot. */
  overloaded: { code: 4013, reason: 'overloaded' },
  /** The token was revoked. Connecting again with it is useless. */
  unauthorized: { code: 4001, reason: 'unauthorized' },
  /** No sign of life from the client. */
  idle: { code: 4008, reason: 'idle' },
} as const

export type CloseReason = keyof typeof CLOSE

/** The sending side of a transport. */
export interface Sink {
  send(text: string): void
  /** How many bytes wait to be taken by the network. */
  readonly buffered: number
  /** How many bytes the network has taken so far. */
  readonly taken: number
  close(reason: CloseReason): void
}
