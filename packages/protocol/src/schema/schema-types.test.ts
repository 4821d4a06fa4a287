import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { z } from 'zod'
import type * as protocol from '../index.ts'
import type { AgentConfigJson } from './agent-config.ts'
import type { Same } from './exact.ts'
import type { ProtocolSchemas, SchemaName } from './schemas.ts'

/** The type each schema has to parse. A new schema does not compile until it is listed here. */
interface Expected {
  readonly JsonObject: protocol.JsonObject
  readonly JsonValue: protocol.JsonValue
  readonly BlobRef: protocol.BlobRef
  readonly ErrorData: protocol.ErrorData
  readonly FinishReason: protocol.FinishReason
  readonly UsageIncrement: protocol.UsageIncrement
  readonly UsageMetadata: protocol.UsageMetadata
  readonly UsageTotals: protocol.UsageTotals
  readonly ActivityEvent: protocol.ActivityEvent
  readonly ActivityNote: protocol.ActivityNote
  readonly AgentActivity: protocol.AgentActivity
  readonly CommandActivity: protocol.CommandActivity
  readonly ErrorActivity: protocol.ErrorActivity
  readonly ListActivity: protocol.ListActivity
  readonly OrchestrationActivity: protocol.OrchestrationActivity
  readonly ReadActivity: protocol.ReadActivity
  readonly SearchActivity: protocol.SearchActivity
  readonly SkillActivity: protocol.SkillActivity
  readonly UnknownActivity: protocol.UnknownActivity
  readonly WarningActivity: protocol.WarningActivity
  readonly WriteActivity: protocol.WriteActivity
  readonly AgentEvent: protocol.AgentEvent
  readonly ErrorEvent: protocol.ErrorEvent
  readonly EventMeta: protocol.EventMeta
  readonly FileEvent: protocol.FileEvent
  readonly FinishEvent: protocol.FinishEvent
  readonly NativeRef: protocol.NativeRef
  readonly ReasoningDeltaEvent: protocol.ReasoningDeltaEvent
  readonly StartEvent: protocol.StartEvent
  readonly StepFinishEvent: protocol.StepFinishEvent
  readonly StepStartEvent: protocol.StepStartEvent
  readonly TextDeltaEvent: protocol.TextDeltaEvent
  readonly ToolAnnotations: protocol.ToolAnnotations
  readonly ToolApprovalRequestEvent: protocol.ToolApprovalRequestEvent
  readonly ToolCallDeltaEvent: protocol.ToolCallDeltaEvent
  readonly ToolCallEvent: protocol.ToolCallEvent
  readonly ToolCallInfo: protocol.ToolCallInfo
  readonly ToolProgressEvent: protocol.ToolProgressEvent
  readonly ToolResultEvent: protocol.ToolResultEvent
  readonly CallOutcome: protocol.CallOutcome
  readonly CallState: protocol.CallState
  readonly FilePart: protocol.FilePart
  readonly ImagePart: protocol.ImagePart
  readonly MessageRole: protocol.MessageRole
  readonly Part: protocol.Part
  readonly ReasoningPart: protocol.ReasoningPart
  readonly SignalPart: protocol.SignalPart
  readonly StoredMessage: protocol.StoredMessage
  readonly TextPart: protocol.TextPart
  readonly ToolCallPart: protocol.ToolCallPart
  readonly ToolResultPart: protocol.ToolResultPart
  readonly Answer: protocol.Answer
  readonly Binding: protocol.Binding
  readonly Goal: protocol.Goal
  readonly Grants: protocol.Grants
  readonly LineageRange: protocol.LineageRange
  readonly StoredLineage: protocol.StoredLineage
  readonly PatternRule: protocol.PatternRule
  readonly PermissionRules: protocol.PermissionRules
  readonly Policy: protocol.Policy
  readonly TaskItem: protocol.TaskItem
  readonly ToolCategory: protocol.ToolCategory
  readonly WaitCancelReason: protocol.WaitCancelReason
  readonly WaitRequest: protocol.WaitRequest
  readonly Wait: protocol.Wait
  readonly WaitState: protocol.WaitState
  readonly WaitSubject: protocol.WaitSubject
  readonly BatchEvent: protocol.BatchEvent
  readonly BatchRecord: protocol.BatchRecord
  readonly CallStartedRecord: protocol.CallStartedRecord
  readonly PartAddress: protocol.PartAddress
  readonly ProcessNote: protocol.ProcessNote
  readonly RecordedFile: protocol.RecordedFile
  readonly RecordedToolResult: protocol.RecordedToolResult
  readonly SealedPart: protocol.SealedPart
  readonly CancelReceipt: protocol.CancelReceipt
  readonly MessageAddedRecord: protocol.MessageAddedRecord
  readonly MessageEndedRecord: protocol.MessageEndedRecord
  readonly MessageStartedRecord: protocol.MessageStartedRecord
  readonly RequestRef: protocol.RequestRef
  readonly RunCancelledRecord: protocol.RunCancelledRecord
  readonly RunEndedRecord: protocol.RunEndedRecord
  readonly RunOutcome: protocol.RunOutcome
  readonly RunParkedRecord: protocol.RunParkedRecord
  readonly RunResumedRecord: protocol.RunResumedRecord
  readonly RunStartedRecord: protocol.RunStartedRecord
  readonly StepEndedRecord: protocol.StepEndedRecord
  readonly StepStartedRecord: protocol.StepStartedRecord
  readonly TurnEndedRecord: protocol.TurnEndedRecord
  readonly TurnProcessRecord: protocol.TurnProcessRecord
  readonly TurnStartedRecord: protocol.TurnStartedRecord
  readonly BindingChangedRecord: protocol.BindingChangedRecord
  readonly BindingRemovedRecord: protocol.BindingRemovedRecord
  readonly CheckpointMadeRecord: protocol.CheckpointMadeRecord
  readonly ConfigChangedRecord: protocol.ConfigChangedRecord
  readonly ErasedRecord: protocol.ErasedRecord
  readonly ForkRecord: protocol.ForkRecord
  readonly NoteRecord: protocol.NoteRecord
  readonly OmCommittedRecord: protocol.OmCommittedRecord
  readonly OmPointer: protocol.OmPointer
  readonly QueueAddedRecord: protocol.QueueAddedRecord
  readonly QueueHeldRecord: protocol.QueueHeldRecord
  readonly QueueItem: protocol.QueueItem
  readonly QueueRemovedRecord: protocol.QueueRemovedRecord
  readonly RewindRecord: protocol.RewindRecord
  readonly TasksChangedRecord: protocol.TasksChangedRecord
  readonly WaitAnsweredRecord: protocol.WaitAnsweredRecord
  readonly WaitCancelledRecord: protocol.WaitCancelledRecord
  readonly WaitOpenedRecord: protocol.WaitOpenedRecord
  readonly WaitSupersededRecord: protocol.WaitSupersededRecord
  readonly ControlRecord: protocol.ControlRecord
  readonly LogRecord: protocol.LogRecord
  readonly RecordBody: protocol.RecordBody
  readonly AppendTextOp: protocol.AppendTextOp
  readonly DeltaFrame: protocol.DeltaFrame
  readonly StoredHead: protocol.StoredHead
  readonly NotedDefinition: protocol.NotedDefinition
  readonly LastRun: protocol.LastRun
  readonly Op: protocol.Op
  readonly Path: protocol.Path
  readonly QueuedItem: protocol.QueuedItem
  readonly RemoveOp: protocol.RemoveOp
  readonly StoredRunState: protocol.StoredRunState
  readonly SetOp: protocol.SetOp
  readonly ViewSnapshot: protocol.ViewSnapshot
  readonly CommandKey: protocol.CommandKey
  readonly CommandRow: protocol.CommandRow
  readonly Fence: protocol.Fence
  readonly Owner: protocol.Owner
  readonly StreamStatus: protocol.StreamStatus
  readonly ThreadInfo: protocol.ThreadInfo
  readonly WaitRow: protocol.WaitRow
  readonly Capabilities: protocol.Capabilities
  readonly Turn: protocol.Turn
  readonly TurnDefaults: protocol.TurnDefaults
  readonly TurnOutput: protocol.TurnOutput
  readonly Budget: protocol.Budget
  readonly HarnessMessageContent: protocol.Wire<protocol.HarnessMessageContent>
  readonly HarnessMessage: protocol.Wire<protocol.HarnessMessage>
  readonly HarnessThread: protocol.Wire<protocol.HarnessThread>
  readonly TokenUsage: protocol.Wire<protocol.TokenUsage>
  readonly HarnessDisplayState: protocol.Wire<protocol.HarnessDisplayState>
  readonly ConversationEvent: protocol.Wire<protocol.ConversationEvent>
  readonly SubagentEvent: protocol.Wire<protocol.SubagentEvent>
  readonly ToolEvent: protocol.Wire<protocol.ToolEvent>
  readonly WorkspaceEvent: protocol.Wire<protocol.WorkspaceEvent>
  readonly MemoryEvent: protocol.Wire<protocol.MemoryEvent>
  readonly ContentEvent: protocol.Wire<protocol.ContentEvent>
  readonly WireEvent: protocol.WireEvent
  readonly ChatEvent: protocol.Wire<protocol.ChatEvent>
  readonly ChatMessagePart: protocol.Wire<protocol.ChatMessagePart>
  readonly ChatMessage: protocol.Wire<protocol.ChatMessage>
  readonly AgentConfig: AgentConfigJson
  readonly McpServerInfo: protocol.Wire<protocol.McpServerInfo>
  readonly McpToolInfo: protocol.Wire<protocol.McpToolInfo>
  readonly Model: protocol.Model
  readonly ToolDefinition: protocol.Wire<protocol.ToolDefinition>
  readonly ApproveCommand: protocol.ApproveCommand
  readonly CancelCommand: protocol.CancelCommand
  readonly CommandAttachment: protocol.CommandAttachment
  readonly Command: protocol.Command
  readonly ConfigureCommand: protocol.ConfigureCommand
  readonly DenyCommand: protocol.DenyCommand
  readonly Expectation: protocol.Expectation
  readonly ResumeCommand: protocol.ResumeCommand
  readonly RewindCommand: protocol.RewindCommand
  readonly RuntimeConfig: protocol.RuntimeConfig
  readonly SteerCommand: protocol.SteerCommand
  readonly SubmitCommand: protocol.SubmitCommand
  readonly ClientHello: protocol.ClientHello
  readonly ClientMessage: protocol.ClientMessage
  readonly CommandsMessage: protocol.CommandsMessage
  readonly DeltaMessage: protocol.DeltaMessage
  readonly ErrorMessage: protocol.ErrorMessage
  readonly HarnessState: protocol.HarnessState
  readonly HarnessToolCall: protocol.HarnessToolCall
  readonly HelloMessage: protocol.HelloMessage
  readonly PendingApproval: protocol.PendingApproval
  readonly ReceiptMessage: protocol.ReceiptMessage
  readonly ServerMessage: protocol.ServerMessage
  readonly SnapshotMessage: protocol.SnapshotMessage
  readonly StateMessage: protocol.StateMessage
  readonly WireAttachment: protocol.WireAttachment
  readonly WireMessage: protocol.WireMessage
}

/** Ignores `readonly`: our types are readonly throughout, parsed values need not be. */
type Differing = {
  [Name in SchemaName]: Same<z.output<ProtocolSchemas[Name]>, Expected[Name]> extends true ? never : Name
}[SchemaName]

suite('schema and type', () => {
  test('are the same for every schema, and every line stands for a schema', () => {
    const noneDiffers: Same<Differing, never> = true
    const noneIsLeftOver: Same<Exclude<keyof Expected, SchemaName>, never> = true
    assert.ok(noneDiffers && noneIsLeftOver)
  })
})
