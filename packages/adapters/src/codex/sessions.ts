import { homedir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@inspan/protocol'
import type { NativeMessage, NativeSessions } from '@inspan/protocol/driver'
import { asArray, asObject, asText, NO_FIELDS } from '../kit/fields.ts'
import { parseRecord } from '../kit/json-line.ts'
import type { Environment } from '../launch/find-cli.ts'
import { callPart, resultPart, sessionsInFiles, textPart, timeOf } from '../launch/session-files.ts'
import { codexProfile } from './profile.ts'

/** What Codex tells the model as a user begins with one of these. */
const OWN_WORDS = /^<(?:environment_context|user_instructions|skills_instructions|turn_aborted)\b|^# AGENTS\.md/

/** Sessions are below `sessions`, by day, one file for each; the directory is in its first record. */
export function codexSessions(env: Environment): NativeSessions {
  const root = env['CODEX_HOME'] ?? join(env['HOME'] ?? homedir(), '.codex')
  return sessionsInFiles(
    {
      directories: () => [{ path: join(root, 'sessions'), isDeep: true }],
      idOf: (name) => /^rollout-.*-([0-9a-f]{8}-[0-9a-f-]{27})\.jsonl$/.exec(name)?.[1],
      factsOf: (record) => {
        const [part] = messageOf(record)?.parts ?? []
        const isMeta = record['type'] === 'session_meta'
        return {
          cwd: isMeta ? asText(asObject(record['payload'])?.['cwd']) : undefined,
          title: part?.type === 'text' ? part.text : undefined,
        }
      },
      messageOf,
    },
    codexProfile.title,
  )
}

function messageOf(record: JsonObject): NativeMessage | undefined {
  if (record['type'] !== 'response_item') return undefined
  const item = asObject(record['payload']) ?? NO_FIELDS
  const id = asText(item['id'])
  const of = { ...(id === undefined ? {} : { id }), ...timeOf(record['timestamp']) }
  const callId = asText(item['call_id'])
  switch (item['type']) {
    case 'message': {
      const role = item['role']
      if (role !== 'user' && role !== 'assistant') return undefined
      const texts = (asArray(item['content']) ?? []).flatMap((block) => asText(asObject(block)?.['text']) ?? [])
      const said = role === 'user' ? texts.filter((text) => !OWN_WORDS.test(text)) : texts
      return { ...of, role, parts: said.map((text, index) => textPart(index, text)) }
    }
    case 'function_call':
    case 'custom_tool_call': {
      if (callId === undefined) return undefined
      const text = asText(item['arguments']) ?? asText(item['input']) ?? ''
      const args = parseRecord(text) ?? { input: text }
      return { ...of, role: 'assistant', parts: [callPart(0, callId, asText(item['name']) ?? '', args)] }
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      if (callId === undefined) return undefined
      return { ...of, role: 'user', parts: [resultPart(0, callId, '', item['output'] ?? '')] }
    default:
      return undefined
  }
}
