import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { InspanError, type ErrorCode } from '@inspan/protocol'
import type { Store } from '@inspan/protocol/store'

export interface ChildCall {
  readonly id: number
  readonly method: string
  readonly args: readonly unknown[]
}

export type ChildAnswer =
  | { readonly id: number; readonly value: unknown }
  | {
      readonly id: number
      readonly error: { readonly code: string; readonly message: string; readonly details: Record<string, unknown> }
    }

type Method = { [Name in keyof Store]-?: Store[Name] extends (...args: never) => unknown ? Name : never }[keyof Store]

export interface ProcessOptions {
  /** Run as this user, if we may choose. */
  readonly uid?: number
  /** The largest file the process may write, in units of 512 bytes. */
  readonly fileBlocks?: number
}

/** A store in a process of its own. */
export class StoreProcess {
  readonly child: ChildProcess
  readonly #waiting = new Map<number, PromiseWithResolvers<ChildAnswer>>()
  #lastId = 0

  private constructor(child: ChildProcess) {
    this.child = child
    child.on('message', (answer: ChildAnswer) => {
      this.#waiting.get(answer.id)?.resolve(answer)
      this.#waiting.delete(answer.id)
    })
    child.on('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('The store process is gone.'))
    })
  }

  static async start(url: string, options: ProcessOptions = {}): Promise<StoreProcess> {
    const program = fileURLToPath(new URL('store-child.ts', import.meta.url))
    const limit = options.fileBlocks === undefined ? '' : `ulimit -f ${options.fileBlocks} && `
    const child = spawn('/bin/sh', ['-c', `${limit}exec "$0" "$@"`, process.execPath, program, url], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: { ...process.env, ...(options.uid === undefined ? {} : { STORE_UID: String(options.uid) }) },
    })
    const failed = once(child, 'exit').then(() => assert.fail('The store process did not start.'))
    await Promise.race([once(child, 'message'), failed])
    return new StoreProcess(child)
  }

  async call<Name extends Method>(
    method: Name,
    ...args: Parameters<Store[Name]>
  ): Promise<Awaited<ReturnType<Store[Name]>>> {
    const id = ++this.#lastId
    const pending = Promise.withResolvers<ChildAnswer>()
    this.#waiting.set(id, pending)
    this.child.send({ id, method, args } satisfies ChildCall, (error) => {
      if (error !== null) pending.reject(new Error('The store process is gone.'))
    })
    const answer = await pending.promise
    if ('value' in answer) return answer.value as Awaited<ReturnType<Store[Name]>>
    const { code, message, details } = answer.error
    throw new InspanError(code as ErrorCode, message, { details })
  }

  /** Ends it without giving it a chance to tidy up. */
  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    this.child.kill('SIGKILL')
    await once(this.child, 'exit')
  }
}
