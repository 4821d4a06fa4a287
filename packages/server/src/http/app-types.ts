import type { HttpBindings } from '@hono/node-server'
import { InspanError } from '@inspan/protocol'
import { MAX_MESSAGE_BYTES } from '@inspan/protocol/wire'
import type { Context, Hono } from 'hono'
import { allows, type Role } from '../auth/identity.ts'
import { readJson } from '../connection/read-json.ts'
import type { Caller } from './guard.ts'

export interface AppEnv {
  Bindings: HttpBindings
  Variables: { caller: Caller }
}

export type App = Hono<AppEnv>

/** For routes that answer without a token: strangers must not fill the memory. */
export const MAX_OPEN_BODY = 4096

export function requireRole(caller: Caller, role: Role): void {
  if (allows(caller.role, role)) return
  throw new InspanError('misuse', `The role "${caller.role}" does not allow this.`, { details: { status: 403 } })
}

/** Tokens and numbers of the whole server are none of a tenant's business. */
export function requireOwner({ tenant }: Caller): void {
  if (tenant !== undefined) throw new InspanError('not-found', 'This is for the owner of the server.')
}

/** The answer to HEAD, which goes to the routes of GET: one that streams would never end, and would hold its thread open. */
export function headOfStream(c: Context<AppEnv>): Response | undefined {
  return c.req.method === 'HEAD' ? c.body(null, 200, { 'content-type': 'text/event-stream; charset=utf-8' }) : undefined
}

/** Reads a JSON body of limited size and depth. */
export async function readBody(c: Context<AppEnv>, limit: number = MAX_MESSAGE_BYTES): Promise<object> {
  const declared = Number(c.req.header('content-length') ?? 0)
  if (declared > limit) throw tooLarge(limit)
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of c.env.incoming as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limit) throw tooLarge(limit)
    chunks.push(chunk)
  }
  const body = readJson(Buffer.concat(chunks).toString('utf8'))
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  throw new InspanError('invalid-input', 'The body has to be a JSON object.')
}

function tooLarge(limit: number): InspanError {
  return new InspanError('invalid-input', `The body is larger than ${limit} bytes.`, { details: { status: 413 } })
}
