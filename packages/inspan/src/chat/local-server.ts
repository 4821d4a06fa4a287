import type { HarnessConfig, HarnessMode } from '@inspan/core'
import type { InspanServer } from '@inspan/server'
import type { Terminal } from '../command.ts'
import { openStore } from '../data-file.ts'
import { modesOf, type HarnessId } from '../served-modes.ts'

export interface LocalServerOptions {
  readonly model: string | undefined
  readonly harness: HarnessId | undefined
  readonly db: string | undefined
}

export interface LocalServer {
  readonly server: InspanServer
  close(): Promise<void>
}

/** Starts a server for this process alone: on the loopback address, any free port, and with a token nobody else has. */
export async function startLocalServer(options: LocalServerOptions, terminal: Terminal): Promise<LocalServer> {
  const { cwd } = terminal
  const agentOptions = await agentOf(options, terminal)
  const [{ Harness }, { serve }] = await Promise.all([import('@inspan/core'), import('@inspan/server')])
  const store = await openStore(options.db, terminal)
  const harness = new Harness({ id: 'inspan', resourceId: cwd, storage: store, ...agentOptions })
  const end = async (): Promise<void> => {
    await harness.destroy()
    await store.close()
  }
  try {
    const server = await serve({ harness, folders: [cwd] })
    return {
      server,
      close: async () => {
        await server.close()
        await end()
      },
    }
  } catch (error) {
    await end()
    throw error
  }
}

async function agentOf(
  { harness, model }: LocalServerOptions,
  terminal: Terminal,
): Promise<Pick<HarnessConfig, 'workspace'> & { modes: HarnessMode[] }> {
  if (model === undefined) return { modes: await modesOf(harness === undefined ? [] : [harness], undefined, terminal) }
  const { checkKey } = await import('../native-agent.ts')
  checkKey(model, terminal)
  return { workspace: { root: terminal.cwd }, modes: await modesOf([], model, terminal) }
}
