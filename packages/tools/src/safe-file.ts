import { constants } from 'node:fs'
import { open, realpath, stat } from 'node:fs/promises'
import { relative, sep, isAbsolute } from 'node:path'
import { InspanError } from '@inspan/protocol'

/** Whether a real path is a folder or something below it. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === '' || (!isAbsolute(way) && way !== '..' && !way.startsWith(`..${sep}`))
}

export interface SafeText {
  /** Without links. */
  readonly path: string
  readonly text: string
}

/**
 * Reads a text file of a folder. Refuses, by name, what leads out of the folder, is no plain file, is too large or is
 * not text.
 */
export async function readWithin(folder: string, path: string, maxBytes: number): Promise<SafeText> {
  const real = await realpath(path).catch((error: unknown) => {
    throw new InspanError('not-found', `There is no file ${path}.`, { cause: error })
  })
  if (!isWithin(folder, real)) throw new InspanError('invalid-input', `${path} leads out of ${folder}.`)
  if (!(await stat(real)).isFile()) throw new InspanError('invalid-input', `${path} is not a plain file.`)
  // Not blocking: it may have become a pipe that nobody writes to.
  const file = await open(real, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0))
  try {
    const found = await file.stat()
    if (!found.isFile()) throw new InspanError('invalid-input', `${path} is not a plain file.`)
    if (found.size > maxBytes) {
      throw new InspanError('invalid-input', `${path} is larger than ${maxBytes} bytes.`, {
        details: { bytes: found.size },
      })
    }
    const buffer = Buffer.alloc(maxBytes + 1)
    const { bytesRead } = await file.read(buffer, 0, maxBytes + 1, 0)
    if (bytesRead > maxBytes) throw new InspanError('invalid-input', `${path} is larger than ${maxBytes} bytes.`)
    return { path: real, text: decoded(buffer.subarray(0, bytesRead), path) }
  } finally {
    await file.close()
  }
}

function decoded(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new InspanError('invalid-input', `${path} is not UTF-8 text.`)
  }
}
