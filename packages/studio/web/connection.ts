import { connect, webStorageOutbox, type Client } from '@inspan/client'
import { readRoute } from './route.ts'

export type Connected =
  | { readonly client: Client }
  | { readonly needsCode: true; readonly problem?: string }
  | { readonly failed: string }

/** Connects with the cookie of this browser. Without one the server refuses, and a code is needed. */
export async function connectHere(): Promise<Connected> {
  const url = location.origin
  try {
    const problem = await pairWithAddress()
    const response = await fetch('/v1/limits')
    if (response.status === 401 || response.status === 403) {
      return { needsCode: true, ...(problem === undefined ? {} : { problem }) }
    }
    const options = { url, outbox: webStorageOutbox(sessionStorage), window: 200 }
    const route = readRoute(location.hash)
    const thread = route.view === 'thread' ? route.thread : undefined
    if (thread === undefined) return { client: await connect(options) }
    // The thread of an old bookmark may be gone.
    return { client: await connect({ ...options, thread }).catch(() => connect(options)) }
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) }
  }
}

/** The address that the server prints holds a code, which works once. Returns what went wrong with it, if anything. */
async function pairWithAddress(): Promise<string | undefined> {
  const code = new URLSearchParams(location.hash.slice(1)).get('code')
  if (code === null) return undefined
  history.replaceState(null, '', location.pathname)
  return pair(code)
}

/** Swaps a one-time code for a cookie. Returns what went wrong, if anything. */
export async function pair(code: string): Promise<string | undefined> {
  const response = await fetch('/v1/pair', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code: code.trim(), name: deviceName(navigator.userAgent) }),
  })
  if (response.ok) return undefined
  const { error } = (await response.json()) as { readonly error?: { readonly message?: string } }
  return error?.message ?? `The server answered ${response.status}.`
}

const BROWSERS = ['Firefox', 'Edg', 'OPR', 'Chrome', 'Safari'] as const
const SYSTEMS = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac OS', 'CrOS', 'Linux'] as const
const SHOWN: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera', 'Mac OS': 'macOS', CrOS: 'ChromeOS' }

/** How the list of paired devices calls this one. Each browser also names those it descends from. */
function deviceName(userAgent: string): string {
  const [browser = 'browser', system] = [BROWSERS, SYSTEMS].map((names) => {
    const found = names.find((name) => userAgent.includes(name))
    return found === undefined ? undefined : (SHOWN[found] ?? found)
  })
  return system === undefined ? browser : `${browser} on ${system}`
}
