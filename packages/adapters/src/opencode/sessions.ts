import { existsSync } from 'node:fs'
import { InspanError, type JsonObject, type JsonValue, type Part } from '@inspan/protocol'
import type { NativeMessage, NativeSessions } from '@inspan/protocol/driver'
import { asArray, asNumber, asObject, asText, NO_FIELDS } from '../kit/fields.ts'
import { askProgram } from '../launch/ask-program.ts'
import type { CliFinder } from '../launch/cli-finder.ts'
import type { Environment } from '../launch/find-cli.ts'
import { callPart, noSession, resultPart, textPart, titleOf } from '../launch/session-files.ts'
import type { Flavour } from './flavour.ts'

const DEADLINE_MS = 120_000

/** Sessions are in a database, so the program is asked for them. */
export function opencodeSessions(
  flavour: Pick<Flavour, 'profile' | 'prefix' | 'env'>,
  env: Environment,
  find: CliFinder['find'],
): NativeSessions {
  const ask = async (folder: string, ...args: readonly string[]): Promise<JsonValue> => {
    const { path } = await find()
    const asked = { ...env, ...flavour.env, PWD: folder, [`${flavour.prefix}_DISABLE_AUTOUPDATE`]: '1' }
    const answer = await askProgram({ command: path, args, cwd: folder, env: asked, deadlineMs: DEADLINE_MS })
    // Nothing is printed if there are none.
    return answer.trim() === '' ? [] : (JSON.parse(answer) as JsonValue)
  }
  return {
    list: async (folder) => {
      // The program runs in the folder.
      if (!existsSync(folder)) return []
      const listed = asArray(await ask(folder, 'session', 'list', '--format', 'json')) ?? []
      return listed
        .flatMap((item) => {
          const { id, title, updated, directory } = asObject(item) ?? NO_FIELDS
          const [name, at, cwd] = [asText(id), asNumber(updated), asText(directory)]
          if (name === undefined || at === undefined || cwd !== folder) return []
          return [{ id: name, title: titleOf(asText(title) ?? ''), updatedAt: at, cwd }]
        })
        .toSorted((a, b) => b.updatedAt - a.updatedAt)
    },
    read: async function* (id, folder) {
      // An id that is none could be an option.
      if (!/^ses_\w+$/.test(id)) throw noSession(flavour.profile.title, id, folder)
      const session = asObject(
        await ask(folder, 'export', id).catch((error: unknown) => {
          throw InspanError.is(error, 'io') ? noSession(flavour.profile.title, id, folder) : error
        }),
      )
      for (const message of asArray(session?.['messages']) ?? []) yield* messagesOf(asObject(message) ?? NO_FIELDS)
    },
  }
}

/** A call and its result are one part of OpenCode, and a message each of ours. */
function messagesOf(message: JsonObject): readonly NativeMessage[] {
  const info = asObject(message['info']) ?? NO_FIELDS
  const role = info['role']
  if (role !== 'user' && role !== 'assistant') return []
  const said: Part[] = []
  const results: Part[] = []
  for (const [index, part] of (asArray(message['parts']) ?? []).entries()) {
    const fields = asObject(part) ?? NO_FIELDS
    const text = asText(fields['text'])
    if (fields['type'] === 'text' && text !== undefined && fields['synthetic'] !== true)
      said.push(textPart(index, text))
    const callId = asText(fields['callID'])
    if (fields['type'] !== 'tool' || callId === undefined) continue
    const name = asText(fields['tool']) ?? ''
    const state = asObject(fields['state']) ?? NO_FIELDS
    said.push(callPart(index, callId, name, asObject(state['input']) ?? NO_FIELDS))
    const isError = state['status'] === 'error'
    results.push(resultPart(index, callId, name, state[isError ? 'error' : 'output'] ?? '', isError))
  }
  const id = asText(info['id'])
  const at = asNumber(asObject(info['time'])?.['created'])
  const of = { ...(id === undefined ? {} : { id }), ...(at === undefined ? {} : { at }) }
  const all: readonly NativeMessage[] = [
    { ...of, role, parts: said },
    { ...of, role: 'user', parts: results },
  ]
  return all.filter(({ parts }) => parts.length > 0)
}
