import { extname, resolve } from 'node:path'
import { InspanError, type JsonObject } from '@inspan/protocol'
import type { ToolOutcome } from '@inspan/protocol/driver'
import { editText, likeBefore, plainText, type Edited, type TextEdit } from './edit-text.ts'
import type { WorkspaceFileContent, FileInfo } from './files.ts'
import { activity, characterLimit, workspaceTool, type Fields, type ToolCall, type WorkspaceTool } from './tool-kit.ts'

const MAX_BYTES = 20 * 1024 * 1024
const DEFAULT_LINES = 2000
const IMAGES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
}

const path: JsonObject = { type: 'string', description: 'Relative to the workspace, or absolute.' }

const readFile: WorkspaceTool = workspaceTool({
  name: 'read_file',
  description: 'Read a file. Long files are returned in parts: give `offset` and `limit` to choose the lines.',
  category: 'read',
  properties: {
    path,
    offset: { type: 'integer', minimum: 1, description: 'The first line. Default: 1.' },
    limit: { type: 'integer', minimum: 1, description: `How many lines. Default: ${DEFAULT_LINES}.` },
  },
  required: ['path'],
  parse: (input) => ({ path: input.filled('path'), offset: input.count('offset'), limit: input.count('limit') }),
  execute: async ({ limit = DEFAULT_LINES, offset = 1, path: wanted }, call) => {
    const content = await call.files.read(wanted, MAX_BYTES, call.run.allowedPaths)
    noteSeen(call, content.info)
    if (content.bytes.subarray(0, 8000).includes(0)) return binaryFile(content)
    const lines = content.bytes.toString('utf8').split('\n')
    const isEnded = lines.length > 1 && lines.at(-1) === ''
    const total = isEnded ? lines.length - 1 : lines.length
    const last = Math.min(offset - 1 + limit, total)
    if (offset > total) throw new InspanError('invalid-input', `${wanted} has only ${total} lines.`)
    const chosen =
      offset === 1 && last === total ? content.bytes.toString('utf8') : lines.slice(offset - 1, last).join('\n')
    const most = characterLimit(call.config, 25_000)
    const text = chosen.slice(0, most)
    const endLine = text.length === chosen.length ? last : offset + text.split('\n').length - 1
    const isWhole = offset === 1 && endLine === total && text.length === chosen.length
    const note = `\n[lines ${offset} to ${endLine} of ${total}${endLine < total ? `; go on with offset ${endLine + 1}` : ''}]`
    return {
      result: isWhole ? text : text + note,
      activity: activity({
        type: 'read',
        path: content.info.path,
        ...(isWhole ? {} : { startLine: offset, endLine }),
        isSuccess: true,
      }),
    }
  },
})

function binaryFile({ bytes, info }: WorkspaceFileContent): ToolOutcome {
  const mediaType = IMAGES[extname(info.path).toLowerCase()]
  const note = activity({ type: 'read', path: info.path, isSuccess: true })
  if (mediaType === undefined) return { result: `${info.path} is a binary file of ${info.size} bytes.`, activity: note }
  return {
    result: `${info.path} is an image of ${info.size} bytes.`,
    modelOutput: { type: 'content', value: [{ type: 'file', mediaType, data: bytes.toString('base64') }] },
    activity: note,
  }
}

const writeFile: WorkspaceTool = workspaceTool({
  name: 'write_file',
  description: 'Write a whole file. Creates it and missing folders, or replaces what is in it.',
  category: 'edit',
  changes: 'path',
  properties: { path, content: { type: 'string' } },
  required: ['path', 'content'],
  parse: (input) => ({ path: input.filled('path'), content: input.text('content') }),
  execute: async ({ content, path: wanted }, call) => {
    const before = await readIfThere(wanted, call)
    if (before !== undefined) assertSeen(call, before.info)
    const text = before === undefined ? content : likeBefore(content, before.bytes.toString('utf8'))
    const info = await write(wanted, text, before, call)
    const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
    return {
      result: `${before === undefined ? 'Created' : 'Wrote'} ${info.path} (${lines} lines, ${info.size} bytes).`,
      activity: activity({ type: 'write', path: info.path, isSuccess: true }),
    }
  },
})

