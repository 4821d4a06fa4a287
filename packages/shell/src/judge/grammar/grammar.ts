import { findRefused, REFUSED, type ReadWord } from './builtins.ts'
import { isFreeVariable } from './variables.ts'

/**
 * The small grammar that every shell reads alike, and the only one an allow covers: simple commands of literal words,
 * plain quotes, `$NAME` and patterns; pipes and lists; redirections to named files; subshells, groups, `if`, `for` and
 * `while` around them; `$(…)` around more of the same; here-documents in which nothing is expanded. Whatever this
 * reader does not recognise is outside, however harmless it may be.
 */

/** A word as the program gets it, unless something in it is expanded. */
export interface PlainWord {
  readonly text: string
  /** Contains `$NAME`, `$(…)`, a pattern or a leading `~`. */
  readonly expands: boolean
}

export interface PlainCommand {
  readonly assigned: readonly string[]
  readonly words: readonly PlainWord[]
}

export type PlainScript =
  | { readonly ok: true; readonly commands: readonly PlainCommand[]; readonly targets: readonly PlainWord[] }
  | { readonly ok: false; readonly reason: string }

class Outside extends Error {}

function outside(what: string): never {
  throw new Outside(what)
}

const NAME = /[A-Za-z_][A-Za-z0-9_]*/y
const WORD_END = new Set([' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')', ''])
const UNQUOTED = /[\w./:=@%+,^!#*?[\]{}~-]|[^\0-\x7f]/
const ESCAPED = /[^\w\n\t]/
/** A dollar before one of these is literal; outside quotes, only at the end of a word. */
const AFTER_LONE_DOLLAR = new Set(['"', ' ', '|', ')', '/', '.', ',', '%', '\n'])
const CHARACTERS = /^[\t\n -~\p{L}\p{N}\p{P}\p{S}\p{M}\u3000]*$/u
const DEEPEST = 8
const QUOTED = '`'

/** Words that begin or end a construct when they stand where a command begins. */
const CLOSING = new Set(['then', 'else', 'elif', 'fi', 'do', 'done', '}'])
export function readPlainScript(text: string): PlainScript {
  if (!CHARACTERS.test(text)) return { ok: false, reason: 'it contains unusual characters' }
  const reader = new GrammarReader(text)
  try {
    reader.readAll()
    return { ok: true, commands: reader.commands, targets: reader.targets }
  } catch (error) {
    if (error instanceof Outside) return { ok: false, reason: `it contains ${error.message}` }
    throw error
  }
}

interface HereDocument {
  readonly delimiter: string
  readonly isQuoted: boolean
}

/** Braces that are operands whether a shell spreads them or not: no choice among them is an option. */
function isSpread(skeleton: string, source: string): boolean {
  return /^[\w./{]/.test(source) && !/(?:^|[{,])-|["'\\$]/.test(source) && skeleton !== '{' && skeleton !== '}'
}

class GrammarReader {
  readonly commands: PlainCommand[] = []
  readonly targets: PlainWord[] = []
  readonly #text: string
  #at = 0
  #depth = 0
  #waiting: HereDocument[] = []

  constructor(text: string) {
    this.#text = text
  }

  readAll(): void {
    this.#list([])
    if (this.#at < this.#text.length) outside('an unexpected operator')
    if (this.#waiting.length > 0) outside('an unfinished here-document')
  }

  /** Reads commands up to one of these words, or `)`, or the end. Returns the word that ended it. */
  #list(ends: readonly string[]): string {
    this.#depth += 1
    if (this.#depth > DEEPEST) outside('deeply nested commands')
    for (;;) {
      this.#blanks(true)
      const char = this.#char()
      if (char === '' || char === ')') break
      const word = this.#peekWord()
      if (ends.includes(word)) {
        this.#at += word.length
        this.#depth -= 1
        return word
      }
      if (CLOSING.has(word)) outside(`an unexpected \`${word}\``)
      this.#pipeline()
      this.#separator()
    }
    this.#depth -= 1
    if (ends.length > 0) outside('an unfinished construct')
    return ''
  }

  #separator(): void {
    this.#blanks(false)
    const char = this.#char()
    const next = this.#text.charAt(this.#at + 1)
    if ((char === '&' && next === '&') || (char === '|' && next === '|')) {
      this.#at += 2
      this.#blanks(true)
      if (this.#char() === '' || this.#char() === ')') outside('an unfinished list')
      return
    }
    if (char === ';' || char === '&') {
      if (/[;&|<>]/.test(next)) outside(`\`${char}${next}\``)
      this.#at += 1
    } else if (char !== '\n' && char !== '' && char !== ')') outside(`an unexpected \`${char}\``)
  }

  #pipeline(): void {
    if (this.#peekWord() === '!') {
      this.#at += 1
      this.#blanks(false)
    }
    for (;;) {
      this.#command()
      this.#blanks(false)
      if (this.#char() !== '|' || this.#text.charAt(this.#at + 1) === '|') return
      if (this.#text.charAt(this.#at + 1) === '&') outside('`|&`')
      this.#at += 1
      this.#blanks(true)
      if (this.#peekWord() === '!') outside('a `!` inside a pipe')
    }
  }

  #command(): void {
    if (this.#char() === '(') {
      if (this.#text.charAt(this.#at + 1) === '(') outside('arithmetic')
      this.#at += 1
      this.#list([])
      this.#expect(')')
      return this.#redirections()
    }
    const word = this.#peekWord()
    switch (word) {
      case '{':
        this.#at += 1
        this.#list(['}'])
        return this.#redirections()
      case 'if':
        this.#at += 2
        return this.#branches()
      case 'while':
      case 'until':
        this.#at += 5
        this.#list(['do'])
        this.#list(['done'])
        return this.#redirections()
      case 'for':
        this.#at += 3
        return this.#loop()
      default:
        if (REFUSED.has(word)) outside(`\`${word}\``)
        return this.#simple()
    }
  }

  #branches(): void {
    this.#list(['then'])
    for (;;) {
      const end = this.#list(['elif', 'else', 'fi'])
      if (end === 'fi') return this.#redirections()
      if (end === 'elif') this.#list(['then'])
      else {
        this.#list(['fi'])
        return this.#redirections()
      }
    }
  }

  #loop(): void {
    this.#blanks(false)
    const name = this.#name()
    if (name === null || !isFreeVariable(name)) outside('a loop over a variable that programs or shells read')
    this.#blanks(false)
    if (this.#peekWord() !== 'in') outside('a loop without `in`')
    this.#at += 2
    for (;;) {
      this.#blanks(false)
      const char = this.#char()
      if (char === ';' || char === '\n') break
      if (WORD_END.has(char)) outside('a loop that cannot be read')
      this.#word()
    }
    if (this.#char() === ';') this.#at += 1
    this.#blanks(true)
    if (this.#peekWord() !== 'do') outside('a loop without `do`')
    this.#at += 2
    this.#list(['done'])
    this.#redirections()
  }

  #redirections(): void {
    for (;;) {
      this.#blanks(false)
      if (!this.#redirection()) return
    }
  }

  #redirection(): boolean {
    const found = /^(\d*)(<<|<&|>>|>&|[<>])/.exec(this.#text.slice(this.#at, this.#at + 8))
    if (found === null) return false
    const [whole, descriptor = '', operator = ''] = found
    if (descriptor.length > 1) outside('a descriptor of several digits')
    this.#at += whole.length
    if (/[<>|&(-]/.test(this.#char())) outside(`\`${whole}${this.#char()}\``)
    this.#blanks(false)
    if (operator === '<<') {
      const isQuoted = /["']/.test(this.#char())
      const { expands, skeleton, text } = this.#word()
      if (expands || !/^\w+$/.test(text) || !/^(?:\w+|`)$/.test(skeleton)) outside('an unusual here-document')
      this.#waiting.push({ delimiter: text, isQuoted })
      return true
    }
    const { expands, hasBraces, text } = this.#word()
    if (hasBraces) outside('braces')
    if (operator.endsWith('&')) {
      if (expands || !/^\d$/.test(text)) outside('a redirection that shells read differently')
    } else this.targets.push({ text, expands })
    return true
  }

  #simple(): void {
    const assigned: string[] = []
    const words: ReadWord[] = []
    let isEmpty = true
    for (;;) {
      this.#blanks(false)
      if (this.#redirection()) {
        isEmpty = false
        continue
      }
      if (WORD_END.has(this.#char())) break
      const word = this.#word()
      const { hasBraces, skeleton } = word
      if (hasBraces && words.length === 0) outside('braces')
      isEmpty = false
      const name = words.length === 0 ? /^([A-Za-z_]\w*)(\+?=|\[)/.exec(skeleton) : null
      if (name !== null) {
        if (name[2] !== '=') outside('an unusual assignment')
        assigned.push(name[1] ?? '')
      } else words.push(word)
    }
    if (isEmpty) outside('an empty command')
    const refused = findRefused(assigned, words)
    if (refused !== null) outside(refused)
    // bash reads `time` as a keyword, dash as a program: either way the rest is what runs.
    if (words[0]?.text === 'time') words.shift()
    if (assigned.length + words.length > 0) this.commands.push({ assigned, words })
  }

  #word(): ReadWord {
    let text = ''
    let skeleton = ''
    let expands = false
    const start = this.#at
    for (;;) {
      const char = this.#char()
      if (WORD_END.has(char)) break
      if (char === "'") {
        const end = this.#text.indexOf("'", this.#at + 1)
        if (end === -1) outside('an open quote')
        text += this.#quoted(this.#text.slice(this.#at + 1, end))
        skeleton += QUOTED
        this.#at = end + 1
      } else if (char === '"') {
        this.#at += 1
        const inner = this.#doubleQuoted()
        text += inner.text
        expands ||= inner.expands
        skeleton += QUOTED
      } else if (char === '\\') {
        const next = this.#text.charAt(this.#at + 1)
        if (next === '' || !ESCAPED.test(next)) outside('an unusual escape')
        text += next
        skeleton += QUOTED
        this.#at += 2
      } else if (char === '$') {
        const value = this.#dollar(WORD_END)
        text += value
        if (value === '$') skeleton += QUOTED
        else {
          expands = true
          skeleton += '$'
        }
      } else if (UNQUOTED.test(char)) {
        if (char === '~') {
          if (skeleton === '' && /^~(?:\/|$|[\s;&|)])/.test(this.#text.slice(this.#at, this.#at + 2))) expands = true
          else if (skeleton === '' || /[:=]$/.test(skeleton)) outside('an unusual `~`')
        }
        text += char
        skeleton += char
        this.#at += 1
      } else outside(char === '`' ? 'backquotes' : `an unusual \`${char}\``)
    }
    if (this.#at === start) outside('a missing word')
    if (/^=./.test(skeleton) && skeleton !== '==') outside('a word that begins with `=`')
    const hasBraces = /[{}]/.test(skeleton.replace(/\{(?:[^{},.]|\.(?!\.))*\}/g, ''))
    if (hasBraces && !isSpread(skeleton, this.#text.slice(start, this.#at))) outside('braces')
    return { text, skeleton, hasBraces, expands: expands || hasBraces || /[*?]|\[.*\]/.test(skeleton) }
  }

  #doubleQuoted(): { readonly text: string; readonly expands: boolean } {
    let text = ''
    let expands = false
    for (;;) {
      const char = this.#char()
      if (char === '') outside('an open quote')
      if (char === '"') {
        this.#at += 1
        return { text: this.#quoted(text), expands }
      }
      if (char === '`') outside('backquotes')
      if (char === '\\') {
        const next = this.#text.charAt(this.#at + 1)
        if (next === '\n') outside('an unusual escape')
        text += /["\\$`]/.test(next) ? next : `\\${next}`
        this.#at += 2
      } else if (char === '$') {
        const value = this.#dollar(AFTER_LONE_DOLLAR)
        text += value
        expands ||= value !== '$'
      } else {
        text += char
        this.#at += 1
      }
    }
  }

  #quoted(text: string): string {
    if (text.includes('\n') && this.#waiting.length > 0) outside('a quote across a here-document')
    return text
  }

  /** Reads `$NAME`, `${NAME}`, `$?`, `$1` or `$(…)`. A literal dollar is returned alone. */
  #dollar(literalBefore: ReadonlySet<string>): string {
    const start = this.#at
    this.#at += 1
    const char = this.#char()
    if (char === '(') {
      this.#at += 1
      if (this.#waiting.length > 0) outside('a substitution across a here-document')
      this.#blanks(true)
      if (this.#char() === '(') outside('arithmetic')
      this.#list([])
      if (this.#waiting.length > 0) outside('an unfinished here-document')
      this.#expect(')')
    } else if (char === '{') {
      this.#at += 1
      if (this.#name() === null) outside('an expansion that shells read differently')
      this.#expect('}')
    } else if (char === '?' || /\d/.test(char)) this.#at += 1
    else if (this.#name() === null) {
      if (!literalBefore.has(char)) outside('an expansion that shells read differently')
      return '$'
    }
    if (this.#char() === '[') outside('a subscript')
    return this.#text.slice(start, this.#at)
  }

  #name(): string | null {
    NAME.lastIndex = this.#at
    const name = NAME.exec(this.#text)?.[0]
    if (name === undefined) return null
    this.#at += name.length
    return name
  }

  #char(): string {
    return this.#text.charAt(this.#at)
  }

  #expect(char: string): void {
    if (this.#char() !== char) outside(`a missing \`${char}\``)
    this.#at += 1
  }

  /** Returns the unquoted word here, without reading it. */
  #peekWord(): string {
    return /^[^\s;&|<>()]*/.exec(this.#text.slice(this.#at, this.#at + 16))?.[0] ?? ''
  }

  /** Skips blanks, comments and continued lines; with `lines` also the ends of lines and the here-documents after. */
  #blanks(lines: boolean): void {
    for (;;) {
      const char = this.#char()
      if (char === ' ' || char === '\t') this.#at += 1
      else if (
        char === '\\' &&
        this.#text.charAt(this.#at + 1) === '\n' &&
        /[ \t]/.test(this.#text.charAt(this.#at - 1))
      ) {
        this.#at += 2
      } else if (char === '#' && /^$|[\s;&|(]/.test(this.#text.charAt(this.#at - 1))) {
        const end = this.#text.indexOf('\n', this.#at)
        this.#at = end === -1 ? this.#text.length : end
      } else if (char === '\n' && lines) {
        this.#at += 1
        for (const document of this.#waiting.splice(0)) this.#hereDocument(document)
      } else return
    }
  }

  #hereDocument({ delimiter, isQuoted }: HereDocument): void {
    for (;;) {
      if (this.#at >= this.#text.length) outside('an unfinished here-document')
      const newline = this.#text.indexOf('\n', this.#at)
      const end = newline === -1 ? this.#text.length : newline
      const line = this.#text.slice(this.#at, end)
      this.#at = newline === -1 ? end : end + 1
      if (line === delimiter) return
      if (!isQuoted && /[$`\\]/.test(line)) outside('a here-document with expansions')
    }
  }
}
