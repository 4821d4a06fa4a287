export { MemoryStore } from './memory-store.ts'
export { SqliteStore, type SqliteStoreOptions } from './sqlite-store.ts'
