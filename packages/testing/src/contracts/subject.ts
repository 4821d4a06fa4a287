import assert from 'node:assert/strict'
import { InspanError, type ErrorCode } from '@inspan/protocol'
import type { RecordFormat, Store } from '@inspan/protocol/store'

/** How to open a store, for tests about that. */
export interface StoreOpening {
  /** How records are read. Default: the format of this release. */
  readonly format?: RecordFormat
}

/** An open store for one test. */
export interface StoreSubject {
  readonly store: Store
  /** Closes the store and opens its data again. */
  readonly reopen?: (how?: StoreOpening) => Promise<Store>
  close(): Promise<void>
}

export interface StoreContract {
  readonly name: string
  /** The data survives closing the store. `open` then has to provide a `reopen`. */
  readonly isDurable?: boolean
  open(how?: StoreOpening): Promise<StoreSubject>
}

/** Opens a store, runs the test with it and closes it again. */
export function withStore(contract: StoreContract, test: (store: Store) => Promise<void>): () => Promise<void> {
  return async () => {
    const subject = await contract.open()
    try {
      await test(subject.store)
    } finally {
      await subject.close()
    }
  }
}

/** Expects the promise to reject with one of our errors with this code, and returns the error. */
export async function rejection(promise: Promise<unknown>, code: ErrorCode): Promise<InspanError> {
  let value: unknown
  try {
    value = await promise
  } catch (error) {
    assert.ok(InspanError.is(error), `expected an InspanError, got ${String(error)}`)
    assert.equal(error.code, code, error.message)
    return error
  }
  assert.fail(`expected "${code}", got ${JSON.stringify(value)}`)
}
