/** For stores in other packages and for the engine: the checks, plans and errors that every store shares. */
export { firstIdAt, pruneLimit } from './command-age.ts'
export {
  admittedBefore,
  COMMAND_COLUMNS,
  commandFromRow,
  commandsScope,
  NEW_COMMAND_COLUMNS,
  newCommandRow,
  type CommandQuery,
  type StoredCommand,
} from './command-row.ts'
export { COMMON_TYPES, isRare } from './common-types.ts'
export { CursorScope } from './cursor.ts'
export { checkHash, checkId, checkRanges, checkSeq, checkTime, MAX_SEQ, pageLimit, toJsonText } from './input-checks.ts'
export { ownerFromRow, type OwnerRow } from './owner-row.ts'
export { openStore } from './open-store.ts'
export { pageOf } from './paging.ts'
export {
  checkCommandKey,
  notContiguous,
  prepareAppend,
  prepareOutcomes,
  type PreparedAppend,
  type PreparedOutcome,
} from './prepared-append.ts'
export { planMessages, planRecords } from './read-plans.ts'
export { parseOrDamaged, recordFromRow, tryParse, type RecordRow } from './record-row.ts'
export { addErased, gapsBetween, retainedRanges, type Need, type Range } from './retention.ts'
export {
  commandSettled,
  fenced,
  noSuchBlob,
  noSuchCommand,
  noSuchStream,
  notYetOpened,
  parentGone,
  storeClosed,
  streamExists,
} from './store-errors.ts'
export { foreignStretches, forksScope, stretchesOf, type ForksQuery, type Stretch } from './stretches.ts'
export {
  listedThread,
  newThreadRow,
  THREAD_COLUMNS,
  threadFromRow,
  threadsScope,
  type ThreadRow,
} from './thread-row.ts'
export {
  dueScope,
  erasedRow,
  erasedWait,
  waitFromRow,
  waitsScope,
  type DueQuery,
  type StoredWait,
  type WaitQuery,
} from './wait-row.ts'
export { currentPidScope, isProcessAlive, processStartTime } from './machine.ts'
