import { randomUUID } from 'node:crypto'
import { aText } from '@inspan/protocol/internal'
import { givenFields } from '../checks/check-given.ts'
import type { SessionContext } from './session-context.ts'

/** The id of a session and the resource whose threads it uses. */
export class SessionIdentity {
  readonly #session: SessionContext
  #id: string | undefined
  readonly #defaultResourceId: string
  #resourceId: string

  constructor(session: SessionContext, resourceId: string, id: string | undefined) {
    this.#session = session
    this.#id = id
    this.#defaultResourceId = resourceId
    this.#resourceId = resourceId
  }

  /** A session that was created without an id lives only in this process and has an id of its own there. */
  getId(): string {
    this.#id ??= randomUUID()
    return this.#id
  }

  getResourceId(): string {
    return this.#resourceId
  }

  getDefaultResourceId(): string {
    return this.#defaultResourceId
  }

  /** Takes effect at once. Resolves when the thread of the old resource has been left. */
  async setResourceId(options: { readonly resourceId: string }): Promise<void> {
    this.#resourceId = givenFields(options, 'setResourceId({ resourceId })', { resourceId: aText }).resourceId
    await this.#session.lifecycle.clear()
  }
}
