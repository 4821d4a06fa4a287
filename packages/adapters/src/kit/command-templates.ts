import type { FileOperation } from './shell-command.ts'

/**
 * A command with the names in it taken out: `cat a.txt` and `cat b.txt` are one template. Agents run the same few commands
 * on many files, so reading each template once saves most of the parsing.
 */
export interface CommandTemplate {
  /** The command with stand-ins for the names. */
  readonly text: string
  readonly names: readonly string[]
}

/** What a template was found to be: where in its operations the names stand. */
export type TemplateReading = readonly TemplateOperation[] | null

interface TemplateOperation {
  readonly operation: FileOperation
  readonly blanks: readonly Blank[]
}

/** The field a name stands in, what comes before it there, and which name it is. */
interface Blank {
  readonly field: 'path' | 'query'
  readonly before: string
  readonly name: number
}

/** Which plain operands of a program are names, and nothing else: never a command, an expression or a number. */
const OPERANDS: ReadonlyMap<string, RegExp> = new Map([
  ...withOperands(/^\/?[\w@:,]/, ['cat', 'echo', 'ls', 'mkdir', 'touch']),
  ...withOperands(/^\/?[A-Za-z_]/, ['egrep', 'fgrep', 'grep', 'head', 'nl', 'rg', 'sed', 'tail', 'tree', 'wc']),
])
const OPERATORS: ReadonlySet<string> = new Set(['|', '&&', '||', ';'])
const PLAIN = /^[\w./@:,-]+$/
/** Names that paths keep as they are: no empty, `.` or `..` parts, no devices. */
const UNTOUCHED = /^\/?[\w@:,-]+(?:\.[\w@:,-]+)*(?:\/[\w@:,-]+(?:\.[\w@:,-]+)*)*$/
const SPECIAL = /^\/(?:dev|proc)(?:\/|$)/
/** Longer commands are rarely repeated with other names. */
const MAX_LENGTH = 300
const WRAPPED = /^(?:\/(?:usr\/)?bin\/)?bash -l?c (['"])/

/** The script of `bash -lc '…'`, where the quotes can be taken off without reading it; else the command itself. */
export function unwrapped(command: string): string {
  const wrapper = WRAPPED.exec(command)
  const quote = wrapper?.[1]
  if (wrapper === null || quote === undefined) return command
  const script = command.slice(wrapper[0].length, -1)
  const isWhole = command.length > wrapper[0].length && command.endsWith(quote) && script.trim() !== ''
  return isWhole && !(quote === "'" ? script.includes("'") : /["\\$`!]/.test(script)) ? script : command
}

/** Takes the names out of a command; `undefined` when there are none, or it is not simple enough to be sure. */
export function templateOf(command: string): CommandTemplate | undefined {
  if (command.length > MAX_LENGTH) return undefined
  const names: string[] = []
  let text = ''
  let program: string | undefined
  let hasScript = false
  for (let from = 0; from < command.length;) {
    const space = wordEnd(command, from)
    const isLast = space > from && command.charCodeAt(space - 1) === 0x3b
    const end = isLast ? space - 1 : space
    const word = command.slice(from, end)
    if (from > 0) text += ' '
    if (word === '' || OPERATORS.has(word)) {
      if (program === undefined) return undefined
      program = undefined
      text += word
    } else if (program === undefined) {
      if (!PLAIN.test(word)) return undefined
      program = word
      hasScript = false
      text += word
    } else if (!PLAIN.test(word)) {
      if (!isQuoted(word)) return undefined
      hasScript = true
      text += word
    } else if (isName(word, program, hasScript)) {
      text += standIn(names.length, word.startsWith('/'))
      names.push(word)
    } else text += word
    if (isLast) {
      program = undefined
      text += ';'
    }
    from = space + 1
  }
  return names.length === 0 ? undefined : { text, names }
}

function isName(word: string, program: string, hasScript: boolean): boolean {
  // The first operand of sed is what it does, and only a quoted one is surely that.
  if (program === 'sed' && !hasScript) return false
  return OPERANDS.get(program)?.test(word) === true && UNTOUCHED.test(word) && !SPECIAL.test(word)
}

function withOperands(pattern: RegExp, programs: readonly string[]): readonly (readonly [string, RegExp])[] {
  return programs.map((program) => [program, pattern])
}

/** The end of the word at `from`: a space, unless a single quote begins it. */
function wordEnd(script: string, from: number): number {
  const start = script.charCodeAt(from) === 0x27 ? script.indexOf("'", from + 1) : from
  const space = start === -1 ? -1 : script.indexOf(' ', start)
  return space === -1 ? script.length : space
}

function isQuoted(word: string): boolean {
  return word.length > 2 && word.startsWith("'") && word.indexOf("'", 1) === word.length - 1
}

function standIn(index: number, isAbsolute: boolean): string {
  return `${isAbsolute ? '/' : ''}zq${index}qz`
}

const STAND_IN = /zq(\d+)qz/g

/** Finds the names in what a template was read as; `undefined` when they stand where they cannot be replaced. */
export function readTemplate(
  template: CommandTemplate,
  operations: readonly FileOperation[] | null,
): TemplateReading | undefined {
  if (operations === null) return null
  const reading: TemplateOperation[] = []
  for (const operation of operations) {
    const blanks: Blank[] = []
    for (const field of ['path', 'query'] as const) {
      const value = field === 'path' ? operation.path : operation.kind === 'search' ? operation.query : undefined
      if (value === undefined || !value.includes('zq')) continue
      const blank = blankIn(value, field, template.names)
      if (blank === undefined) return undefined
      blanks.push(blank)
    }
    reading.push({ operation, blanks })
  }
  return reading
}

function blankIn(value: string, field: Blank['field'], names: readonly string[]): Blank | undefined {
  const [found, ...more] = value.matchAll(STAND_IN)
  if (found === undefined || more.length > 0 || found.index + found[0].length !== value.length) return undefined
  const name = Number(found[1])
  if (names[name]?.startsWith('/') !== true) return { field, before: value.slice(0, found.index), name }
  return found.index === 1 ? { field, before: '', name } : undefined
}

/** The operations of one command of a template. */
export function fillReading(reading: TemplateReading, names: readonly string[]): readonly FileOperation[] | null {
  if (reading === null) return null
  return reading.map(({ operation, blanks }) => {
    if (blanks.length === 0) return operation
    const filled: Record<string, unknown> = { ...operation }
    for (const { field, before, name } of blanks) filled[field] = before + (names[name] ?? '')
    return filled as unknown as FileOperation
  })
}
