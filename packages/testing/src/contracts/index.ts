export { storeContract } from './store-contract.ts'
export { flakyStore, type FlakyOptions } from './flaky-store.ts'
export { flakyStoreContract } from './flaky-store-contract.ts'
export type { StoreContract, StoreOpening, StoreSubject } from './subject.ts'
