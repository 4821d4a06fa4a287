import { isIP } from 'node:net'
import { InspanError } from '@inspan/protocol'
import { aFlag, aFunction, anObject, aText, checkOptions, listOf, type OptionRules } from '@inspan/protocol/internal'
import type { Harness } from '@inspan/core'
import type { OtherProjects } from '@inspan/core/serving'
import type { AgentManager } from '@inspan/sdk'
import type { Identify } from './http/guard.ts'
import type { WebhooksOptions } from './webhooks.ts'

export interface ServeOptions {
  /** The harness to serve. Either this or `manager` is required. */
  readonly harness?: Harness
  /** A manager of the SDK: the chat sessions of its agents are served as threads. */
  readonly manager?: AgentManager
  /** The port to listen on. Default: 0, any free port. */
  readonly port?: number
  /** The address to listen on. Any other than the default needs `allowRemote`. Default: `127.0.0.1`. */
  readonly host?: string
  /** Listens on a unix socket instead of a port. Only the user who runs the server can connect (mode 0600). */
  readonly socketPath?: string
  /** The owner's token, of at least 128 bits. Default: the one in `tokenFile`, else a random one. */
  readonly token?: string
  /** The file that holds the tokens, readable by this user only. Default: tokens last as long as the server. */
  readonly tokenFile?: string
  /** Allows an address that other machines can reach. Traffic is not encrypted: put a TLS proxy in front. Default: false. */
  readonly allowRemote?: boolean
  /** Further values of the header `Host`, compared exactly: `inspan.example:8443`. Default: only the server's own address. */
  readonly allowedHosts?: readonly string[]
  /** Further origins of web pages that may connect. Default: only the server's own origin. */
  readonly allowedOrigins?: readonly string[]
  /** Trusts `X-Forwarded-Host` and `X-Forwarded-For`. Only for a server behind a proxy that sets them. Default: false. */
  readonly trustProxy?: boolean
  /** Maps headers, such as a signed token of your own, to `{ principal, role, tenant }`. If it returns `undefined`, the server's tokens count. */
  readonly identify?: Identify
  /** The name recorded with commands that are sent with the owner's token. Default: `owner`. */
  readonly principal?: string
  /** A folder with files for browsers. They are served without a token, so they must hold nothing secret. */
  readonly pages?: string
  /** `{ hooks: [{ url, secret, events? }], file? }`: notifies other systems of `wait`, `run-ended` and `limit` events. */
  readonly webhooks?: Omit<WebhooksOptions, 'store'>
  /** Project folders that clients may choose from. */
  readonly folders?: readonly string[]
  /** Clients may start threads in git worktrees of the workspace's repository. Default: false. */
  readonly worktrees?: boolean
  /** The overview also lists waiting and running threads of other resources in the store: other projects. Default: false. */
  readonly otherProjects?: boolean
  /**
   * Opens threads of other projects in the store, for the owner alone: `has(resourceId)`, and `open(resourceId)`, which
   * returns a harness. Without it they are only listed. Interrupted runs of a project that is not among these stay as
   * they are.
   */
  readonly projects?: OtherProjects
}

const RULES: OptionRules<ServeOptions> = {
  harness: { wanted: 'a harness', accepts: (value) => typeof value === 'object' && value !== null },
  manager: { wanted: 'a manager', accepts: (value) => typeof value === 'object' && value !== null },
  port: {
    wanted: 'a port',
    accepts: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 65_536,
  },
  host: aText,
  socketPath: aText,
  token: aText,
  tokenFile: aText,
  allowRemote: aFlag,
  allowedHosts: listOf(aText, 'texts'),
  allowedOrigins: listOf(aText, 'texts'),
  trustProxy: aFlag,
  identify: aFunction,
  principal: aText,
  pages: aText,
  webhooks: anObject,
  folders: listOf(aText, 'texts'),
  worktrees: aFlag,
  otherProjects: aFlag,
  projects: anObject,
}

export function checkServeOptions(options: ServeOptions): void {
  checkOptions('serve', options, RULES, [])
  if (options.harness !== undefined && options.manager !== undefined) {
    throw new InspanError('invalid-input', '`serve` takes a `harness` or a `manager`, not both.')
  }
  const { allowRemote, host = LOOPBACK } = options
  if (!isLoopback(host) && allowRemote !== true) {
    throw new InspanError('invalid-input', `The address ${host} can be reached from other machines.`, {
      hint: 'Use 127.0.0.1, or pass `allowRemote: true` and put a TLS proxy in front.',
    })
  }
}

export const LOOPBACK = '127.0.0.1'

export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true
  return isIP(host) === 4 && host.startsWith('127.')
}
