/** Why known notifications carry no activity. Those without an entry and a handler are `unknown`. */
const REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    lifecycle: [
      'account/gatewayOAuth/changed',
      'account/login/completed',
      'account/rateLimits/updated',
      'account/updated',
      'app/list/updated',
      'externalAgentConfig/import/completed',
      'externalAgentConfig/import/progress',
      'fs/changed',
      'mcpServer/event/stream/notification',
      'mcpServer/oauthLogin/completed',
      'model/safetyBuffering/updated',
      'model/verification',
      'modelProvider/authRecoveryCompleted',
      'modelProvider/authRecoveryStarted',
      'project/changed',
      'remoteControl/status/changed',
      'skills/changed',
      'thread/archived',
      'thread/attachment/updated',
      'thread/closed',
      'thread/compacted',
      'thread/deleted',
      'thread/environment/connected',
      'thread/environment/disconnected',
      'thread/goal/cleared',
      'thread/goal/updated',
      'thread/name/updated',
      'thread/prediction/updated',
      'thread/project/updated',
      'thread/queue/changed',
      'thread/readState/changed',
      'thread/reverted',
      'thread/settings/updated',
      'thread/status/changed',
      'thread/unarchived',
      'turn/moderationMetadata',
    ],
    restated: ['rawResponse/completed', 'rawResponseItem/completed', 'turn/diff/updated', 'turn/plan/updated'],
    partial: ['item/plan/delta'],
    'task-progress': [
      'command/exec/outputDelta',
      'item/commandExecution/terminalInteraction',
      'item/fileChange/outputDelta',
      'item/fileChange/patchUpdated',
      'item/mcpToolCall/progress',
      'process/exited',
      'process/outputDelta',
    ],
    control: [
      'autoApprovalReview/strictReviewRequired',
      'item/autoApprovalReview/completed',
      'item/autoApprovalReview/started',
      'serverRequest/resolved',
    ],
    hook: ['hook/started'],
  }).flatMap(([reason, methods]) => methods.map((method) => [method, reason] as const)),
)

export function reasonFor(method: string): string | undefined {
  return REASONS.get(method)
}

/** Requests of the CLI to its host. The answers are not in its output. */
export const serverRequests: ReadonlySet<string> = new Set([
  'account/chatgptAuthTokens/refresh',
  'applyPatchApproval',
  'attestation/generate',
  'execCommandApproval',
  'item/commandExecution/requestApproval',
  'item/fileChange/requestApproval',
  'item/permissions/requestApproval',
  'item/tool/call',
  'item/tool/requestUserInput',
  'mcpServer/elicitation/request',
])
