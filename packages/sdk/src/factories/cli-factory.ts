import type { AgentHarness, HarnessFactory, MCPConfiguration, Model, WithAgentConfig } from '@inspan/protocol/chat'
import type { AgentDriver } from '@inspan/protocol/driver'
import type { EngineAgentConfig } from '../engine/agent-config.ts'
import { EngineHarness, type EngineOptions } from '../engine/engine-harness.ts'

/** The options of the program, and those of every harness. */
export type CliHarnessOptions<Options extends object> = EngineOptions & Options

/** The harness of a program that runs its tools itself. */
export type CliAgentHarness = AgentHarness & EngineHarness & WithAgentConfig<EngineAgentConfig>

export interface CliOfFactory<Options extends object> {
  readonly id: string
  readonly make: (options: Options & { readonly cwd: string; readonly mcp?: MCPConfiguration }) => AgentDriver
  /** How the program calls a model. Default: as its provider does. */
  readonly modelName?: (model: Model) => string
}

/** Makes harnesses whose agents are processes of one program. Login and settings are those of the program. */
export class CliHarnessFactory<Options extends object> implements HarnessFactory<CliAgentHarness> {
  readonly protocolVersion = 1
  readonly #cli: CliOfFactory<Options>
  readonly #options: CliHarnessOptions<Options>

  constructor(cli: CliOfFactory<Options>, options: CliHarnessOptions<Options>) {
    this.#cli = cli
    this.#options = options
  }

  create(storageRootFolder: string): Promise<CliAgentHarness> {
    const { id, make, modelName = ({ nativeId }) => nativeId } = this.#cli
    const { approvalTimeout, identities, newId, now, priceOf, rules, store, ...program } = this.#options
    return EngineHarness.open({
      ...given({ approvalTimeout, identities, newId, now, priceOf, rules, store }),
      id,
      storageRootFolder,
      makeAgent: ({ config, connectivity, projectRoot }) => {
        const { mcpServers } = config
        const mcp = mcpServers === undefined ? {} : { mcp: mcpServers }
        const driver = make({ ...(program as unknown as Options), cwd: projectRoot, ...mcp })
        // A program that nobody chose a model for has one of its own.
        const model = connectivity.isDefault === true ? {} : { model: modelName(connectivity.model) }
        return { runtimeAgent: { driver, turn: model } }
      },
    })
  }
}

function given(options: { readonly [Key in keyof EngineOptions]: EngineOptions[Key] | undefined }): EngineOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}
