export { activityOf, type ActivityDraft, type MappedEvent, type NoteEvent } from './kit/activity.ts'
export type { Account, Ledger, LedgerSums } from './kit/ledger.ts'
export type { Mapper, MapperOptions, RunEnd } from './kit/mapper.ts'
