import {
  type Ground,
  type Reach,
  type Touch,
  type Whereabouts,
  below,
  changesFiles,
  covers,
  fedBy,
  findOutside,
  isReadOnly,
  isReadable,
  isTransparent,
  keptFiles,
  locate,
  madeFiles,
  matchesHidden,
  mentions,
  opensNetwork,
  reach as reachOfWords,
  runsMadeFile,
  strongest,
  throughPipe,
  touchedFiles,
  whyTouched,
} from '@inspan/shell/judge'
import type { SimpleCommand } from '@inspan/shell/read'
import { readCommand } from '@inspan/shell/read/command'
import { findWriteAllow, strictFileRules, touchReach } from './judge-files.ts'
import { finding, piece, type Finding, type Judgement, type Piece } from './judgement.ts'
import type { PlacedRule } from './rule-book.ts'

type ShellRule = Extract<PlacedRule, { kind: 'shell' }>

export interface CommandCall {
  readonly text: string
  readonly toolName: string
  readonly where: Whereabouts
  /** The rule that forbids all changes of files; null without one. */
  readonly noEdits: Omit<Finding, 'part'> | null
}

/** Every word is compared with every rule. Nobody could review more words than this anyway. */
const MOST_WORDS = 5_000
const MOST_TOUCHES = 10_000

/** No shell takes a longer argument, and looking for names in it would take too long. */
const LONGEST_SEARCHED = 131_072

/** Judges every program that a command text would run and every file that it would write, each on its own. */
export function judgeCommand(call: CommandCall, rules: readonly PlacedRule[]): Judgement {
  const shellRules = rules.filter((rule) => rule.kind === 'shell')
  const { start } = call.where
  const reading = readCommand(call.text, start.from === 'root' ? { cwd: `/${start.segments.join('/')}` } : {})
  if (!reading.ok) return judgeUnreadable(call, shellRules, rules, reading.reason)
  const { commands, suspicious } = reading
  if (commands.reduce((count, command) => count + wordsIn(command), 0) > MOST_WORDS) {
    return judgeUnreadable(call, shellRules, rules, `more than ${MOST_WORDS} words`)
  }
  const withHidden = matchesHidden(commands)
  const touches = commands.flatMap((command) => {
    const kept = keptFiles(command, call.where)
    const shown = kept.length > 0 && isAllowedByName(command, call, shellRules, commands) ? [] : kept
    return [...touchedFiles(command, commands, call.where, withHidden), ...shown]
  })
  if (touches.length > MOST_TOUCHES) {
    return judgeUnreadable(call, shellRules, rules, `more than ${MOST_TOUCHES} words that may be files`)
  }
  const hidden = suspicious.length === 0 ? null : `it holds: ${suspicious.join(', ')}`
  const outside = findOutside(call.text, commands)
  const everyone = meet(commands)
  const judged = everyone
    .filter(({ command }) => !isTransparent(command))
    .map((met) => ({ command: met.command, piece: judgeOne(met, call, shellRules, commands, outside) }))
  const { denied, doubtful } = findDenies(call, shellRules, rules, everyone, touches)
  const pieces = [
    ...judged.map((each) => each.piece),
    ...everyone.filter(({ command }) => isTransparent(command)).flatMap((met) => askedAbout(met, shellRules)),
    ...touches.flatMap((touch) => judgeTouch(touch, call, rules)),
    ...(hidden === null ? [] : [piece(call.text, { obscure: hidden })]),
  ]
  return {
    denied,
    doubtful:
      doubtful ??
      findWriter(call, judged) ??
      (hidden === null && outside === null ? null : anyDeny(call, shellRules, rules)),
    pieces: pieces.length === 0 ? [piece(call.text)] : pieces,
  }
}

function wordsIn({ args, assignments, redirections }: SimpleCommand): number {
  return args.length + assignments.length + redirections.length
}

/** Finds, where no file may be changed, a command that is not known to leave files alone and that no pattern allows. */
function findWriter(
  { noEdits }: CommandCall,
  judged: readonly { readonly command: SimpleCommand; readonly piece: Piece }[],
): Finding | null {
  if (noEdits === null) return null
  const writer = judged.find(({ command, piece: { allow } }) => allow === null && !isReadOnly(command))
  return writer === undefined ? null : { ...noEdits, part: writer.command.source }
}

/** A text that cannot be read asks; if it also names a denied program, it is denied. */
function judgeUnreadable(
  call: CommandCall,
  shellRules: readonly ShellRule[],
  rules: readonly PlacedRule[],
  reason: string,
): Judgement {
  const isNamed = ({ rule, pattern }: ShellRule): boolean =>
    rule.policy === 'deny' && !pattern.program.isAny && mentions(pattern, call.text)
  const named = call.text.length > LONGEST_SEARCHED ? undefined : shellRules.find(isNamed)
  return {
    denied: named === undefined ? null : finding(named, call.text),
    doubtful: anyDeny(call, shellRules, rules),
    pieces: [piece(call.text, { obscure: `it cannot be read: ${reason}` })],
  }
}

/** Returns some deny that might apply to a text nobody can be sure of. */
function anyDeny(call: CommandCall, shellRules: readonly ShellRule[], rules: readonly PlacedRule[]): Finding | null {
  const [deny] = [...shellRules.filter(({ rule }) => rule.policy === 'deny'), ...strictFileRules(rules, 'deny')]
  if (deny !== undefined) return finding(deny, call.text)
  return call.noEdits === null ? null : { ...call.noEdits, part: call.text }
}

