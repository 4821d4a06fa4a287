import { forEachChild } from 'unbash'
import type {
  AndOr,
  ArithmeticExpression,
  Assignment as AssignmentNode,
  Command,
  CommandNode,
  ParsedScript,
  PipelineNode,
  Redirection as RedirectionNode,
  Statement,
  SyntaxNode,
} from 'unbash'

import type { Collector } from './collector.ts'
import { copyDirectory } from './directory.ts'
import type { Directory } from './directory.ts'
import { decidesWhatRuns, MADE_LATER } from './deciding.ts'
import { deeper, within } from './frames.ts'
import type { Frame, FramePlace } from './frames.ts'
import type { Assignment, Joiner, Nesting, Origin, Redirection, Span, Word } from './reading.ts'
import { readRedirection } from './redirections.ts'
import { Refusal } from './refusal.ts'
import { assignedValue, assignmentWord, literalWord, readWord } from './words.ts'

export function walkScript(collector: Collector, script: ParsedScript, frame: Frame, directory: Directory): void {
  const error = script.errors?.[0]
  if (error !== undefined) throw new Refusal(`not valid shell: ${error.message}`)
  walkList(collector, script.commands, frame, directory)
}

function walkList(collector: Collector, statements: readonly Statement[], frame: Frame, directory: Directory): void {
  let joined: Joiner | null = null
  for (const statement of statements) {
    const background = statement.background === true
    const here = background ? copyDirectory(directory) : directory
    const before = here.path
    const { command } = statement
    if (command.type === 'AndOr') walkAndOr(collector, command, frame, here, joined, background)
    else walkPipeline(collector, command, frame, here, joined, background)
    // The next statement runs even if a `cd` in this one failed.
    if (here.path !== before) here.assumed = true
    joined = background ? '&' : ';'
  }
}

function walkAndOr(
  collector: Collector,
  node: AndOr,
  frame: Frame,
  directory: Directory,
  joined: Joiner | null,
  background: boolean,
): void {
  const start = copyDirectory(directory)
  let forked = false
  for (const [at, command] of node.commands.entries()) {
    const operator = at === 0 ? undefined : node.operators[at - 1]
    const before = directory.path
    if (operator === '||' && before !== start.path) {
      // It runs because something failed, perhaps the `cd`.
      forked = true
      const there: Directory = { path: start.path, assumed: true }
      walkPipeline(collector, command, frame, there, operator, background)
      if (there.path !== start.path) directory.path = null
      continue
    }
    walkPipeline(collector, command, frame, directory, operator ?? joined, background)
    if (forked && directory.path !== before) directory.path = null
  }
}

function walkPipeline(
  collector: Collector,
  node: PipelineNode,
  frame: Frame,
  directory: Directory,
  joined: Joiner | null,
  background: boolean,
): void {
  const pipeline = collector.nextPipeline()
  if (node.type !== 'Pipeline') {
    walkCommand(
      collector,
      node,
      frame,
      { pipeline, stage: 0, stages: 1, joined, negated: false, background },
      directory,
    )
    return
  }
  const negated = node.prefixes.some((prefix) => prefix.type === 'Negation')
  const stages = node.commands.length
  for (const [stage, command] of node.commands.entries()) {
    const place: FramePlace = { pipeline, stage, stages, joined, negated, background }
    walkCommand(collector, command, frame, place, stages === 1 ? directory : copyDirectory(directory))
  }
}

function walkCommand(
  collector: Collector,
  node: CommandNode,
  frame: Frame,
  place: FramePlace,
  directory: Directory,
): void {
  switch (node.type) {
    case 'Command':
      walkSimple(collector, node, frame, place, directory)
      return
    case 'Redirected':
      // The files are opened whatever the compound command does, so an entry without a name holds them.
      addRedirections(collector, node.redirects, frame, place, directory)
      walkCommand(collector, node.command, frame, place, directory)
      return
    case 'Subshell':
      walkList(collector, node.body.commands, within(frame, 'subshell'), copyDirectory(directory))
      return
    case 'BraceGroup':
      walkList(collector, node.body.commands, within(frame, 'group'), directory)
      return
    case 'If': {
      walkList(collector, node.clause.commands, within(frame, 'condition'), directory)
      walkBranch(collector, node.then.commands, 'branch', frame, directory)
      for (const branch of node.elif) {
        walkBranch(collector, branch.clause.commands, 'condition', frame, directory)
        walkBranch(collector, branch.then.commands, 'branch', frame, directory)
      }
      if (node.else !== undefined) walkBranch(collector, node.else.commands, 'branch', frame, directory)
      return
    }
    case 'While':
      walkLoop(collector, [node.clause.commands, node.body.commands], frame, directory)
      return
    case 'For':
    case 'Select':
      noteSetting(collector, node.name.text, frame, directory)
      for (const word of node.wordlist ?? []) walkExpansions(collector, word, frame, directory)
      walkLoop(collector, [node.body.commands], frame, directory)
      return
    case 'ArithmeticFor':
      collector.noteArithmetic()
      for (const part of [node.initialize, node.test, node.update]) {
        if (part !== undefined) walkExpansions(collector, part, frame, directory)
      }
      walkLoop(collector, [node.body.commands], frame, directory)
      return
    case 'Case':
      walkExpansions(collector, node.word, frame, directory)
      for (const item of node.items) {
        for (const pattern of item.pattern) walkExpansions(collector, pattern, frame, directory)
        walkBranch(collector, item.body.commands, 'branch', frame, directory)
      }
      return
    case 'Function':
      walkElsewhere(collector, node.body, 'function', frame, place, directory)
      return
    case 'Coproc':
      if (node.name !== undefined) noteSetting(collector, node.name.text, frame, directory)
      walkElsewhere(collector, node.body, 'coprocess', frame, place, copyDirectory(directory))
      return
    case 'TestCommand':
      addBuiltin(collector, '[[', node, frame, place, directory)
      return
    case 'ArithmeticCommand':
      collector.noteArithmetic()
      addBuiltin(collector, '((', node, frame, place, directory)
      return
  }
}

