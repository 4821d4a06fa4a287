import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@inspan/protocol'
import type { ToolOutcome, ToolRunContext } from '@inspan/protocol/driver'
import { Workspace, type WorkspaceOptions } from './workspace.ts'

/** A workspace in a folder of its own, with another folder beside it. */
export class WorkspaceBench implements AsyncDisposable {
  readonly base: string
  readonly root: string
  readonly outside: string
  readonly workspace: Workspace
  readonly progress: [string, string | undefined][] = []

  constructor(options: Partial<WorkspaceOptions> = {}) {
    this.base = mkdtempSync(join(tmpdir(), 'inspan-workspace-'))
    this.root = join(this.base, 'root')
    this.outside = join(this.base, 'outside')
    for (const folder of [this.root, this.outside]) mkdirSync(folder)
    this.workspace = new Workspace({ root: this.root, ...options })
  }

  call(name: string, input: JsonObject, context: Partial<ToolRunContext> = {}): Promise<ToolOutcome> {
    return this.workspace.call(name, input, {
      signal: new AbortController().signal,
      idempotencyKey: 'k',
      toolCallId: 'c',
      runId: 'r',
      turnId: 't',
      threadId: 'thread',
      agentId: 'a',
      progress: (output, stream) => void this.progress.push([output, stream]),
      ...context,
    })
  }

  /** Returns the result of a call that has to succeed. */
  async result(name: string, input: JsonObject, context: Partial<ToolRunContext> = {}): Promise<ToolOutcome['result']> {
    const { isError, result } = await this.call(name, input, context)
    if (isError === true) throw new Error(`${name} failed: ${JSON.stringify(result)}`)
    return result
  }

  async text(name: string, input: JsonObject): Promise<string> {
    const result = await this.result(name, input)
    return typeof result === 'string' ? result : JSON.stringify(result)
  }

  /** Returns what a refused call says. */
  async refusal(name: string, input: JsonObject, context: Partial<ToolRunContext> = {}): Promise<string> {
    const { isError, result } = await this.call(name, input, context)
    if (isError !== true) throw new Error(`${name} succeeded: ${JSON.stringify(result)}`)
    return typeof result === 'string' ? result : JSON.stringify(result)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.workspace.close()
    rmSync(this.base, { recursive: true, force: true })
  }
}
