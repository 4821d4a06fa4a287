import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createTool, type ToolsInput } from '@inspan/core'
import { scriptedModel, type ModelRequest, type Script, type ScriptedModel } from '@inspan/testing'
import {
  createAgentManager,
  NativeHarnessFactory,
  type Agent,
  type AgentHarness,
  type AgentManager,
  type AgentManagerOptions,
  type ChatEvent,
  type ChatSession,
  type ChatStreamResult,
  type HarnessFactory,
  type NativeAgentHarness,
  type NativeHarnessOptions,
} from './index.ts'

export interface Folders extends AsyncDisposable {
  readonly root: string
  readonly project: string
}

/** An empty storage folder and an empty project, removed afterwards. */
export async function folders(): Promise<Folders> {
  const base = await mkdtemp(join(tmpdir(), 'inspan-sdk-'))
  const root = join(base, 'storage')
  const project = join(base, 'project')
  await mkdir(root)
  await mkdir(project)
  return { root, project, [Symbol.asyncDispose]: () => rm(base, { recursive: true }) }
}

export interface Setting extends AsyncDisposable, Folders {
  readonly model: ScriptedModel
  readonly manager: AgentManager<NativeAgentHarness>
  readonly agent: Agent<NativeAgentHarness>
  readonly session: ChatSession
  /** Shuts the manager down and starts another one over the same folder. */
  restart(): Promise<AgentManager<NativeAgentHarness>>
}

export interface SettingOptions {
  readonly factory?: Omit<NativeHarnessOptions, 'model'>
  readonly manager?: AgentManagerOptions
  readonly config?: Parameters<AgentManager<NativeAgentHarness>['createAgent']>[1]
  /** Files of the project, by their path. */
  readonly files?: Readonly<Record<string, string>>
}

/** A manager with one agent and one session on a scripted model. */
export async function chatting(script: Script<ModelRequest>, options: SettingOptions = {}): Promise<Setting> {
  const places = await folders()
  const model = scriptedModel(script)
  const start = (): Promise<AgentManager<NativeAgentHarness>> =>
    createAgentManager(places.root, new NativeHarnessFactory({ ...options.factory, model }), options.manager)
  for (const [path, text] of Object.entries(options.files ?? {})) await writeProjectFile(places, path, text)
  let manager = await start()
  const agent = await manager.createAgent(places.project, { agentId: 'a', ...options.config })
  const session = await agent.createChatSession()
  return {
    ...places,
    model,
    manager,
    agent,
    session,
    restart: async () => {
      await manager.shutdown()
      manager = await start()
      return manager
    },
    [Symbol.asyncDispose]: async () => {
      await manager.shutdown()
      await places[Symbol.asyncDispose]()
    },
  }
}

export async function writeProjectFile({ project }: Folders, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(project, path)), { recursive: true })
  await writeFile(join(project, path), text)
}

export async function eventsOf({ eventStream }: ChatStreamResult): Promise<ChatEvent[]> {
  const events: ChatEvent[] = []
  for await (const event of eventStream) events.push(event)
  return events
}

/** Reads until an event of the type, and leaves the stream there. */
export async function until<Type extends ChatEvent['type']>(
  { eventStream }: ChatStreamResult,
  type: Type,
): Promise<Extract<ChatEvent, { type: Type }>> {
  for await (const event of eventStream) {
    if (event.type === type) return event as Extract<ChatEvent, { type: Type }>
  }
  throw new Error(`There was no ${type}.`)
}

export function typesOf(events: readonly ChatEvent[]): string[] {
  return events.map(({ type }) => type)
}

export function textOf(events: readonly ChatEvent[]): string {
  return events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')
}

/** A tool that notes what it was called with. */
export function noting(id: string, calls: unknown[], result: unknown = 'done'): ToolsInput {
  return [
    createTool({
      id,
      description: `Notes its input as ${id}.`,
      inputSchema: { type: 'object', properties: { n: { type: 'number' } } },
      execute: async (input) => {
        calls.push(input)
        return result
      },
    }),
  ]
}

/** A factory whose harness does some things in another way. */
export function changedHarness(
  own: HarnessFactory,
  changes: (harness: AgentHarness) => Partial<AgentHarness>,
): HarnessFactory {
  return {
    protocolVersion: own.protocolVersion,
    create: async (root) => {
      const harness = await own.create(root)
      const changed = changes(harness)
      return new Proxy<AgentHarness>(harness, {
        get: (target, key) => {
          const value: unknown = Reflect.get(key in changed ? changed : target, key)
          return typeof value === 'function' ? value.bind(target) : value
        },
      })
    },
  }
}
