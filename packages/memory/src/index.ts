export { Memory, type MemoryModelInput, type MemoryOptions, type ObservedRecord } from './memory.ts'
export type { RecallOptions } from './recall.ts'
export { compactThread, type CompactionOptions, type CompactionReport } from './compaction.ts'
export type { ObservationalOptions, ObservationOptions, ReflectionOptions } from './observational-memory.ts'
