import { InspanError, type Part } from '@inspan/protocol'

/** A file that goes with a message. */
export interface MessageFile {
  /**
   * Bytes or a `data:` address. Any other string is the text itself for `text/*` and JSON, and base64 for all other
   * types.
   */
  readonly data: string | Uint8Array
  readonly mediaType: string
  readonly filename?: string
}

/** Returns the parts of a message. Text files become fenced text; all other files are given to the model as files. */
export function messageParts(content: string, files: readonly MessageFile[] = []): Part[] {
  checkFiles(files)
  const text: SentFilePart[] = content !== '' || files.length === 0 ? [{ type: 'text', text: content }] : []
  return [...text, ...files.map(filePart)].map((part, index) => ({ ...part, id: String(index) }))
}

type SentFilePart = Omit<Extract<Part, { type: 'text' }>, 'id'> | Omit<Extract<Part, { type: 'image' | 'file' }>, 'id'>

/** Returns the part of a message that a file becomes. */
export function filePart(file: MessageFile): SentFilePart {
  if (isText(file.mediaType)) return { type: 'text', text: fenced(file) }
  const named = file.filename === undefined ? {} : { fileName: file.filename }
  const type = file.mediaType.startsWith('image/') ? 'image' : 'file'
  return { type, mimeType: file.mediaType, data: base64Of(file), ...named }
}

/** For programs that no compiler has checked. */
function checkFiles(files: unknown): void {
  if (!Array.isArray(files)) throw wrong('files', 'a list of `{ data, mediaType, filename? }`')
  files.forEach((file: Partial<Record<keyof MessageFile, unknown>> | null | undefined, index) => {
    const at = `files[${index}]`
    if (typeof file !== 'object' || file === null) throw wrong(at, '{ data, mediaType, filename? }')
    const { data, filename, mediaType } = file
    if (typeof mediaType !== 'string') throw wrong(`${at}.mediaType`, 'a text such as "image/png"')
    if (typeof data !== 'string' && !(data instanceof Uint8Array)) throw wrong(`${at}.data`, 'a text or bytes')
    if (filename !== undefined && typeof filename !== 'string') throw wrong(`${at}.filename`, 'a text')
  })
}

function wrong(field: string, expected: string): InspanError {
  return new InspanError('invalid-input', `\`${field}\` of a message has to be ${expected}.`)
}

function isText(mediaType: string): boolean {
  const plain = mediaType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return plain.startsWith('text/') || plain === 'application/json'
}

/** The fence is longer than any in the text, so that nothing in the file can end it. */
function fenced(file: MessageFile): string {
  const text = textOf(file)
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length))
  const fence = '`'.repeat(Math.max(3, longest + 1))
  const label = file.filename === undefined ? '[File]' : `[File: ${file.filename}]`
  return `${label}\n${fence}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`
}

function textOf({ data, filename, mediaType }: MessageFile): string {
  if (typeof data !== 'string') return new TextDecoder().decode(data)
  const address = dataAddress(data)
  if (address === undefined) return data
  if (address.isBase64) return Buffer.from(address.body, 'base64').toString('utf8')
  try {
    return decodeURIComponent(address.body)
  } catch (cause) {
    throw new InspanError('invalid-input', `The file ${filename ?? mediaType} is no \`data:\` address.`, { cause })
  }
}

function base64Of({ data, filename, mediaType }: MessageFile): string {
  if (typeof data !== 'string') return Buffer.from(data).toString('base64')
  const address = dataAddress(data)
  if (address === undefined) return data
  if (address.isBase64) return address.body
  throw new InspanError('invalid-input', `The file ${filename ?? mediaType} has to be base64.`)
}

function dataAddress(data: string): { readonly body: string; readonly isBase64: boolean } | undefined {
  if (!data.startsWith('data:')) return undefined
  const comma = data.indexOf(',')
  return comma < 0 ? undefined : { body: data.slice(comma + 1), isBase64: data.slice(0, comma).endsWith(';base64') }
}
