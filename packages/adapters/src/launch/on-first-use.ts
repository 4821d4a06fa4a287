import { InspanError } from '@inspan/protocol'
import type { AgentDriver, NativeSessions } from '@inspan/protocol/driver'

interface Named {
  readonly id?: string
}

/** Returns a factory whose drivers load their code on first use, as reading output and listing CLIs do not need it. */
export function onFirstUse<Options extends Named>(
  defaultId: string,
  load: () => Promise<(options: Options) => AgentDriver>,
  { hasSessions = false }: { readonly hasSessions?: boolean } = {},
): (options: Options) => AgentDriver {
  return (options) => {
    let made: Promise<AgentDriver> | undefined
    const driver = async (): Promise<AgentDriver> => {
      made ??= load().then((make) => make(options))
      return made
    }
    return {
      port: 1,
      id: options.id ?? defaultId,
      describe: async () => (await driver()).describe(),
      open: async (binding, host) => (await driver()).open(binding, host),
      ...(hasSessions ? { sessions: later(async () => (await driver()).sessions) } : {}),
    }
  }
}

function later(load: () => Promise<NativeSessions | undefined>): NativeSessions {
  const loaded = async (): Promise<NativeSessions> => {
    const sessions = await load()
    if (sessions === undefined) throw new InspanError('unsupported', 'This agent keeps no sessions that can be read.')
    return sessions
  }
  return {
    list: async (folder) => (await loaded()).list(folder),
    read: async function* (id, folder) {
      yield* (await loaded()).read(id, folder)
    },
  }
}
