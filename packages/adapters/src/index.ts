export { activityOf, type ActivityDraft, type MappedEvent, type NoteEvent } from './kit/activity.ts'
export type { Account, Ledger, LedgerSums } from './kit/ledger.ts'
export type { Dialect, Mapper, MapperOptions, RunEnd } from './kit/mapper.ts'
export { createMapper } from './kit/mapping.ts'
export { doctor, type DoctorRow } from './launch/doctor.ts'
export { findCli, hasKey, type Environment, type FindOptions, type FoundCli } from './launch/find-cli.ts'
export type { LaunchPlan, LaunchRequest } from './launch/launch-plan.ts'
export type { NativeSession } from './launch/native-session.ts'
export { normalize, Normalizer, type NormalizeOptions } from './launch/normalize.ts'
export type { PermissionLevel } from './launch/permissions.ts'
export { printDriver, type EndedRun, type PrintHarness, type PrintOptions } from './launch/print-driver.ts'
export type { PrivateFile } from './launch/private-dir.ts'
export { runRecordOf } from './launch/process-note.ts'
export type { CliProfile, LoginFile, StopWay } from './launch/profile.ts'
export { recordRun, type RecordOptions, type RunRecorder } from './launch/recording.ts'
export type { RunExitNote, RunHeader, RunNote, RunStop, RunWarning, StopReason } from './launch/run-note.ts'
export { antigravity, type AntigravityOptions } from './antigravity/driver.ts'
export { claudeCode, type ClaudeCodeAgentOptions } from './claude-code/agent.ts'
export { codex, type CodexAgentOptions } from './codex/agent.ts'
export {
  cline,
  goose,
  kiloCode,
  opencode,
  pi,
  type ClineAgentOptions,
  type GooseAgentOptions,
  type OpencodeAgentOptions,
  type PiAgentOptions,
} from './agents.ts'
export { acp, type AcpOptions } from './acp/driver.ts'
export { dialects, liveDialects } from './dialects.ts'
export { harnesses, type Harness } from './harnesses.ts'
