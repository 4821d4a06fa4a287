import { Agent, Harness, type HarnessConfig } from '@inspan/core'
import { scriptedModel, type ModelRequest, type Script, type ScriptedModel } from '@inspan/testing'
import { serve, type InspanServer } from './serve.ts'
import type { ServeOptions } from './options.ts'

export interface ServerBenchOptions {
  readonly harness?: Partial<HarnessConfig>
  readonly serve?: Partial<ServeOptions>
  readonly agent?: Partial<ConstructorParameters<typeof Agent>[0]>
}

/** A server over a harness with a scripted agent. */
export class ServerBench implements AsyncDisposable {
  readonly harness: Harness
  readonly model: ScriptedModel
  readonly server: InspanServer

  private constructor(harness: Harness, model: ScriptedModel, server: InspanServer) {
    this.harness = harness
    this.model = model
    this.server = server
  }

  static async start(script: Script<ModelRequest>, options: ServerBenchOptions = {}): Promise<ServerBench> {
    const model = scriptedModel(script)
    const harness = new Harness({
      id: 'bench',
      agent: new Agent({ id: 'agent', model, ...options.agent }),
      modes: [{ id: 'build', name: 'Build' }, { id: 'plan' }],
      ...options.harness,
    })
    return new ServerBench(harness, model, await serve({ harness, ...options.serve }))
  }

  get url(): string {
    return this.server.url
  }

  get token(): string {
    return this.server.token
  }

  /** Sends an HTTP request with the owner's token. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      ...init,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(init.headers as Record<string, string> | undefined),
      },
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.close()
    await this.harness.destroy()
  }
}
