import type { ServedAccess, ServedTools } from './tool-server.ts'

/** Serves tools on the listener of this process. */
export async function serveTools(tools: ServedTools): Promise<ServedAccess> {
  // Needed only by programs that run agents of others.
  const { loopbackServer } = await import('./tool-server.ts')
  return loopbackServer.serve(tools)
}
