/** Helpers of our own packages. No promise is made about them: they change without notice. */
export { adviceOn, withAdvice } from '../advice.ts'
export { unlessAborted, whenAborted } from '../unless-aborted.ts'
export {
  aCount,
  aDuration,
  aFlag,
  aFunction,
  aNumber,
  anObject,
  anything,
  aPositiveCount,
  aShare,
  aText,
  checkFields,
  checkNames,
  checkOptions,
  either,
  listOf,
  oneOf,
  words,
  type FieldRule,
  type FieldRules,
  type OptionRules,
} from '../check-fields.ts'
export { asError } from '../as-error.ts'
export { databaseFiles } from '../database-files.ts'
export { defined } from '../defined.ts'
export { describeIssues } from '../describe-issues.ts'
export { checkBudget, checkTurnDefaults } from '../check-turn.ts'
export { memoryProgress } from '../harness-event/memory-progress.ts'
export { configEvents, contentEvent, errorEvent, noteEvent, queueEvents } from '../harness-event/record-events.ts'
export { didYouMean } from '../nearest-name.ts'
export { Backlog } from '../backlog.ts'
export { IdList } from '../id-list.ts'
export { Keyed } from '../keyed.ts'
export { List } from '../list.ts'
export { printedText } from '../printed-text.ts'
export { describeCall, splitDescription } from '../describe-call.ts'
export { visible, VisibleText } from '../visible-text.ts'
export { isForPerson } from '../wire-calls.ts'