function walkBranch(
  collector: Collector,
  statements: readonly Statement[],
  nesting: Nesting,
  frame: Frame,
  directory: Directory,
): void {
  const there = copyDirectory(directory)
  walkList(collector, statements, within(frame, nesting), there)
  if (there.path !== directory.path) directory.path = null
}

function walkLoop(
  collector: Collector,
  bodies: readonly (readonly Statement[])[],
  frame: Frame,
  directory: Directory,
): void {
  const first = collector.commands.length
  const there = copyDirectory(directory)
  for (const body of bodies) walkList(collector, body, within(frame, 'loop'), there)
  if (there.path === directory.path) return
  // From the second iteration on, the body starts where the previous one ended.
  directory.path = null
  for (const command of collector.commands.slice(first)) command.cwd = null
}

/** A function body runs where it is called, a coprocess beside the shell. */
function walkElsewhere(
  collector: Collector,
  body: CommandNode | { readonly type: 'CompoundList'; readonly commands: readonly Statement[] },
  nesting: 'function' | 'coprocess',
  frame: Frame,
  place: FramePlace,
  directory: Directory,
): void {
  const there: Directory = nesting === 'function' ? { path: null, assumed: true } : directory
  const inner = within(frame, nesting)
  const first = collector.commands.length
  if (body.type === 'CompoundList') walkList(collector, body.commands, inner, there)
  else walkCommand(collector, body, inner, { ...place, pipeline: collector.nextPipeline(), stage: 0, stages: 1 }, there)
  if (nesting === 'coprocess') return
  const moves = collector.commands
    .slice(first)
    .some((command) => command.program === 'cd' || command.program === 'pushd')
  if (moves) directory.path = null
}

function addBuiltin(
  collector: Collector,
  name: '[[' | '((',
  node: SyntaxNode,
  frame: Frame,
  place: FramePlace,
  directory: Directory,
): void {
  const { source, span } = locate(node, frame)
  const parts = { name: literalWord(name), args: [], assignments: [], redirections: [], source, span }
  walkExpansions(collector, node, collector.add(parts, frame, place, directory), directory)
}

function addRedirections(
  collector: Collector,
  nodes: readonly RedirectionNode[],
  frame: Frame,
  place: FramePlace,
  directory: Directory,
): void {
  const redirections = nodes.map((node) => readRedirection(node, frame.shortened))
  const source = nodes.map((node) => locate(node, frame).source).join(' ')
  const parts = { name: null, args: [], assignments: [], redirections, source, span: null }
  const inner = collector.add(
    parts,
    frame,
    { ...place, pipeline: collector.nextPipeline(), stage: 0, stages: 1 },
    directory,
  )
  for (const node of nodes) walkExpansions(collector, node, inner, directory)
}

function walkSimple(collector: Collector, node: Command, frame: Frame, place: FramePlace, directory: Directory): void {
  const name = node.name === undefined ? null : readWord(node.name)
  const args: Word[] = []
  const assignments: Assignment[] = []
  const redirections: Redirection[] = []
  const expanding: SyntaxNode[] = []
  if (name?.dynamic === true && node.name !== undefined) expanding.push(node.name)
  for (const part of node.prefix) {
    if (part.type === 'Assignment') {
      assignments.push({ name: part.name, value: assignedValue(part) })
      if (mayExpand(part)) expanding.push(part)
    } else {
      redirections.push(readRedirection(part, frame.shortened))
      expanding.push(part)
    }
  }
  for (const part of node.suffix) {
    if (part.type === 'Word') {
      const word = readWord(part)
      args.push(word)
      if (word.dynamic) expanding.push(part)
    } else if (part.type === 'Assignment') {
      args.push(assignmentWord(part))
      assignments.push({ name: part.name, value: assignedValue(part) })
      if (mayExpand(part)) expanding.push(part)
    } else {
      redirections.push(readRedirection(part, frame.shortened))
      expanding.push(part)
    }
  }
  checkApart(node)
  const { source, span } = locate(node, frame)
  const index = collector.commands.length
  const inner = collector.add({ name, args, assignments, redirections, source, span }, frame, place, directory)
  for (const part of expanding) walkExpansions(collector, part, inner, directory)
  collector.follow(index, frame, directory)
}

