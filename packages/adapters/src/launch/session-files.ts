import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { InspanError, type JsonObject, type JsonValue, type Part } from '@inspan/protocol'
import type { NativeMessage, NativeSessionInfo, NativeSessions } from '@inspan/protocol/driver'
import { LineSplitter } from '@inspan/shell/run'
import { asText } from '../kit/fields.ts'
import { parseRecord } from '../kit/json-line.ts'

/** How a CLI keeps its sessions: one JSONL file for each. */
export interface SessionFiles {
  /** Directories that may hold sessions of the folder, and whether folders inside them are looked into. */
  directories(folder: string): readonly { readonly path: string; readonly isDeep?: boolean }[]
  /** Returns the session's id, from the name of its file. */
  idOf(fileName: string): string | undefined
  /** Reads one record for the list. Called with the first records of a file until both are known. */
  factsOf(record: JsonObject): { readonly cwd?: string | undefined; readonly title?: string | undefined }
  /** Reads one record as a message; `undefined` for other records. */
  messageOf(record: JsonObject): NativeMessage | undefined
}

/** The newest sessions are enough for people to choose from. */
const MAX_LISTED = 200
/** How many records of a file are read in search of its folder and title. */
const MAX_RECORDS = 60
const MAX_TITLE = 120

interface SessionFile {
  readonly id: string
  readonly path: string
  readonly updatedAt: number
}

/** Makes the sessions of a CLI from its files. Nothing is kept, and no file is read as a whole. */
export function sessionsInFiles(files: SessionFiles, title: string): NativeSessions {
  return {
    list: async (folder) => {
      const listed: NativeSessionInfo[] = []
      for (const file of await filesOf(files, folder)) {
        const info = await infoOf(files, file)
        if (info?.cwd === folder) listed.push(info)
        if (listed.length === MAX_LISTED) break
      }
      return listed
    },
    read: async function* (id, folder) {
      const found = (await filesOf(files, folder)).find((file) => file.id === id)
      if (found === undefined) throw noSession(title, id, folder)
      for await (const record of recordsOf(found.path)) {
        const message = files.messageOf(record)
        if (message !== undefined && message.parts.length > 0) yield message
      }
    },
  }
}

export function noSession(title: string, id: string, folder: string): InspanError {
  return new InspanError('not-found', `${title} has no session "${id}" in ${folder}.`, {
    hint: 'List its sessions to see their ids.',
  })
}

/** Returns the beginning of a text as a title of one line. */
export function titleOf(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE).toWellFormed()}…`
}

export function textPart(id: number, text: string): Part {
  return { id: String(id), type: 'text', text }
}

export function callPart(id: number, toolCallId: string, toolName: string, args: JsonObject): Part {
  return { id: String(id), type: 'tool-call', toolCallId, toolName, args, call: { stage: 'ended' } }
}

export function resultPart(id: number, toolCallId: string, toolName: string, result: JsonValue, isError = false): Part {
  return { id: String(id), type: 'tool-result', toolCallId, toolName, result, ...(isError ? { isError } : {}) }
}

export function timeOf(value: JsonValue | undefined): { readonly at?: number } {
  const at = Date.parse(asText(value) ?? '')
  return Number.isNaN(at) ? {} : { at }
}

/** Newest first. */
async function filesOf(files: SessionFiles, folder: string): Promise<readonly SessionFile[]> {
  const found: SessionFile[] = []
  for (const { path: directory, isDeep = false } of files.directories(folder)) {
    const names = await readdir(directory, { recursive: isDeep }).catch(() => [])
    for (const name of names) {
      const id = name.endsWith('.jsonl') ? files.idOf(basename(name)) : undefined
      if (id === undefined) continue
      const path = join(directory, name)
      const facts = await stat(path).catch(() => undefined)
      if (facts?.isFile() === true) found.push({ id, path, updatedAt: Math.round(facts.mtimeMs) })
    }
  }
  return found.toSorted((a, b) => b.updatedAt - a.updatedAt)
}

async function infoOf(
  files: SessionFiles,
  { id, path, updatedAt }: SessionFile,
): Promise<NativeSessionInfo | undefined> {
  let cwd: string | undefined
  let title: string | undefined
  let records = 0
  for await (const record of recordsOf(path)) {
    const facts = files.factsOf(record)
    cwd ??= facts.cwd
    title ??= facts.title
    records += 1
    if ((cwd !== undefined && title !== undefined) || records === MAX_RECORDS) break
  }
  if (cwd === undefined) return undefined
  return { id, updatedAt, cwd, ...(title === undefined ? {} : { title: titleOf(title) }) }
}

/** Lines that are no records are left out: the CLI may be writing the last one. */
async function* recordsOf(path: string): AsyncGenerator<JsonObject> {
  let lines: string[] = []
  const splitter = new LineSplitter((line) => void lines.push(line.text))
  for await (const chunk of createReadStream(path)) {
    splitter.push(chunk as Buffer)
    for (const line of lines) {
      const record = parseRecord(line)
      if (record !== undefined) yield record
    }
    lines = []
  }
  splitter.end()
  for (const line of lines) {
    const record = parseRecord(line)
    if (record !== undefined) yield record
  }
}
