import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { z } from 'zod'
import type * as json from '../json.ts'
import type * as blob from '../blob.ts'
import type * as errorData from '../error-data.ts'
import type * as usage from '../usage.ts'
import type * as activity from '../activity.ts'
import type * as agentEvent from '../agent-event.ts'
import type * as call from '../call.ts'
import type * as message from '../message.ts'
import type * as wait from '../wait.ts'
import type * as binding from '../binding.ts'
import type * as task from '../task.ts'
import type * as permission from '../permission.ts'
import type * as lineage from '../lineage.ts'
import type * as controlRecord from '../control-record.ts'
import type * as record from '../record.ts'
import type * as op from '../op.ts'
import type * as storedHead from '../stored-head.ts'
import type * as head from '../head.ts'
import type * as view from '../view.ts'
import type * as store from '../store.ts'
import type * as driver from '../driver.ts'
import type * as wireForm from '../wire-form.ts'
import type * as harnessContent from '../harness-content.ts'
import type * as harnessMessage from '../harness-message.ts'
import type * as harnessThread from '../harness-thread.ts'
import type * as displayState from '../display-state.ts'
import type * as harnessEventConversation from '../harness-event/conversation.ts'
import type * as harnessEventSubagent from '../harness-event/subagent.ts'
import type * as harnessEventTool from '../harness-event/tool.ts'
import type * as harnessEventWorkspace from '../harness-event/workspace.ts'
import type * as harnessEventMemory from '../harness-event/memory.ts'
import type * as harnessEventContent from '../harness-event/content.ts'
import type * as harnessEvent from '../harness-event.ts'
import type * as chatEvent from '../chat-event.ts'
import type * as chatMessage from '../chat-message.ts'
import type * as mcp from '../mcp.ts'
import type * as agentConfig from '../agent-config.ts'
import type * as command from '../command.ts'
import type * as wire from '../wire.ts'
import type * as harnessState from '../harness-state.ts'
import type * as shownConfig from '../shown-config.ts'
import type * as wireCalls from '../wire-calls.ts'
import type { AgentConfigJson } from './agent-config.ts'
import type { Same } from './exact.ts'
import type { ControlSchemas } from './record.ts'
import type { ProtocolSchemas, SchemaName } from './schemas.ts'

