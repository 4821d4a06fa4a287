import { isPlainAscii } from './characters.ts'
import { changeDirectory, copyDirectory, resolveIn } from './directory.ts'
import type { Directory } from './directory.ts'
import { deeper } from './frames.ts'
import type { Frame, FramePlace } from './frames.ts'
import { readLaunch } from './launch.ts'
import type { LaunchedCommand } from './launched.ts'
import { limits } from './limits.ts'
import { baseName, programName } from './programs.ts'
import type { Assignment, Redirection, SimpleCommand, Span, Word } from './reading.ts'
import { Refusal } from './refusal.ts'
import { unknownFromAssignments } from './deciding.ts'
import { unknownFromArguments } from './unknowns.ts'

type MutableCommand = { -readonly [Key in keyof SimpleCommand]: SimpleCommand[Key] }

export interface CommandParts {
  readonly name: Word | null
  readonly args: readonly Word[]
  readonly assignments: readonly Assignment[]
  readonly redirections: readonly Redirection[]
  readonly source: string
  readonly span: Span | null
}

type ReadScript = (text: string, frame: Frame, directory: Directory) => void

const MOVES = new Set(['cd', 'pushd', 'popd'])
const LITERAL_SUBSTITUTION = /\$\(|`/

/** Gathers commands in the order of the walk and follows each to the programs it runs. */
export class Collector {
  readonly commands: MutableCommand[] = []
  readonly #suspicious = new Set<string>()
  readonly #readScript: ReadScript
  #pipelines = 0
  #arithmetic = false
  #quotedSubstitution = false

  constructor(readScript: ReadScript) {
    this.#readScript = readScript
  }

  get suspicious(): readonly string[] {
    // Arithmetic evaluates the text of variables, so a quoted `a[$(…)]` in one of them does run.
    if (!this.#arithmetic || !this.#quotedSubstitution) return [...this.#suspicious]
    return [...this.#suspicious, 'arithmetic beside a quoted command substitution']
  }

  suspect(kinds: readonly string[]): void {
    for (const kind of kinds) this.#suspicious.add(kind)
  }

  noteArithmetic(): void {
    this.#arithmetic = true
  }

  /** Notes words that are evaluated as arithmetic. */
  noteEvaluated(...words: readonly Word[]): void {
    this.#arithmetic = true
    this.#quotedSubstitution ||= words.some(hidesSubstitution)
  }

  nextPipeline(): number {
    this.#pipelines += 1
    return this.#pipelines
  }

  /** Adds a command and returns the frame for the contents of its words. */
  add(parts: CommandParts, frame: Frame, place: FramePlace, directory: Directory): Frame {
    const entry = this.#push(parts, frame, place, directory, false)
    return { ...frame, parent: entry.index, nesting: [] }
  }

  /** Follows the command at `index` to what it runs. Call it after its words were walked. */
  follow(index: number, frame: Frame, directory: Directory): void {
    const entry = this.commands[index]
    if (entry !== undefined) this.#follow(entry, frame, directory)
  }

  #push(parts: CommandParts, frame: Frame, place: FramePlace, directory: Directory, appended: boolean): MutableCommand {
    if (this.commands.length >= limits.commands) throw new Refusal(`more than ${limits.commands} commands`)
    this.#noticeWords(parts)
    const entry: MutableCommand = {
      index: this.commands.length,
      name: parts.name,
      program: programName(parts.name),
      args: parts.args,
      assignments: parts.assignments,
      redirections: parts.redirections,
      parent: frame.parent,
      origin: frame.origin,
      nesting: frame.nesting,
      wrappers: frame.wrappers,
      pipeline: place.pipeline,
      stage: place.stage,
      stages: place.stages,
      joined: place.joined,
      negated: place.negated,
      background: place.background,
      launcher: null,
      runs: null,
      unknown: parts.assignments.length === 0 ? null : unknownFromAssignments(parts.assignments, parts.name?.text),
      appended,
      cwd: directory.path,
      cwdAssumed: directory.assumed,
      source: parts.source,
      span: parts.span,
    }
    this.commands.push(entry)
    return entry
  }

  #noticeWords({ name, args, assignments }: CommandParts): void {
    if (name !== null && !name.dynamic && !isPlainAscii(name.text))
      this.suspect(['program name that is not plain ASCII'])
    if (this.#quotedSubstitution) return
    this.#quotedSubstitution = args.some(hidesSubstitution) || assignments.some(({ value }) => hidesSubstitution(value))
  }

  #follow(entry: MutableCommand, frame: Frame, directory: Directory): void {
    if (entry.name === null) return
    const base = baseName(entry.name)
    if (base === null) {
      entry.unknown ??= 'the program is only known when it runs'
      return
    }
    if (base === 'let') this.noteArithmetic()
    const launch = readLaunch({ base, args: entry.args, appended: entry.appended, stdin: this.#stdinOf(entry) })
    // A program such as ./env may be anything, but what it seems to run is listed all the same.
    entry.launcher = entry.program === null ? null : launch.launcher
    entry.runs = launch.runs
    entry.unknown ??=
      launch.unknown ?? unknownFromArguments(base, entry.args) ?? (base.includes('{}') ? 'runs its input' : null)
    const inner = (): Frame =>
      deeper({ ...frame, parent: entry.index, nesting: [], wrappers: [...frame.wrappers, base], spans: false })
    for (const command of launch.commands) this.#addLaunched(command, entry, inner(), directory)
    for (const script of launch.scripts) {
      const posix = launch.dialect === 'same' ? frame.posix : launch.dialect === 'sh'
      const there = launch.here ? directory : copyDirectory(directory)
      this.#readScript(script, { ...inner(), origin: 'script', posix }, there)
    }
    if (MOVES.has(base) && isBuiltinHere(entry)) changeDirectory(directory, base, entry.args)
    if (launch.runs === 'file' && (base === 'source' || base === '.')) directory.assumed = true
  }

  #addLaunched(launched: LaunchedCommand, outer: MutableCommand, frame: Frame, directory: Directory): void {
    const [name, ...args] = launched.words
    if (name === undefined) return
    const source = launched.words.map((word) => word.source).join(' ')
    const there = launched.directory === 'same' ? directory : elsewhere(directory, launched.directory)
    const parts: CommandParts = { name, args, assignments: launched.assignments, redirections: [], source, span: null }
    const entry = this.#push(parts, { ...frame, origin: 'argument' }, outer, there, launched.appended)
    this.#follow(entry, frame, there)
  }

  /** A wrapped command shares the standard input of its wrapper. */
  #stdinOf(entry: MutableCommand): readonly Redirection[] {
    let at: MutableCommand | undefined = entry
    while (at !== undefined && at.redirections.length === 0 && at.origin === 'argument' && at.parent !== null) {
      at = this.commands[at.parent]
    }
    return at?.redirections ?? []
  }
}

function hidesSubstitution({ quoted, text }: Word): boolean {
  return quoted && LITERAL_SUBSTITUTION.test(text)
}

function elsewhere(from: Directory, word: Word | null): Directory {
  return { path: word === null ? null : resolveIn(from.path, word), assumed: from.assumed }
}

/** `cd` moves this shell only as a builtin: bare or behind `command` and `builtin`, and not in a pipeline. */
function isBuiltinHere(entry: MutableCommand): boolean {
  if (entry.name?.text.includes('/') === true || entry.stages > 1) return false
  if (entry.origin !== 'argument') return true
  const wrapper = entry.wrappers.at(-1)
  return wrapper === 'command' || wrapper === 'builtin'
}
