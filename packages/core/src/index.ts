export { nativeDriver, type LanguageModel, type NativeDriverOptions } from '@evener/agent'
export { MemoryStore } from './stores/memory-store.ts'
export { SqliteStore, type SqliteStoreOptions } from './stores/sqlite-store.ts'
