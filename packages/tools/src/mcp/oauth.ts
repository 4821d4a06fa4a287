import type { OAuthClientMetadata, OAuthClientProvider } from '@modelcontextprotocol/client'
import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { InspanError } from '@inspan/protocol'
import type { MCPRemoteServerConfig } from '@inspan/protocol/chat'
import { readPrivate, writePrivate } from '../private-file.ts'
import { loadClient } from './load-client.ts'
import type { RedirectListener } from './redirect-listener.ts'

export interface McpOAuthOptions {
  /** Where tokens are kept, each server's in a file that only its owner can read. */
  readonly folder: string
  /** Shows a person the address at which to authorize us, such as by opening a browser. */
  readonly open: (url: URL, serverName: string) => void | Promise<void>
  /** Called when an authorization that was begun has failed. */
  readonly onFailure?: (serverName: string, error: Error) => void
}

interface KeptAuthorization {
  port?: number
  client?: object
  tokens?: object
  discovery?: object
}

/**
 * Authorizes us at remote servers by authorization code: a person agrees in a browser, which is then sent to a listener
 * of ours on 127.0.0.1. Tokens are refreshed when they expire.
 */
export class McpOAuth {
  readonly #options: McpOAuthOptions
  readonly #listeners = new Set<RedirectListener>()

  constructor(options: McpOAuthOptions) {
    this.#options = options
  }

  /** Returns the provider for one attempt to connect. `onAuthorized` is called when a person has agreed. */
  async provider(
    serverName: string,
    config: MCPRemoteServerConfig,
    onAuthorized: () => Promise<void>,
  ): Promise<OAuthClientProvider> {
    const { folder, onFailure = () => undefined, open } = this.#options
    const url = new URL(config.url)
    const file = join(
      folder,
      `${createHash('sha256').update(`${serverName}\n${url.href}`).digest('hex').slice(0, 32)}.json`,
    )
    const kept: KeptAuthorization = (await readPrivate(file)) ?? {}
    const save = async (change: KeptAuthorization): Promise<void> => {
      Object.assign(kept, change)
      await writePrivate(file, kept)
    }
    const { RedirectListener: Listener } = await import('./redirect-listener.ts')
    kept.port ??= await Listener.freePort()
    const redirectUrl = `http://127.0.0.1:${kept.port}/callback`
    const state = randomBytes(16).toString('base64url')
    let verifier = ''
    const finish = async (params: URLSearchParams): Promise<void> => {
      const { StreamableHTTPClientTransport } = await loadClient()
      await new StreamableHTTPClientTransport(url, { authProvider: provider }).finishAuth(params)
      await onAuthorized()
    }
    const provider: OAuthClientProvider = {
      redirectUrl,
      clientMetadata: metadataFor(redirectUrl),
      state: () => state,
      clientInformation: () => kept.client as ReturnType<OAuthClientProvider['clientInformation']>,
      saveClientInformation: (client) => save({ client, ...(kept.port === undefined ? {} : { port: kept.port }) }),
      tokens: () => kept.tokens as ReturnType<OAuthClientProvider['tokens']>,
      saveTokens: (tokens) => save({ tokens }),
      saveCodeVerifier: (given) => {
        verifier = given
      },
      codeVerifier: () => verifier,
      discoveryState: () => kept.discovery as never,
      saveDiscoveryState: (discovery) => save({ discovery }),
      invalidateCredentials: async (scope) => {
        if (scope === 'all' || scope === 'client') delete kept.client
        if (scope === 'all' || scope === 'tokens') delete kept.tokens
        if (scope === 'all' || scope === 'discovery') delete kept.discovery
        await writePrivate(file, kept)
      },
      redirectToAuthorization: async (address) => {
        // The address comes from the server and goes to a program that opens it.
        if (!/^https?:$/.test(address.protocol))
          throw new InspanError('io', 'The server named an address that is not on the web.')
        const listener = await Listener.open({ port: kept.port ?? 0, state }, finish, (error) => {
          this.#listeners.delete(listener)
          if (error !== undefined) onFailure(serverName, error)
        })
        this.#listeners.add(listener)
        await open(address, serverName)
      },
    }
    return provider
  }

  /** Stops waiting for people who have not agreed yet. Tokens stay. */
  async close(): Promise<void> {
    await Promise.all([...this.#listeners].map((listener) => listener.close()))
    this.#listeners.clear()
  }
}

function metadataFor(redirectUrl: string): OAuthClientMetadata {
  return {
    client_name: 'Inspan',
    redirect_uris: [redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }
}
