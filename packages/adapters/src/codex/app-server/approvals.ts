import type { JsonObject, JsonValue } from '@inspan/protocol'
import { asArray, asObject, asText, NO_FIELDS } from '../../kit/fields.ts'
import { unwrapped } from '../../kit/unwrapped.ts'
import type { Ask, Verdict } from '../../live/asks.ts'
import type { NativeCall } from '../../live/tool-calls.ts'
import { workdirOf } from '../../live/workdir.ts'
import { callOfItem } from './items.ts'

/** A question of the CLI, and how to answer it in the CLI's terms. */
export interface ServerAsk extends Omit<Ask, 'key' | 'answer'> {
  readonly result: (verdict: Verdict) => JsonObject
}

/** Returns `undefined` if the CLI asks for something that we cannot provide. */
export function serverAsk(
  method: string,
  params: JsonObject,
  items: OpenItems,
  cwd: string | undefined,
): ServerAsk | undefined {
  switch (method) {
    case 'item/commandExecution/requestApproval':
      return commandAsk(params, cwd)
    case 'item/fileChange/requestApproval':
      return fileChangeAsk(params, items)
    case 'item/permissions/requestApproval':
      return permissionsAsk(params)
    case 'item/tool/requestUserInput':
      return userInputAsk(params)
    case 'mcpServer/elicitation/request':
      return asObject(params['_meta'])?.['codex_approval_kind'] === 'mcp_tool_call'
        ? mcpCallAsk(params, items)
        : elicitationAsk(params)
    default:
      return undefined
  }
}

/** Items that have started and not completed, for requests that name only an item or not even that. */
export class OpenItems {
  readonly #items = new Map<string, JsonObject>()

  note(item: JsonObject, isCompleted: boolean): void {
    const id = asText(item['id'])
    if (id === undefined) return
    if (isCompleted) this.#items.delete(id)
    else this.#items.set(id, item)
  }

  get(id: string): JsonObject | undefined {
    return this.#items.get(id)
  }

  /** Returns the MCP call with these arguments. */
  mcpCall(server: string | undefined, args: JsonValue | undefined): JsonObject | undefined {
    const wanted = JSON.stringify(args ?? {})
    const calls = [...this.#items.values()].filter(
      (item) => item['type'] === 'mcpToolCall' && item['server'] === server,
    )
    return calls.find((item) => JSON.stringify(item['arguments'] ?? {}) === wanted) ?? calls.at(0)
  }

  clear(): void {
    this.#items.clear()
  }
}

function decided(verdict: Verdict): JsonObject {
  // Always once: lasting grants are ours to keep.
  return { decision: verdict.isAllowed ? 'accept' : 'decline' }
}

/** `cwd`: the session's directory. The model may choose another one for a command. */
function commandAsk(params: JsonObject, cwd: string | undefined): ServerAsk {
  const network = asObject(params['networkApprovalContext'])
  const reason = asText(params['reason'])
  const command = scriptOf(asText(params['command']) ?? '')
  const kind = asText(params['kind'])
  const place = placeOf(params)
  const chosen = workdirOf(asText(params['cwd']), cwd)
  if (network !== undefined) {
    return {
      kind: 'access',
      call: { ...place, toolName: 'network_access', input: { ...network, command } },
      description: `Network access to ${asText(network['host']) ?? 'a host'}`,
      payload: reasonOf(reason),
      result: decided,
    }
  }
  return {
    kind: 'approval',
    call: {
      ...place,
      toolName: 'command_execution',
      input: {
        command,
        ...(kind === undefined || kind === 'command' ? {} : { kind }),
        ...(chosen === undefined ? {} : { cwd: chosen }),
      },
    },
    description: command,
    payload: reasonOf(reason),
    result: decided,
  }
}

const BARE_WORD = /^(?:\/(?:usr\/)?bin\/)?bash -l?c ([\w./-]+)$/

/** Removes the shell that wraps a command, if that is safe. */
function scriptOf(command: string): string {
  return BARE_WORD.exec(command)?.[1] ?? unwrapped(command)
}

