import type { ContentBlock, PlanEntry, SessionUpdate, ToolCallContent, ToolKind } from '@agentclientprotocol/sdk'
import type { HarnessEvent, HarnessMessage, HarnessMessageContent, TaskItem } from '@inspan/core'

/** How much of the output of a command at work is shown. The result has all of it. */
const MOST_PRINTED = 64 * 1024

/** Turns the events of a session into updates for the client. Remembers only which message is the agent's. */
export class UpdateMapper {
  #speaking: string | undefined
  readonly #announced = new Set<string>()
  /** What commands at work have printed: an update replaces the content of a call. */
  readonly #printed = new Map<string, string>()

  of(event: HarnessEvent): readonly SessionUpdate[] {
    switch (event.type) {
      case 'message_start':
        this.#speaking = event.message.role === 'assistant' ? event.message.id : undefined
        return []
      case 'text':
      case 'thinking':
      case 'image':
      case 'file':
        return event.messageId === this.#speaking ? messageContent(event, 'assistant') : []
      case 'tool_input_start':
        return this.#announce(event.toolCallId, event.toolName)
      case 'tool_start':
        return this.#toolStarted(event.toolCallId, event.toolName, event.args)
      case 'shell_output':
        return [progress(event.toolCallId, this.#print(event.toolCallId, event.output))]
      case 'tool_update':
        return [progress(event.toolCallId, textOf(event.partialResult))]
      case 'tool_end':
        this.#announced.delete(event.toolCallId)
        this.#printed.delete(event.toolCallId)
        return [toolEnded(event.toolCallId, event.result, event.isError)]
      case 'task_updated':
        return [planOf(event.tasks)]
      case 'mode_changed':
        return [{ sessionUpdate: 'current_mode_update', currentModeId: event.modeId }]
      default:
        return []
    }
  }

  #print(toolCallId: string, output: string): string {
    const printed = ((this.#printed.get(toolCallId) ?? '') + output).slice(-MOST_PRINTED)
    this.#printed.set(toolCallId, printed)
    return printed
  }

  #announce(toolCallId: string, name: string): readonly SessionUpdate[] {
    if (this.#announced.has(toolCallId)) return []
    this.#announced.add(toolCallId)
    return [{ sessionUpdate: 'tool_call', toolCallId, title: name, kind: toolKind(name), status: 'pending' }]
  }

  #toolStarted(toolCallId: string, name: string, args: unknown): readonly SessionUpdate[] {
    const call = {
      toolCallId,
      title: toolTitle(name, args),
      kind: toolKind(name),
      status: 'in_progress' as const,
      rawInput: args,
    }
    if (this.#announced.has(toolCallId)) return [{ sessionUpdate: 'tool_call_update', ...call }]
    this.#announced.add(toolCallId)
    return [{ sessionUpdate: 'tool_call', ...call }]
  }
}

/** Returns the updates that tell a client of a message that was recorded before. */
export function messageUpdates({ content, role }: HarnessMessage): readonly SessionUpdate[] {
  if (role === 'system') return []
  return content.flatMap((piece) => messageContent(piece, role))
}

export function planOf(tasks: readonly TaskItem[]): SessionUpdate {
  const entries = tasks.map(({ content, status }): PlanEntry => ({
    content,
    status,
    // Our tasks have no priorities, and the protocol has no value for that.
    priority: 'medium',
  }))
  return { sessionUpdate: 'plan', entries }
}

export function toolTitle(name: string, args: unknown): string {
  const subject = SUBJECTS.map((key) => fieldOf(args, key)).find((value) => typeof value === 'string')
  return subject === undefined ? name : `${name} ${subject}`
}

const SUBJECTS = ['command', 'path', 'file_path', 'pattern', 'query', 'url']

const KINDS: readonly (readonly [RegExp, ToolKind])[] = [
  [/^(?:grep|glob|find|search)|_search$/i, 'search'],
  [/^(?:delete|remove|rm)/i, 'delete'],
  [/^(?:move|rename|mv)/i, 'move'],
  [/^(?:write|edit|multiedit|apply_patch|patch|mkdir|notebookedit)/i, 'edit'],
  [/^(?:read|view|list|ls|file_stat|get_)/i, 'read'],
  [/^(?:execute|bash|shell|command|run|kill)/i, 'execute'],
  [/fetch|^web/i, 'fetch'],
  [/^(?:submit_plan|task_|todo)/i, 'think'],
]

export function toolKind(name: string): ToolKind {
  return KINDS.find(([pattern]) => pattern.test(name))?.[1] ?? 'other'
}

function messageContent(piece: HarnessMessageContent, role: 'user' | 'assistant'): readonly SessionUpdate[] {
  const sessionUpdate = role === 'user' ? 'user_message_chunk' : 'agent_message_chunk'
  switch (piece.type) {
    case 'text':
      return piece.text === '' ? [] : [{ sessionUpdate, content: { type: 'text', text: piece.text } }]
    case 'thinking':
      return piece.thinking === ''
        ? []
        : [{ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: piece.thinking } }]
    case 'image':
      return [{ sessionUpdate, content: imageBlock(piece) }]
    case 'file':
      return [{ sessionUpdate, content: fileBlock(piece) }]
    case 'tool_call': {
      const { args, id, name } = piece
      const call = { toolCallId: id, title: toolTitle(name, args), kind: toolKind(name), rawInput: args }
      return [{ sessionUpdate: 'tool_call', ...call, status: 'pending' }]
    }
    case 'tool_result':
      return [toolEnded(piece.id, piece.result, piece.isError)]
    default:
      return []
  }
}

function imageBlock({ data, mimeType, url }: Extract<HarnessMessageContent, { type: 'image' }>): ContentBlock {
  if (data !== '') return { type: 'image', data, mimeType }
  return url === undefined
    ? { type: 'text', text: `[image: ${mimeType}]` }
    : { type: 'resource_link', name: 'image', uri: url, mimeType }
}

/** Files that are kept as blobs are named: their contents are not part of the history. */
function fileBlock(file: Extract<HarnessMessageContent, { type: 'file' }>): ContentBlock {
  const { data, filename, mediaType: mimeType, url } = file
  const uri = url ?? filename ?? 'attachment'
  if (data === '') return { type: 'resource_link', name: filename ?? 'attachment', uri, mimeType }
  return { type: 'resource', resource: { uri, mimeType, blob: data } }
}

function progress(toolCallId: string, text: string): SessionUpdate {
  return { sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress', content: [textContent(text)] }
}

function toolEnded(toolCallId: string, result: unknown, isError: boolean): SessionUpdate {
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status: isError ? 'failed' : 'completed',
    content: [textContent(textOf(result))],
    rawOutput: result,
  }
}

function textContent(text: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text } }
}

/** Tools often return `{ content }`. Only its text is for people. */
function textOf(result: unknown): string {
  if (typeof result === 'string') return result
  const content = fieldOf(result, 'content')
  return typeof content === 'string' ? content : (JSON.stringify(result) ?? '')
}

export function fieldOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined
}