/** The parser ends a word at `<(…)`, bash does not: `r<()m` is `rm`. So words that touch cannot be read. */
function checkApart(node: Command): void {
  let end = -1
  for (const part of [...node.prefix, node.name, ...node.suffix]) {
    if (part === undefined) continue
    const isWord = part.type === 'Word' || part.type === 'Assignment'
    if (isWord && part.pos === end) throw new Refusal('a word that cannot be read')
    end = part.end
  }
}

function mayExpand(node: AssignmentNode): boolean {
  return /[$`<>[]/.test(node.text)
}

function locate(node: SyntaxNode, frame: Frame): { source: string; span: Span | null } {
  const { shortened } = frame
  const start = shortened === null ? node.pos : shortened.originalPosition(node.pos)
  const end = shortened === null ? node.end : shortened.originalPosition(node.end)
  return { source: frame.source.slice(start, end), span: frame.spans ? { start, end } : null }
}

const SETS = /^(?:[-+*/%&|^]|<<|>>)?=$/
const COMPARES_NUMBERS = /^-(?:eq|ne|lt|le|gt|ge)$/

function noteCalculated(collector: Collector, node: ArithmeticExpression, frame: Frame, directory: Directory): void {
  if (node.type === 'ArithmeticWord') noteSetting(collector, node.value, frame, directory)
}

/** A variable is set without an assignment. If it decides what runs, an entry without a name reports it. */
function noteSetting(collector: Collector, text: string, frame: Frame, directory: Directory): void {
  const name = /^\w*/.exec(text)?.[0] ?? ''
  if (!decidesWhatRuns(name)) return
  const assignments = [{ name, value: MADE_LATER }]
  const parts = { name: null, args: [], assignments, redirections: [], source: text, span: null }
  const place = { pipeline: collector.nextPipeline(), stage: 0, stages: 1, negated: false, background: false }
  collector.add(parts, frame, { ...place, joined: ';' }, directory)
}

/** Finds the scripts inside a node: command and process substitutions at any depth. */
function walkExpansions(collector: Collector, node: SyntaxNode, frame: Frame, directory: Directory): void {
  switch (node.type) {
    case 'CommandExpansion':
    case 'ArithmeticCommandExpansion':
      walkSubstitution(collector, node.script, 'substitution', frame, directory)
      return
    case 'ProcessSubstitution':
      walkSubstitution(collector, node.script, 'process-substitution', frame, directory)
      return
    case 'ArithmeticExpansion':
      collector.noteArithmetic()
      break
    case 'ArithmeticBinary':
      if (SETS.test(node.operator)) noteCalculated(collector, node.left, frame, directory)
      break
    case 'ArithmeticUnary':
      if (node.operator === '++' || node.operator === '--') noteCalculated(collector, node.operand, frame, directory)
      break
    case 'ParameterExpansion':
      // The value of x in `${!x}` and subscripts are evaluated.
      if (node.prefix === '!' || node.index !== undefined) collector.noteArithmetic()
      if (node.operation?.type === 'Default' && node.operation.operator.endsWith('=')) {
        noteSetting(collector, node.parameter, frame, directory)
      }
      break
    case 'Assignment':
      if (node.index !== undefined) collector.noteArithmetic()
      break
    case 'TestBinary':
      if (COMPARES_NUMBERS.test(node.operator)) collector.noteEvaluated(readWord(node.left), readWord(node.right))
      break
    case 'TestUnary':
      if (node.operator === '-v') collector.noteEvaluated(readWord(node.operand))
      break
    case 'FileDescriptorVariable':
      noteSetting(collector, node.name, frame, directory)
      break
    case 'Transform':
      // `${x@P}` expands the value of x again, including substitutions.
      if (node.operand.text === 'P') collector.suspect(['prompt expansion of a variable'])
      break
    case 'Slice':
      collector.noteArithmetic()
      break
    case 'ExtendedGlob':
      // Disabled in a bash that runs a command text, and in zsh `*(e:…:)` is code.
      collector.suspect(['extended pattern'])
      break
    case 'Unknown':
      throw new Refusal('an expansion that cannot be read')
    default:
  }
  forEachChild(node, (child) => walkExpansions(collector, child, frame, directory))
}

function walkSubstitution(
  collector: Collector,
  script: ParsedScript | undefined,
  origin: Origin,
  frame: Frame,
  directory: Directory,
): void {
  if (script === undefined) throw new Refusal('a substitution that cannot be read')
  // An escaped backtick script has its own text.
  const own = script.source
  const place = own === undefined ? frame : { ...frame, source: own, shortened: null, spans: false }
  walkScript(collector, script, deeper({ ...place, origin, nesting: [] }), copyDirectory(directory))
}