function findDenies(
  { noEdits, where }: CommandCall,
  shellRules: readonly ShellRule[],
  rules: readonly PlacedRule[],
  everyone: readonly Met[],
  touches: readonly Touch[],
): Pick<Judgement, 'denied' | 'doubtful'> {
  const found: { reach: Reach; finding: Finding }[] = []
  for (const rule of shellRules) {
    if (rule.rule.policy !== 'deny') continue
    for (const met of everyone) {
      const reach = reachOf(rule, met)
      if (reach !== 'no') found.push({ reach, finding: finding(rule, met.command.source, whyRun(met)) })
    }
  }
  for (const touch of touches) {
    for (const rule of strictFileRules(rules, 'deny')) {
      const reach = touchReach(rule, touch, where)
      if (reach !== 'no') found.push({ reach, finding: finding(rule, touch.part, whyTouched(touch)) })
    }
    if (noEdits !== null && touch.access === 'edit' && touch.isCertain) {
      found.push({ reach: 'yes', finding: { ...noEdits, part: touch.part } })
    }
  }
  if (noEdits !== null) {
    for (const { command } of everyone) {
      found.push({ reach: changesFiles(command), finding: { ...noEdits, part: command.source } })
    }
  }
  return {
    denied: found.find((each) => each.reach === 'yes')?.finding ?? null,
    doubtful: found.find((each) => each.reach === 'maybe')?.finding ?? null,
  }
}

/** A command, and how the others in its text affect it. */
interface Met {
  readonly command: SimpleCommand
  /** The commands that may write to its input. */
  readonly fedBy: readonly SimpleCommand[]
  readonly runsMadeFile: boolean
}

function meet(commands: readonly SimpleCommand[]): Met[] {
  const made = madeFiles(commands)
  return commands.map((command) => {
    return { command, fedBy: fedBy(command, commands), runsMadeFile: runsMadeFile(command, made) }
  })
}

const RUNS_MADE_FILE = 'it runs a file that the same text makes'

/** Returns why the command may run more than what is written; null when it does not. */
function whyRun(met: Met): string | null {
  return met.command.unknown ?? (met.runsMadeFile ? RUNS_MADE_FILE : null)
}

function reachOf({ pattern }: ShellRule, met: Met): Reach {
  const made: Reach = met.runsMadeFile ? 'maybe' : 'no'
  return strongest(reachOfWords(pattern, met.command), made, throughPipe(pattern, met.command, met.fedBy))
}

/** A command that runs nothing by itself needs no allow, but a rule may want to ask about it. */
function askedAbout(met: Met, rules: readonly ShellRule[]): Piece[] {
  const ask = findAsk(met, rules)
  return ask === null ? [] : [piece(met.command.source, { ask })]
}

function findAsk(met: Met, rules: readonly ShellRule[]): Finding | null {
  const ask = rules.find((each) => each.rule.policy === 'ask' && reachOf(each, met) !== 'no')
  return ask === undefined ? null : finding(ask, met.command.source)
}

function judgeOne(
  met: Met,
  call: CommandCall,
  rules: readonly ShellRule[],
  commands: readonly SimpleCommand[],
  outside: string | null,
): Piece {
  const { command } = met
  const { name, source } = command
  const isObscure = name !== null && !isReadable(name)
  const result = piece(source, {
    ask: findAsk(met, rules),
    obscure: isObscure ? 'which program it runs is only known when it runs' : null,
  })
  let near = command.redirections.some(opensNetwork) ? 'it opens a connection' : outside
  if (met.runsMadeFile) near ??= RUNS_MADE_FILE
  if (near !== null) return { ...result, near }
  const ground = groundOf(call.where, commands)
  for (const rule of rules) {
    if (rule.rule.policy !== 'allow' || rule.rule.tool !== call.toolName) continue
    const coverage = covers(rule.pattern, command, commands, ground)
    if (coverage.isCovered) return { ...result, allow: finding(rule, source) }
    near ??= coverage.near
  }
  return { ...result, near }
}

/** True when a rule that allows the command names more than the program: `git diff *`, and not `git *`. */
function isAllowedByName(
  command: SimpleCommand,
  { toolName, where }: CommandCall,
  rules: readonly ShellRule[],
  commands: readonly SimpleCommand[],
): boolean {
  return rules.some(
    ({ pattern, rule }) =>
      rule.policy === 'allow' &&
      rule.tool === toolName &&
      pattern.words[0]?.isFixed === true &&
      covers(pattern, command, commands, groundOf(where, commands)).isCovered,
  )
}

function groundOf({ home, root, start }: Whereabouts, commands: readonly SimpleCommand[]): Ground {
  const isInside = ({ cwd }: SimpleCommand): boolean =>
    cwd !== null && below(root, start) !== undefined && below(start, locate(cwd, start, home)) !== undefined
  return {
    exported: commands.filter(({ program }) => program === 'export').flatMap(({ assignments }) => assignments),
    isInside,
    isStart: (command) =>
      isInside(command) && !command.cwdAssumed && below(start, locate(command.cwd ?? '', start, home))?.length === 0,
  }
}

/** A file that the shell opens for writing needs an allow of its own; a rule may also want to ask about any touch. */
function judgeTouch(touch: Touch, { where }: CommandCall, rules: readonly PlacedRule[]): Piece[] {
  const ask = strictFileRules(rules, 'ask').find((rule) => touchReach(rule, touch, where) !== 'no')
  const isWrite = touch.isRedirection && touch.access === 'edit'
  if (ask === undefined && !isWrite) return []
  return [
    piece(touch.part, {
      isWrite,
      ask: ask === undefined ? null : finding(ask, touch.part),
      allow: isWrite ? findWriteAllow(rules, touch, where) : null,
      near: isWrite ? `it writes ${touch.path ?? 'a file that is only known when it runs'}` : null,
    }),
  ]
}
