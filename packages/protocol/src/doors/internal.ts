/** Helpers of our own packages. No promise is made about them: they change without notice. */
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
export { checkBudget, checkTurnDefaults } from '../check-turn.ts'
export { didYouMean } from '../nearest-name.ts'
export { IdList } from '../id-list.ts'
export { Keyed } from '../keyed.ts'
export { List } from '../list.ts'
export { describeCall } from '../describe-call.ts'
export { visible, VisibleText } from '../visible-text.ts'
