import { createHash } from 'node:crypto'

/** Returns a UUID of version 7: the server sees from it when the command was made. */
export function uuidV7(now: number = Date.now()): string {
  return uuidOf(now, crypto.getRandomValues(new Uint8Array(16)))
}

/** Returns the same UUID of version 7 for the same time and text. */
export function derivedUuid(time: number, text: string): string {
  return uuidOf(time, new Uint8Array(createHash('sha256').update(text).digest().subarray(0, 16)))
}

function uuidOf(now: number, bytes: Uint8Array): string {
  for (let index = 0; index < 6; index++) bytes[index] = Math.floor(now / 2 ** (8 * (5 - index))) % 256
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
