/** Opens many WebSockets to a server, prints a line, and says nothing more until it is ended. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

const { COUNT = '0', PORT = '0', TOKEN = '' } = process.env

const handshake = [
  'GET /v1/ws HTTP/1.1',
  `Host: 127.0.0.1:${PORT}`,
  `Authorization: Bearer ${TOKEN}`,
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Protocol: inspan.v1',
]

async function open(): Promise<Socket> {
  const socket = connect(Number(PORT), '127.0.0.1')
  socket.write(`${handshake.join('\r\n')}\r\n\r\n`)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  if (!answer.toString().startsWith('HTTP/1.1 101')) throw new Error(answer.toString())
  return socket
}

const sockets: Socket[] = []
while (sockets.length < Number(COUNT)) {
  // In groups: the backlog of a listening socket is limited.
  sockets.push(...(await Promise.all(Array.from({ length: Math.min(250, Number(COUNT) - sockets.length) }, open))))
}
process.stdout.write(`${sockets.length}\n`)
