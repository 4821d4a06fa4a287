import { homedir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject, Part } from '@inspan/protocol'
import type { NativeMessage, NativeSessions } from '@inspan/protocol/driver'
import { asArray, asObject, asText, NO_FIELDS } from '../kit/fields.ts'
import type { Environment } from '../launch/find-cli.ts'
import { callPart, resultPart, sessionsInFiles, textPart, timeOf } from '../launch/session-files.ts'
import { piProfile } from './profile.ts'

/** Returns the directory below which Pi keeps its sessions. */
export function piSessionRoot(env: Environment): string {
  const root = env['PI_CODING_AGENT_DIR'] ?? join(env['HOME'] ?? homedir(), '.pi', 'agent')
  return env['PI_CODING_AGENT_SESSION_DIR'] ?? join(root, 'sessions')
}

/** Sessions are one file each, with the directory in the first record. A session with branches is read as it was written. */
export function piSessions(env: Environment): NativeSessions {
  return sessionsInFiles(
    {
      directories: () => [{ path: piSessionRoot(env), isDeep: true }],
      idOf: (name) => /_([0-9a-f-]{36})\.jsonl$/.exec(name)?.[1],
      factsOf: (record) => {
        const said = messageOf(record)
        const [part] = said?.role === 'user' ? said.parts : []
        return {
          cwd: record['type'] === 'session' ? asText(record['cwd']) : undefined,
          title: part?.type === 'text' ? part.text : undefined,
        }
      },
      messageOf,
    },
    piProfile.title,
  )
}

function messageOf(record: JsonObject): NativeMessage | undefined {
  if (record['type'] !== 'message') return undefined
  const message = asObject(record['message']) ?? NO_FIELDS
  const id = asText(record['id'])
  const of = { ...(id === undefined ? {} : { id }), ...timeOf(record['timestamp']) }
  const callId = asText(message['toolCallId'])
  switch (message['role']) {
    case 'user':
    case 'assistant':
      return { ...of, role: message['role'], parts: partsOf(message) }
    case 'toolResult': {
      if (callId === undefined) return undefined
      const name = asText(message['toolName']) ?? ''
      const result = message['content'] ?? ''
      return { ...of, role: 'user', parts: [resultPart(0, callId, name, result, message['isError'] === true)] }
    }
    default:
      return undefined
  }
}

function partsOf(message: JsonObject): readonly Part[] {
  const text = asText(message['content'])
  if (text !== undefined) return [textPart(0, text)]
  return (asArray(message['content']) ?? []).flatMap((block, index): readonly Part[] => {
    const fields = asObject(block) ?? NO_FIELDS
    const id = asText(fields['id'])
    if (fields['type'] === 'text') return [textPart(index, asText(fields['text']) ?? '')]
    if (fields['type'] !== 'toolCall' || id === undefined) return []
    return [callPart(index, id, asText(fields['name']) ?? '', asObject(fields['arguments']) ?? NO_FIELDS)]
  })
}
