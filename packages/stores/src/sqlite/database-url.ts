import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { InspanError } from '@inspan/protocol'

export const IN_MEMORY = ':memory:'

/** Returns the absolute path of a url, or `:memory:`. */
export function databasePath(url: string): string {
  if (typeof url !== 'string' || url.length === 0 || url.includes('\0')) throw badUrl(url, 'is empty or no text')
  if (url === IN_MEMORY || url === `file:${IN_MEMORY}`) return IN_MEMORY
  if (url.startsWith('file:')) {
    if (url.includes('?')) throw badUrl(url, 'has options after "?", which are not understood')
    return resolve(url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length))
  }
  if (/^[a-z][a-z0-9+.-]+:/i.test(url)) throw badUrl(url, 'is of a kind that SQLite cannot open')
  return resolve(url)
}

function badUrl(url: unknown, why: string): InspanError {
  return new InspanError('invalid-input', `The database url ${JSON.stringify(url)} ${why}.`, {
    hint: "Give a path, 'file:./data.db' or ':memory:'.",
    details: { url },
  })
}