/** The CLI asks about all files at once; rules are about each file. */
function fileChangeAsk(params: JsonObject, items: OpenItems): ServerAsk {
  const place = placeOf(params)
  const input = callOfItem(items.get(place.toolCallId) ?? NO_FIELDS)?.input ?? NO_FIELDS
  const changes = (asArray(input['changes']) ?? []).map((change) => asObject(change) ?? NO_FIELDS)
  const files = changes.map((change): NativeCall => ({
    ...place,
    toolName: 'file_change',
    input: change,
    as: changeOf(change),
  }))
  const [only, ...others] = files
  const isOne = only !== undefined && others.length === 0
  return {
    kind: 'approval',
    call: {
      ...place,
      toolName: 'file_change',
      input,
      as: isOne ? changeOf(only.input) : { toolName: 'edit_file', args: input },
    },
    ...(isOne ? {} : { parts: files }),
    description: `Change ${changes.map((change) => asText(change['path']) ?? '?').join(', ')}`,
    payload: { ...reasonOf(asText(params['reason'])), changes },
    result: decided,
  }
}

function changeOf({ path = null, kind, diff = null }: JsonObject): NonNullable<NativeCall['as']> {
  return kind === 'add'
    ? { toolName: 'write_file', args: { path, content: diff } }
    : { toolName: 'edit_file', args: { path, kind: kind ?? null, diff } }
}

function permissionsAsk(params: JsonObject): ServerAsk {
  const asked = asObject(params['permissions']) ?? NO_FIELDS
  const permissions = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== null))
  return {
    kind: 'access',
    call: { ...placeOf(params), toolName: 'request_permissions', input: permissions },
    description: asText(params['reason']) ?? 'Further permissions',
    payload: { permissions },
    result: (verdict) => ({ permissions: verdict.isAllowed ? permissions : {}, scope: 'turn' }),
  }
}

function mcpCallAsk(params: JsonObject, items: OpenItems): ServerAsk {
  const server = asText(params['serverName'])
  const meta = asObject(params['_meta']) ?? NO_FIELDS
  const item = items.mcpCall(server, meta['tool_params'])
  const call = callOfItem(item ?? NO_FIELDS)
  return {
    kind: 'approval',
    call: {
      toolCallId: asText(item?.['id']) ?? '',
      toolName: call?.name ?? `mcp__${server ?? ''}`,
      input: call?.input ?? asObject(meta['tool_params']) ?? NO_FIELDS,
      ...(server === undefined ? {} : { serverName: server }),
    },
    description: asText(params['message']) ?? `A tool of ${server ?? 'an MCP server'}`,
    result: (verdict) => elicited(verdict.isAllowed ? {} : undefined),
  }
}

/** A question by an MCP server. */
function elicitationAsk(params: JsonObject): ServerAsk {
  const server = asText(params['serverName'])
  const schema = asObject(params['requestedSchema'])
  const url = asText(params['url'])
  return {
    kind: 'question',
    call: {
      toolCallId: '',
      toolName: `mcp__${server ?? ''}`,
      input: { message: params['message'] ?? null, ...(url === undefined ? {} : { url }) },
      ...(server === undefined ? {} : { serverName: server }),
    },
    description: asText(params['message']) ?? `${server ?? 'An MCP server'} asks for something.`,
    payload: { ...(schema === undefined ? {} : { schema }), ...(url === undefined ? {} : { url }) },
    ...(schema === undefined ? {} : { answerSchema: JSON.stringify(schema) }),
    result: (verdict) => elicited(verdict.isAllowed ? (asObject(verdict.value) ?? {}) : undefined),
  }
}

function elicited(content: JsonObject | undefined): JsonObject {
  return { action: content === undefined ? 'decline' : 'accept', content: content ?? null, _meta: null }
}

function userInputAsk(params: JsonObject): ServerAsk {
  const questions = (asArray(params['questions']) ?? []).map((question) => asObject(question) ?? NO_FIELDS)
  return {
    kind: 'question',
    call: { ...placeOf(params), toolName: 'request_user_input', input: { questions } },
    description: questions.map((question) => asText(question['question']) ?? '').join(' '),
    payload: { questions },
    result: (verdict) => ({ answers: verdict.isAllowed ? answersOf(questions, verdict.value) : {} }),
  }
}

function answersOf(questions: readonly JsonObject[], value: JsonValue | undefined): JsonObject {
  const byName = asObject(value)
  return Object.fromEntries(
    questions.map((question) => {
      const id = asText(question['id']) ?? ''
      const answer = byName === undefined ? value : (byName[id] ?? byName[asText(question['question']) ?? ''])
      const answers = asArray(answer) ?? (answer === undefined || answer === null ? [] : [answer])
      return [id, { answers: answers.map((item) => (typeof item === 'string' ? item : JSON.stringify(item))) }]
    }),
  )
}

function placeOf(params: JsonObject): Omit<NativeCall, 'toolName' | 'input'> {
  return { toolCallId: asText(params['itemId']) ?? '' }
}

function reasonOf(reason: string | undefined): JsonObject {
  return reason === undefined ? {} : { reason }
}