/** The type each schema has to parse. A new schema does not compile until it is listed here. */
interface Expected {
  readonly JsonObject: json.JsonObject
  readonly JsonValue: json.JsonValue
  readonly BlobRef: blob.BlobRef
  readonly ErrorData: errorData.ErrorData
  readonly FinishReason: usage.FinishReason
  readonly UsageIncrement: usage.UsageIncrement
  readonly UsageMetadata: usage.UsageMetadata
  readonly UsageTotals: usage.UsageTotals
  readonly ActivityEvent: activity.ActivityEvent
  readonly ActivityNote: activity.ActivityNote
  readonly AgentActivity: activity.AgentActivity
  readonly CommandActivity: activity.CommandActivity
  readonly ErrorActivity: activity.ErrorActivity
  readonly ListActivity: activity.ListActivity
  readonly OrchestrationActivity: activity.OrchestrationActivity
  readonly ReadActivity: activity.ReadActivity
  readonly SearchActivity: activity.SearchActivity
  readonly SkillActivity: activity.SkillActivity
  readonly UnknownActivity: activity.UnknownActivity
  readonly WarningActivity: activity.WarningActivity
  readonly WriteActivity: activity.WriteActivity
  readonly AgentEvent: agentEvent.AgentEvent
  readonly ErrorEvent: agentEvent.ErrorEvent
  readonly EventMeta: agentEvent.EventMeta
  readonly FileEvent: agentEvent.FileEvent
  readonly FinishEvent: agentEvent.FinishEvent
  readonly NativeRef: agentEvent.NativeRef
  readonly ReasoningDeltaEvent: agentEvent.ReasoningDeltaEvent
  readonly StartEvent: agentEvent.StartEvent
  readonly StepFinishEvent: agentEvent.StepFinishEvent
  readonly StepStartEvent: agentEvent.StepStartEvent
  readonly TextDeltaEvent: agentEvent.TextDeltaEvent
  readonly ToolAnnotations: agentEvent.ToolAnnotations
  readonly ToolApprovalRequestEvent: agentEvent.ToolApprovalRequestEvent
  readonly ToolCallDeltaEvent: agentEvent.ToolCallDeltaEvent
  readonly ToolCallEvent: agentEvent.ToolCallEvent
  readonly ToolCallInfo: agentEvent.ToolCallInfo
  readonly ToolProgressEvent: agentEvent.ToolProgressEvent
  readonly ToolResultEvent: agentEvent.ToolResultEvent
  readonly CallOutcome: call.CallOutcome
  readonly CallState: call.CallState
  readonly FilePart: message.FilePart
  readonly ImagePart: message.ImagePart
  readonly MessageRole: message.MessageRole
  readonly Part: message.Part
  readonly ReasoningPart: message.ReasoningPart
  readonly SignalPart: message.SignalPart
  readonly StoredMessage: message.StoredMessage
  readonly TextPart: message.TextPart
  readonly ToolCallPart: message.ToolCallPart
  readonly ToolResultPart: message.ToolResultPart
  readonly Answer: wait.Answer
  readonly Binding: binding.Binding
  readonly Goal: task.Goal
  readonly Grants: permission.Grants
  readonly LineageRange: lineage.LineageRange
  readonly StoredLineage: lineage.StoredLineage
  readonly PatternRule: permission.PatternRule
  readonly PermissionRules: permission.PermissionRules
  readonly Policy: permission.Policy
  readonly TaskItem: task.TaskItem
  readonly GrantScope: permission.GrantScope
  readonly ToolCategory: permission.ToolCategory
  readonly WaitCancelReason: wait.WaitCancelReason
  readonly WaitRequest: wait.WaitRequest
  readonly Wait: wait.Wait
  readonly WaitState: wait.WaitState
  readonly WaitSubject: wait.WaitSubject
  readonly BatchEvent: controlRecord.BatchEvent
  readonly PartAddress: controlRecord.PartAddress
  readonly ProcessNote: controlRecord.ProcessNote
  readonly RecordedFile: controlRecord.RecordedFile
  readonly RecordedToolResult: controlRecord.RecordedToolResult
  readonly SealedPart: record.SealedPart
  readonly CancelReceipt: controlRecord.CancelReceipt
  readonly RequestRef: controlRecord.RequestRef
  readonly RunOutcome: controlRecord.RunOutcome
  readonly CheckpointFile: controlRecord.CheckpointFile
  readonly ChildLink: controlRecord.ChildLink
  readonly OmPointer: controlRecord.OmPointer
  readonly QueueItem: controlRecord.QueueItem
  readonly ControlRecord: controlRecord.ControlRecord
  readonly LogRecord: record.LogRecord
  readonly RecordBody: record.RecordBody
  readonly AppendTextOp: op.AppendTextOp
  readonly DeltaFrame: op.DeltaFrame
  readonly StoredHead: storedHead.StoredHead
  readonly NotedDefinition: head.NotedDefinition
  readonly LastRun: head.LastRun
  readonly Op: op.Op
  readonly Path: op.Path
  readonly QueuedItem: head.QueuedItem
  readonly RemoveOp: op.RemoveOp
  readonly StoredRunState: storedHead.StoredRunState
  readonly SetOp: op.SetOp
  readonly ViewSnapshot: view.ViewSnapshot
  readonly CommandKey: store.CommandKey
  readonly CommandRow: store.CommandRow
  readonly Fence: store.Fence
  readonly Owner: store.Owner
  readonly StreamStatus: store.StreamStatus
  readonly ThreadInfo: store.ThreadInfo
  readonly WaitRow: store.WaitRow
  readonly Capabilities: driver.Capabilities
  readonly Turn: driver.Turn
  readonly TurnDefaults: driver.TurnDefaults
  readonly TurnOutput: driver.TurnOutput
  readonly Budget: driver.Budget
  readonly HarnessMessageContent: wireForm.Wire<harnessContent.HarnessMessageContent>
  readonly HarnessMessage: wireForm.Wire<harnessMessage.HarnessMessage>
  readonly HarnessThread: wireForm.Wire<harnessThread.HarnessThread>
  readonly TokenUsage: wireForm.Wire<harnessMessage.TokenUsage>
  readonly HarnessDisplayState: wireForm.Wire<displayState.HarnessDisplayState>
  readonly ConversationEvent: wireForm.Wire<harnessEventConversation.ConversationEvent>
  readonly SubagentEvent: wireForm.Wire<harnessEventSubagent.SubagentEvent>
  readonly ToolEvent: wireForm.Wire<harnessEventTool.ToolEvent>
  readonly WorkspaceEvent: wireForm.Wire<harnessEventWorkspace.WorkspaceEvent>
  readonly MemoryEvent: wireForm.Wire<harnessEventMemory.MemoryEvent>
  readonly ContentEvent: wireForm.Wire<harnessEventContent.ContentEvent>
  readonly WireEvent: harnessEvent.WireEvent
  readonly ChatEvent: wireForm.Wire<chatEvent.ChatEvent>
  readonly ChatMessagePart: wireForm.Wire<chatMessage.ChatMessagePart>
  readonly ChatMessage: wireForm.Wire<chatMessage.ChatMessage>
  readonly AgentConfig: AgentConfigJson
  readonly McpServerInfo: wireForm.Wire<mcp.McpServerInfo>
  readonly McpToolInfo: wireForm.Wire<mcp.McpToolInfo>
  readonly Model: agentConfig.Model
  readonly ToolDefinition: wireForm.Wire<agentConfig.ToolDefinition>
  readonly ApproveCommand: command.ApproveCommand
  readonly CancelCommand: command.CancelCommand
  readonly CommandAttachment: command.CommandAttachment
  readonly Command: command.Command
  readonly ConfigureCommand: command.ConfigureCommand
  readonly DenyCommand: command.DenyCommand
  readonly Expectation: command.Expectation
  readonly ResumeCommand: command.ResumeCommand
  readonly RewindCommand: command.RewindCommand
  readonly AnswerCommand: command.AnswerCommand
  readonly DeleteCommand: command.DeleteCommand
  readonly EditQueuedCommand: command.EditQueuedCommand
  readonly FollowUpCommand: command.FollowUpCommand
  readonly ForkCommand: command.ForkCommand
  readonly ModeCommand: command.ModeCommand
  readonly ModelCommand: command.ModelCommand
  readonly MoveQueuedCommand: command.MoveQueuedCommand
  readonly RemoveQueuedCommand: command.RemoveQueuedCommand
  readonly RenameCommand: command.RenameCommand
  readonly RevokeCommand: command.RevokeCommand
  readonly RuntimeConfig: command.RuntimeConfig
  readonly SteerCommand: command.SteerCommand
  readonly SubmitCommand: command.SubmitCommand
  readonly ClientHello: wire.ClientHello
  readonly ClientMessage: wire.ClientMessage
  readonly CommandsMessage: wire.CommandsMessage
  readonly DeltaMessage: wire.DeltaMessage
  readonly ErrorMessage: wire.ErrorMessage
  readonly HarnessState: harnessState.HarnessState
  readonly HarnessToolCall: wireCalls.HarnessToolCall
  readonly HelloMessage: wire.HelloMessage
  readonly PendingApproval: harnessState.PendingApproval
  readonly RewindNote: harnessState.RewindNote
  readonly ShownConfig: shownConfig.ShownConfig
  readonly ShownSetting: shownConfig.ShownSetting
  readonly PingMessage: wire.PingMessage
  readonly ReceiptMessage: wire.ReceiptMessage
  readonly ServerMessage: wire.ServerMessage
  readonly SnapshotMessage: wire.SnapshotMessage
  readonly StateMessage: wire.StateMessage
  readonly WireAttachment: harnessState.WireAttachment
  readonly WireMessage: harnessState.WireMessage
}

/** Types and schemas of control records follow from one definition. */
type Checked = Exclude<SchemaName, keyof ControlSchemas>

/** Ignores `readonly`: our types are readonly throughout, parsed values need not be. */
type Differing = {
  [Name in Checked]: Same<z.output<ProtocolSchemas[Name]>, Expected[Name]> extends true ? never : Name
}[Checked]

suite('schema and type', () => {
  test('are the same for every schema, and every line represents a schema', () => {
    const noneDiffers: Same<Differing, never> = true
    const noneIsLeftOver: Same<Exclude<keyof Expected, Checked>, never> = true
    assert.ok(noneDiffers && noneIsLeftOver)
  })
})
