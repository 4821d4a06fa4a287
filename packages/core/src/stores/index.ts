/** For stores in other packages: the checks, plans and errors that every store shares. */
export { firstIdAt, isExpired, pruneLimit } from './command-age.ts'
export { CursorScope } from './cursor.ts'
export { erasedWait } from './erased-wait.ts'
export { checkHash, checkId, checkRanges, checkSeq, checkTime, MAX_SEQ, pageLimit, toJsonText } from './input-checks.ts'
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
  parentGone,
  storeClosed,
  streamExists,
} from './store-errors.ts'
export { foreignStretches, forksScope, stretchesOf, type ForksQuery, type Stretch } from './stretches.ts'
