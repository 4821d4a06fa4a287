import { createHash } from 'node:crypto'

/** Models accept names of these characters and this length. */
const MAX_NAME = 64

/**
 * Returns the name a model uses for a tool: `server_tool`. It depends on the names of the configured servers only, never
 * on which of them are connected, so that rules about it hold.
 */
export function toolName(server: string, tool: string, servers: Iterable<string>): string {
  const isAmbiguous = [...servers].some((other) => other !== server && server.startsWith(`${other}_`))
  const prefix = plain(server)
  const suffix = plain(tool)
  const name = `${prefix}_${suffix}`
  // `a` + `b_c` and `a_b` + `c` would be one name, and so would two names with characters that were replaced.
  const isExact = prefix === server && suffix === tool && !isAmbiguous && name.length <= MAX_NAME
  if (isExact) return name
  const hash = createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex')
    .slice(0, 6)
  return `${name.slice(0, MAX_NAME - hash.length - 1)}_${hash}`
}

function plain(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_')
}
