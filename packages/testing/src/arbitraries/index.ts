export {
  arbitraryBlobRef,
  arbitraryErrorData,
  arbitraryId,
  arbitraryJsonObject,
  arbitraryJsonValue,
  arbitraryText,
} from './json.ts'
export { arbitraryUsage, arbitraryUsageIncrement, arbitraryUsageTotals } from './usage.ts'
export { arbitraryActivityEvent, arbitraryActivityNote } from './activity.ts'
export { agentEventsByType, arbitraryAgentEvent, arbitraryEventMeta, arbitraryNativeRef } from './agent-event.ts'
export { arbitraryPart, arbitraryStoredMessage, arbitraryUserParts, partsByType } from './message.ts'
export {
  arbitraryAnswer,
  arbitraryBinding,
  arbitraryGoal,
  arbitraryGrants,
  arbitraryLineage,
  arbitraryRules,
  arbitraryTasks,
  arbitraryWaitRequest,
} from './control.ts'
export { arbitraryRecordBody, recordBodiesByType } from './record-body.ts'
export { arbitraryForkedLog, arbitraryLog, withoutSealedBatches, type ForkedLog, type LogOptions } from './log/log.ts'
export { arbitraryDeltaFrame, arbitraryOp } from './op.ts'
export { arbitraryCommand, commandsByType } from './command.ts'
export {
  arbitraryCapabilities,
  arbitraryCommandRow,
  arbitraryOwner,
  arbitraryThreadInfo,
  arbitraryTurn,
  arbitraryWaitRow,
} from './rows.ts'
