import { homedir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject, JsonValue, Part } from '@inspan/protocol'
import type { NativeSessions } from '@inspan/protocol/driver'
import { asArray, asObject, asText, NO_FIELDS } from '../kit/fields.ts'
import type { Environment } from '../launch/find-cli.ts'
import { callPart, resultPart, sessionsInFiles, textPart, timeOf } from '../launch/session-files.ts'
import { claudeCodeProfile } from './profile.ts'

/** Sessions are below `projects`, in a folder named after the directory, one file for each. */
export function claudeSessions(env: Environment): NativeSessions {
  const root = env['CLAUDE_CONFIG_DIR'] ?? join(env['HOME'] ?? homedir(), '.claude')
  return sessionsInFiles(
    {
      directories: (folder) => [{ path: join(root, 'projects', folder.replaceAll(/[^a-zA-Z0-9]/g, '-')) }],
      idOf: (name) => /^([0-9a-f-]{36})\.jsonl$/.exec(name)?.[1],
      factsOf: (record) => ({
        cwd: asText(record['cwd']),
        title: asText(record['summary']) ?? asText(record['aiTitle']) ?? promptOf(record),
      }),
      messageOf: (record) => {
        const role = record['type']
        if ((role !== 'user' && role !== 'assistant') || isHidden(record)) return undefined
        const id = asText(record['uuid'])
        const parts = partsOf(asObject(record['message'])?.['content'])
        return { ...(id === undefined ? {} : { id }), role, ...timeOf(record['timestamp']), parts }
      },
    },
    claudeCodeProfile.title,
  )
}

/** Messages of subagents, and what the CLI tells the model by itself. */
function isHidden(record: JsonObject): boolean {
  return record['isSidechain'] === true || record['isMeta'] === true
}

function promptOf(record: JsonObject): string | undefined {
  if (record['type'] !== 'user' || isHidden(record)) return undefined
  const text = partsOf(asObject(record['message'])?.['content']).find((part) => part.type === 'text')
  return text?.type === 'text' ? text.text : undefined
}

function partsOf(content: JsonValue | undefined): readonly Part[] {
  const text = asText(content)
  if (text !== undefined) return [textPart(0, text)]
  return (asArray(content) ?? []).flatMap((block, index): readonly Part[] => {
    const fields = asObject(block) ?? NO_FIELDS
    const id = asText(fields['id']) ?? asText(fields['tool_use_id'])
    switch (fields['type']) {
      case 'text':
        return [textPart(index, asText(fields['text']) ?? '')]
      case 'tool_use':
        return id === undefined
          ? []
          : [callPart(index, id, asText(fields['name']) ?? '', asObject(fields['input']) ?? NO_FIELDS)]
      case 'tool_result':
        return id === undefined ? [] : [resultPart(index, id, '', fields['content'] ?? '', fields['is_error'] === true)]
      default:
        return []
    }
  })
}
