import type { AgentDriver } from '@inspan/protocol/driver'

interface Named {
  readonly id?: string
}

/** Returns a factory whose drivers load their code on first use, as reading output and listing CLIs do not need it. */
export function onFirstUse<Options extends Named>(
  defaultId: string,
  load: () => Promise<(options: Options) => AgentDriver>,
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
    }
  }
}
