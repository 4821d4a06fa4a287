import { isIP } from 'node:net'
import { InspanError } from '@inspan/protocol'
import { aFlag, aFunction, anObject, aText, checkOptions, listOf, type OptionRules } from '@inspan/protocol/internal'
import type { Harness } from '@inspan/core'
import type { OtherProjects } from '@inspan/core/serving'
import type { AgentManager } from '@inspan/sdk'
import type { Identify } from './http/guard.ts'
import type { WebhooksOptions } from './webhooks.ts'

export interface ServeOptions {
  /** The harness to serve; or a `manager`. */
  readonly harness?: Harness
  /** A manager of the SDK: the chat sessions of its agents are served as threads. */
  readonly manager?: AgentManager
  /** Default: 0, any free port. */
  readonly port?: number
  /** Default: `127.0.0.1`. Any other address needs `allowRemote`. */
  readonly host?: string
  /** Listens on a unix socket instead of a port. Only the user who runs the server may connect. */
  readonly socketPath?: string
  /** The owner's token. Default: the one in `tokenFile`, else a random one. */
  readonly token?: string
  /** Keeps the tokens, readable by this user only. Default: they are gone with the server. */
  readonly tokenFile?: string
  /** Allows an address that other machines can reach. Traffic is not encrypted: put a TLS proxy in front. */
  readonly allowRemote?: boolean
  /** Host names, with port, besides the server's own address: `inspan.example:443`. */
  readonly allowedHosts?: readonly string[]
  /** Origins of web pages that may connect, besides the server's own. */
  readonly allowedOrigins?: readonly string[]
  /** Believes the `X-Forwarded-*` headers of a proxy. Only behind a proxy that sets them. */
  readonly trustProxy?: boolean
  /** Maps headers to who is calling. Returns `undefined` to fall back to the tokens. */
  readonly identify?: Identify
  /** Who the owner's token stands for, as recorded with commands. Default: `owner`. */
  readonly principal?: string
  /** A folder with files for browsers. They are served without a token: they must hold nothing secret. */
  readonly pages?: string
  /** Tells other systems what waits for a person and what has ended. */
  readonly webhooks?: Omit<WebhooksOptions, 'store'>
  /** Project folders that clients may choose from. */
  readonly folders?: readonly string[]
  /** Clients may start threads in git worktrees of the workspace's repository. Default: false. */
  readonly worktrees?: boolean
  /** The overview also names what waits and runs in threads of other resources of the store: other projects. Default: false. */
  readonly otherProjects?: boolean
  /**
   * Opens threads of other projects of the store, for the owner alone. Without it they are only named. Runs that a dead
   * process left in a project that is neither this one nor among these are left alone.
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