const editFile: WorkspaceTool = workspaceTool({
  name: 'edit_file',
  description:
    'Replace text in a file. `old_string` has to occur exactly once, unless `replace_all` is set. Give `edits` to make ' +
    'several replacements at once, one after the other: either all are made or none.',
  category: 'edit',
  changes: 'path',
  properties: {
    path,
    old_string: { type: 'string' },
    new_string: { type: 'string' },
    replace_all: { type: 'boolean' },
    edits: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        properties: {
          old_string: { type: 'string' },
          new_string: { type: 'string' },
          replace_all: { type: 'boolean' },
        },
        required: ['old_string', 'new_string'],
      },
    },
  },
  required: ['path'],
  parse: (input) => ({ path: input.filled('path'), edits: editsOf(input) }),
  execute: async ({ edits, path: wanted }, call) => {
    const before = await call.files.read(wanted, MAX_BYTES, call.run.allowedPaths)
    assertSeen(call, before.info)
    if (before.bytes.includes(0)) throw new InspanError('invalid-input', `${wanted} is a binary file.`)
    const { restore, text } = plainText(before.bytes.toString('utf8'))
    let edited: Edited = { text, count: 0, startLine: 1, endLine: 1 }
    let count = 0
    for (const edit of edits) {
      edited = editText(edited.text, edit)
      count += edited.count
    }
    const info = await write(wanted, restore(edited.text), before, call)
    const { endLine, startLine } = edited
    return {
      result: `Edited ${info.path}: ${count === 1 ? 'one replacement' : `${count} replacements`}.`,
      activity: activity({
        type: 'write',
        path: info.path,
        ...(count === 1 ? { startLine, endLine } : {}),
        isSuccess: true,
      }),
    }
  },
})

function editsOf(input: Fields): TextEdit[] {
  const one = (each: Fields): TextEdit => ({
    old: each.text('old_string'),
    new: each.text('new_string'),
    all: each.flag('replace_all'),
  })
  const several = input.list('edits')
  return several === undefined || several.length === 0 ? [one(input)] : several.map(one)
}

const listFiles: WorkspaceTool = workspaceTool({
  name: 'list_files',
  description: 'List files and folders. Leaves out what .gitignore names, unless `all` is set.',
  category: 'read',
  properties: {
    path: { type: 'string', description: 'Default: the workspace.' },
    depth: { type: 'integer', minimum: 1, description: 'How many levels. Default: 3.' },
    all: { type: 'boolean' },
  },
  parse: (input) => ({
    path: input.optionalText('path') ?? '.',
    depth: input.count('depth') ?? 3,
    all: input.flag('all'),
  }),
  execute: async ({ all, depth, path: wanted }, call) => {
    const { allowedPaths, signal } = call.run
    const most = characterLimit(call.config, 8000)
    let text = ''
    let left = 0
    for await (const entry of call.files.list(wanted, { depth, honourIgnore: !all, signal }, allowedPaths)) {
      const line = `${entry.path}${entry.type === 'folder' ? '/' : entry.type === 'link' ? ' (link)' : ''}\n`
      if (left > 0 || text.length + line.length > most) left++
      else text += line
    }
    const more = left === 0 ? '' : `[${left} more]\n`
    return {
      result: text === '' ? `${wanted} is empty.` : (text + more).trimEnd(),
      activity: activity({ type: 'list', path: wanted, isSuccess: true }),
    }
  },
})

const deleteFile: WorkspaceTool = workspaceTool({
  name: 'delete',
  description: 'Delete a file, or with `recursive` a folder and everything in it.',
  category: 'edit',
  changes: 'path',
  properties: { path, recursive: { type: 'boolean' } },
  required: ['path'],
  parse: (input) => ({ path: input.filled('path'), recursive: input.flag('recursive') }),
  execute: async ({ path: wanted, recursive }, call) => {
    const info = await call.files.stat(wanted, call.run.allowedPaths)
    if (info !== null && info.type === 'file') assertSeen(call, info)
    await keep(info?.path ?? wanted, call)
    await call.files.remove(wanted, recursive, call.run.allowedPaths)
    return {
      result: `Deleted ${info?.path ?? wanted}.`,
      activity: activity({ type: 'write', path: info?.path ?? wanted, isSuccess: true }),
    }
  },
})

const fileStat: WorkspaceTool = workspaceTool({
  name: 'file_stat',
  description: 'Say whether a path exists, and its type, size, mode and time of change.',
  category: 'read',
  properties: { path },
  required: ['path'],
  parse: (input) => ({ path: input.filled('path') }),
  execute: async ({ path: wanted }, call) => {
    const info = await call.files.stat(wanted, call.run.allowedPaths)
    const note = activity({ type: 'read', path: info?.path ?? wanted, isSuccess: info !== null })
    if (info === null) return { result: { path: wanted, exists: false }, activity: note }
    const { mode, modifiedAt, path: real, size, type } = info
    const modified = new Date(modifiedAt).toISOString()
    return {
      result: { path: real, exists: true, type, size, mode: mode.toString(8).padStart(4, '0'), modified },
      activity: note,
    }
  },
})

