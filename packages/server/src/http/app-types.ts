import type { HttpBindings } from '@hono/node-server'
import { InspanError } from '@inspan/protocol'
import type { Context, Hono } from 'hono'
import { allows, type Role } from '../auth/identity.ts'
import { readJson } from '../connection/read-json.ts'
import type { Caller } from './guard.ts'

export interface AppEnv {
  Bindings: HttpBindings
  Variables: { caller: Caller }
}

export type App = Hono<AppEnv>

const MAX_BODY = 32 * 1024 * 1024

export function requireRole(caller: Caller, role: Role): void {
  if (allows(caller.role, role)) return
  throw new InspanError('misuse', `The role "${caller.role}" does not allow this.`, { details: { status: 403 } })
}

/** Reads a JSON body of limited size and depth. */
export async function readBody(c: Context<AppEnv>): Promise<object> {
  const declared = Number(c.req.header('content-length') ?? 0)
  if (declared > MAX_BODY) throw tooLarge()
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of c.env.incoming as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY) throw tooLarge()
    chunks.push(chunk)
  }
  const body = readJson(Buffer.concat(chunks).toString('utf8'))
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  throw new InspanError('invalid-input', 'The body has to be a JSON object.')
}

function tooLarge(): InspanError {
  return new InspanError('invalid-input', `The body is larger than ${MAX_BODY} bytes.`, { details: { status: 413 } })
}
