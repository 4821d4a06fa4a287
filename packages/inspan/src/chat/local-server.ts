import type { HarnessConfig, HarnessMode } from '@inspan/core'
import { InspanError } from '@inspan/protocol'
import type { InspanServer, ServeOptions } from '@inspan/server'
import type { Terminal } from '../command.ts'
import { openStore } from '../data-file.ts'
import { projectAt } from '../project.ts'
import { modesOf, type CliId } from '../served-modes.ts'

export interface LocalServerOptions {
  readonly model: string | undefined
  readonly cli: CliId | undefined
  readonly db: string | undefined
  /** The folder that the agent works in. Default: the current one. */
  readonly folder?: string
  readonly permissions?: HarnessConfig['permissions']
  /** A demo agent that also writes, instead of the one that only looks. */
  readonly isWritingDemo?: boolean
}

const ONLY_THIS: NonNullable<ServeOptions['projects']> = {
  has: () => false,
  open: (folder) => Promise.reject(new InspanError('unsupported', `${folder} is not served here.`)),
}

export interface LocalServer {
  readonly server: InspanServer
  close(): Promise<void>
}

/** Starts a server for this process alone: on the loopback address, any free port, and with a token nobody else has. */
export async function startLocalServer(options: LocalServerOptions, terminal: Terminal): Promise<LocalServer> {
  const { db, folder = terminal.cwd, permissions } = options
  const agentOptions = await agentOf(options, folder, terminal)
  const [{ Harness }, { serve }] = await Promise.all([import('@inspan/core'), import('@inspan/server')])
  const store = await openStore(db, terminal)
  const harness = new Harness({
    id: 'inspan',
    resourceId: terminal.cwd,
    storage: store,
    estimateCosts: true,
    ...agentOptions,
    project: await projectAt(folder, terminal),
    ...(permissions === undefined ? {} : { permissions }),
  })
  const end = async (): Promise<void> => {
    await harness.destroy()
    await store.close()
  }
  try {
    // Runs that a dead process left in other projects are none of its business.
    const server = await serve({ harness, folders: [folder], projects: ONLY_THIS })
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
  { cli, isWritingDemo = false, model }: LocalServerOptions,
  folder: string,
  terminal: Terminal,
): Promise<Pick<HarnessConfig, 'workspace'> & { modes: HarnessMode[] }> {
  const at = { cwd: folder }
  if (model !== undefined) {
    const { checkKey } = await import('../native-agent.ts')
    checkKey(model, terminal)
    return { workspace: { root: folder }, modes: await modesOf([], model, at) }
  }
  if (cli === undefined && isWritingDemo) {
    const { folderDemo } = await import('../demo-folder.ts')
    return { workspace: { root: folder }, modes: [{ id: 'demo', name: 'Demo', agent: folderDemo() }] }
  }
  return { modes: await modesOf(cli === undefined ? [] : [cli], undefined, at) }
}