const makeDirectory: WorkspaceTool = workspaceTool({
  name: 'mkdir',
  description: 'Create a folder and missing folders above it.',
  category: 'edit',
  properties: { path },
  required: ['path'],
  parse: (input) => ({ path: input.filled('path') }),
  execute: async ({ path: wanted }, call) => {
    await call.files.makeFolder(wanted, call.run.allowedPaths)
    return {
      result: `Created ${wanted}.`,
      activity: activity({ type: 'write', path: wanted, isSuccess: true }),
    }
  },
})

const grep: WorkspaceTool = workspaceTool({
  name: 'grep',
  description: 'Search files for a regular expression. Returns `path:line: text` for every matching line.',
  category: 'read',
  properties: {
    pattern: { type: 'string' },
    path: { type: 'string', description: 'A folder or a file. Default: the workspace.' },
    glob: { type: 'string', description: 'Only files like this, e.g. *.ts' },
    ignore_case: { type: 'boolean' },
    all: { type: 'boolean', description: 'Search also what .gitignore names.' },
    limit: { type: 'integer', minimum: 1, description: 'How many matches. Default: 200.' },
  },
  required: ['pattern'],
  parse: (input) => ({
    source: input.text('pattern'),
    pattern: regularExpression(input.text('pattern'), input.flag('ignore_case')),
    path: input.optionalText('path') ?? '.',
    glob: input.optionalText('glob'),
    all: input.flag('all'),
    limit: input.count('limit') ?? 200,
  }),
  execute: async ({ all, glob, limit, path: wanted, pattern, source }, call) => {
    const { allowedPaths, signal } = call.run
    const options = { pattern, source, honourIgnore: !all, signal, ...(glob === undefined ? {} : { glob }) }
    const most = characterLimit(call.config, 8000)
    let text = ''
    let count = 0
    let isCut = false
    for await (const match of call.files.grep(wanted, options, allowedPaths)) {
      const line = `${match.path}:${match.line}: ${match.text.slice(0, 500)}\n`
      isCut = count === limit || text.length + line.length > most
      if (isCut) break
      text += line
      count++
    }
    const more = isCut ? '[there are more matches: narrow the search]' : ''
    return {
      result: text === '' ? 'No matches.' : (text + more).trimEnd(),
      activity: activity({ type: 'search', query: source, path: wanted, isSuccess: true }),
    }
  },
})

function regularExpression(source: string, ignoreCase: boolean): RegExp {
  try {
    return new RegExp(source, ignoreCase ? 'i' : '')
  } catch (cause) {
    throw new InspanError('invalid-input', `\`pattern\` is not a regular expression: ${String(cause)}.`, { cause })
  }
}

async function readIfThere(wanted: string, { files, run }: ToolCall): Promise<WorkspaceFileContent | undefined> {
  try {
    return await files.read(wanted, MAX_BYTES, run.allowedPaths)
  } catch (error) {
    if (InspanError.is(error, 'not-found')) return undefined
    throw error
  }
}

async function write(
  wanted: string,
  text: string,
  before: WorkspaceFileContent | undefined,
  call: ToolCall,
): Promise<FileInfo> {
  const expected = before?.info.version ?? null
  await keep(before?.info.path ?? wanted, call)
  const info = await call.files.write(wanted, Buffer.from(text), { expected }, call.run.allowedPaths)
  noteSeen(call, info)
  return info
}

/** Has the file kept as it is, before it changes. */
async function keep(wanted: string, { root, run }: ToolCall): Promise<void> {
  await run.keepFile?.(resolve(root, wanted))
}

function noteSeen({ run, seen }: ToolCall, { path: real, version }: FileInfo): void {
  seen.note(run.threadId, real, version)
}

/** Refuses to change what the model has not seen, where that is configured. */
function assertSeen({ config, run, seen }: ToolCall, { path: real, version }: FileInfo): void {
  if (config.requireReadBeforeWrite !== true) return
  const known = seen.versionOf(run.threadId, real)
  if (known === version) return
  const why = known === undefined ? 'was not read yet' : 'has changed since it was read'
  throw new InspanError('conflict', `${real} ${why}.`, { hint: 'Read it, then repeat the change.' })
}

export const FILE_TOOLS: readonly WorkspaceTool[] = [
  readFile,
  writeFile,
  editFile,
  listFiles,
  deleteFile,
  fileStat,
  makeDirectory,
  grep,
]
