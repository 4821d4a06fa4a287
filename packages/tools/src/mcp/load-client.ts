import type * as Library from '@modelcontextprotocol/client'
import { loadFailure } from '../load-failure.ts'

/** The client library, loaded when the first server is connected: it takes long to load. */
export type McpLibrary = typeof Library

let loading: Promise<McpLibrary> | undefined

export function loadClient(): Promise<McpLibrary> {
  loading ??= import('@modelcontextprotocol/client').catch((error: unknown) => {
    loading = undefined
    throw loadFailure('@modelcontextprotocol/client', error)
  })
  return loading
}
