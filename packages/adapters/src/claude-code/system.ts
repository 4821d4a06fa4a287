import type { JsonObject } from '@inspan/protocol'
import { asInteger, asText, firstText } from '../kit/fields.ts'
import type { Run } from '../kit/mapper.ts'
import type { Tasks } from './tasks.ts'

/** Reads `system` records: lifecycle, retries, tasks, hooks, permissions. A subtype that is not listed is `unknown`. */
export function readSystem(record: JsonObject, run: Run, tasks: Tasks): void {
  switch (record['subtype']) {
    case 'init':
      run.directory(asText(record['cwd']))
      run.consume('lifecycle')
      return
    case 'status':
    case 'compact_boundary':
    case 'thinking_tokens':
    case 'background_tasks_changed':
    case 'session_state_changed':
      run.consume('lifecycle')
      return
    case 'api_retry':
      run.warn(retryMessage(record), asText(record['error']))
      return
    case 'task_started':
      tasks.started(record)
      return
    case 'task_progress':
    case 'task_updated':
      tasks.updated(record)
      return
    case 'task_notification':
      tasks.notified(record)
      return
    case 'permission_denied':
      run.warn(denialMessage(record), asText(record['decision_reason_type']))
      return
    case 'hook_started':
    case 'hook_progress':
      run.consume('hook')
      return
    case 'hook_response':
      readHook(record, run)
      return
    case 'model_fallback':
    case 'model_refusal_fallback':
    case 'model_consent_fallback':
      run.warn(asText(record['content']) ?? fallbackMessage(record), asText(record['trigger']) ?? record['subtype'])
      return
    case 'notification':
      readNotification(record, run)
      return
    case 'informational':
      readInformation(record, run)
  }
}

/** A safety stop is reported as a mere notice, although it cuts an answer off. */
function readInformation(record: JsonObject, run: Run): void {
  const content = asText(record['content']) ?? 'The program warns without saying of what.'
  const { level } = record
  if (level === 'warning' || level === 'error') run.warn(content, asText(record['tag']))
  else if (/\bsafeguards? stopped\b/i.test(content)) run.warn(content, asText(record['tag']) ?? 'safety-stop')
  else run.consume('informational')
}

function retryMessage(record: JsonObject): string {
  const attempt = asInteger(record['attempt'])
  const most = asInteger(record['max_retries'])
  const status = asInteger(record['error_status'])
  const count = attempt === undefined ? '' : ` (retry ${attempt}${most === undefined ? '' : ` of ${most}`})`
  const cause = status === undefined ? 'the connection was lost' : `the provider answered ${status}`
  return `The model call is retried: ${cause}${count}`
}

function denialMessage(record: JsonObject): string {
  const tool = asText(record['tool_name'])
  return asText(record['message']) ?? `${tool ?? 'A tool'} was not permitted.`
}

function fallbackMessage(record: JsonObject): string {
  return `The model was changed to ${asText(record['fallback_model']) ?? 'another one'}.`
}

/** Reads what the CLI shows in the corner of its screen. Low and medium priority is no warning. */
function readNotification(record: JsonObject, run: Run): void {
  const text = asText(record['text'])
  if (text === undefined) return
  const { priority } = record
  if (priority === 'low' || priority === 'medium') run.consume('informational')
  else run.warn(text, asText(record['key']))
}

function readHook(record: JsonObject, run: Run): void {
  const outcome = asText(record['outcome'])
  if (outcome === undefined || outcome === 'success') {
    run.consume('hook')
    return
  }
  const name = firstText(record, 'hook_name', 'hook_event') ?? 'A hook'
  const output = firstText(record, 'stderr', 'output', 'stdout')
  run.warn(`${name}: ${output?.trim() ?? outcome}`, `hook-${outcome}`)
}
