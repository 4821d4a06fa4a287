import { lineDiff } from '@inspan/client'
import type { GrantScope, JsonObject, JsonValue } from '@inspan/protocol'
import type { Command, PendingApproval } from '@inspan/protocol/wire'
import { splitDescription, visible } from '@inspan/protocol/internal'
import { line, lines, type Block, type ToneLine } from './block.ts'

/** What a key does while something waits. `reason`: asks for a reason before it denies. */
export type WaitAction =
  | { readonly type: 'send'; readonly command: Command }
  | { readonly type: 'reason' }
  | { readonly type: 'choose'; readonly chosen: ReadonlySet<number> }

export interface WaitView {
  readonly wait: PendingApproval
  /** Options chosen so far, for a question that takes several. */
  readonly chosen: ReadonlySet<number>
  /** Keys work a moment after the wait has appeared, so that nobody answers it by typing something else. */
  readonly isArmed: boolean
  readonly isAskingReason: boolean
  readonly isUnfolded: boolean
  /** How many more wait after this one. */
  readonly others: number
  /** The file as it is now, which the call would replace; `null` if there is none. */
  readonly before?: string | null | undefined
}

const MAX_INPUT_LINES = 40
const MAX_OPTIONS = 9

export function waitBlocks(view: WaitView): readonly Block[] {
  const { isArmed, isAskingReason, others, wait } = view
  const keys = isAskingReason ? 'Why not? Enter sends the reason, Esc goes back.' : keysOf(wait)
  const more = others === 0 ? '' : ` (${others} more after this)`
  return [...detailBlocks(view), lines(line(isArmed ? `${keys}${more}` : '…', 'accent'))]
}

function detailBlocks({ before, chosen, isUnfolded, wait }: WaitView): readonly Block[] {
  const { description, input, kind, payload = {}, toolName } = wait
  switch (kind) {
    case 'question': {
      const { isMultiple, options, question } = questionOf(wait)
      const shown = options.map((option, index) => {
        const mark = isMultiple ? (chosen.has(index) ? '[x] ' : '[ ] ') : ''
        const meaning = option.description === undefined ? '' : `: ${option.description}`
        return line(visible(`  ${index + 1} ${mark}${option.label}${meaning}`))
      })
      const { files } = payload
      const about = Array.isArray(files) ? files.map((file) => line(visible(`  ${String(file)}`), 'soft')) : []
      return [lines(line(visible(question), 'strong'), ...about, ...shown)]
    }
    case 'plan': {
      const { title } = payload
      const plan = payload['plan'] ?? payload['content']
      const heading = `Approve this plan?${typeof title === 'string' ? ` ${title}` : ''}`
      const text: readonly Block[] = typeof plan === 'string' ? [{ type: 'markdown', text: visible(plan) }] : []
      return [lines(line(visible(heading), 'strong')), ...text]
    }
    default: {
      const { text, why } = splitDescription(toolName, input, description, payload)
      return [
        lines(
          line(visible(`Allow ${toolName}?`), 'strong'),
          ...(text === undefined ? [] : [line(visible(text), 'soft')]),
          ...(input === undefined ? [] : inputLines(input, before ?? '', isUnfolded)),
          ...(why === undefined ? [] : [line(visible(`Asked because ${why}.`), 'soft')]),
        ),
      ]
    }
  }
}

/** Shows the exact command or change, because that is what gets approved. */
function inputLines(input: JsonObject, current: string, isUnfolded: boolean): readonly ToneLine[] {
  const { command, content, new_string: after, old_string: before, ...rest } = input
  const all = [
    ...marked('$ ', command),
    ...Object.entries(rest).flatMap(([name, value]) => marked(`${visible(inOneLine(name))}: `, inOneLine(value))),
    ...marked('- ', before, 'bad'),
    ...marked('+ ', after, 'good'),
    ...(typeof content === 'string' ? changedLines(current, content) : marked('+ ', content, 'good')),
  ]
  const left = all.length - MAX_INPUT_LINES
  if (isUnfolded || left <= 0) return all
  return [...all.slice(0, MAX_INPUT_LINES), line(`  … ${left} more lines, Ctrl+O shows them`, 'bad')]
}

/** Lines around a change that say where it is. */
const CONTEXT = 2

/** Returns the lines of a file that would change, with a few around them. */
function changedLines(before: string, after: string): readonly ToneLine[] {
  const all = lineDiff(visible(before), visible(after))
  const isNear = (index: number): boolean =>
    all.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ kind }) => kind !== 'same')
  return all.flatMap(({ kind, text }, index) => {
    if (kind !== 'same') return [kind === 'added' ? line(`  + ${text}`, 'good') : line(`  - ${text}`, 'bad')]
    if (isNear(index)) return [line(`    ${text}`, 'soft')]
    return index > 0 && isNear(index - 1) ? [line('    …', 'soft')] : []
  })
}

/** A name or a value of several lines could look like several arguments. */
function inOneLine(value: JsonValue): string {
  return typeof value === 'string' && !value.includes('\n') ? value : JSON.stringify(value)
}

function marked(mark: string, value: JsonValue | undefined, tone: ToneLine['tone'] = 'plain'): readonly ToneLine[] {
  if (value === undefined) return []
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return visible(text)
    .split('\n')
    .map((each) => line(`  ${mark}${each}`, tone))
}

function keysOf(wait: PendingApproval): string {
  if (wait.kind === 'plan') return 'y approve · n reject · r reject with a reason'
  if (wait.kind === 'access') return 'y allow · n deny · r deny with a reason'
  if (wait.kind !== 'question') return 'y allow once · t this thread · a always in project · n deny · r deny, say why'
  const { isMultiple, options } = questionOf(wait)
  if (options.length === 0) return 'Type your answer. Enter sends it, Esc interrupts the run.'
  return isMultiple ? '1–9 choose · Enter answers' : '1–9 answer · or type another answer'
}

/** Returns what a key means for a wait; `undefined` if nothing. */
export function waitAction(view: WaitView, key: string): WaitAction | undefined {
  const { chosen, isArmed, isAskingReason, wait } = view
  if (!isArmed || isAskingReason) return undefined
  const { kind, toolCallId } = wait
  if (kind === 'question') return questionAction(wait, chosen, key)
  switch (key) {
    case 'y':
      return { type: 'send', command: approval(wait) }
    case 't':
      return remembering(wait, 'thread')
    case 'a':
      return remembering(wait, 'resource')
    case 'n':
      return { type: 'send', command: { type: 'deny', toolCallId } }
    case 'r':
      return { type: 'reason' }
    default:
      return undefined
  }
}

/** Only an approval can be remembered; a plan or a request for access is answered each time. */
function remembering(wait: PendingApproval, scope: GrantScope): WaitAction | undefined {
  if (wait.kind !== 'approval') return undefined
  return { type: 'send', command: { ...approval(wait), remember: 'tool', scope } }
}

function approval({ kind, toolCallId }: PendingApproval): Extract<Command, { type: 'approve' }> {
  if (kind === 'plan') return { type: 'approve', toolCallId, answer: { action: 'approved' } }
  return { type: 'approve', toolCallId, ...(kind === 'access' ? { answer: true } : {}) }
}

function questionAction(wait: PendingApproval, chosen: ReadonlySet<number>, key: string): WaitAction | undefined {
  const { isMultiple, options } = questionOf(wait)
  if (key === 'enter' && isMultiple && chosen.size > 0) {
    const labels = options.filter((_, index) => chosen.has(index)).map(({ label }) => label)
    return { type: 'send', command: { type: 'approve', toolCallId: wait.toolCallId, answer: labels } }
  }
  if (!/^[1-9]$/.test(key)) return undefined
  const index = Number(key) - 1
  const option = options[index]
  if (option === undefined) return undefined
  if (!isMultiple) {
    return { type: 'send', command: { type: 'approve', toolCallId: wait.toolCallId, answer: option.label } }
  }
  const next = new Set(chosen)
  if (!next.delete(index)) next.add(index)
  return { type: 'choose', chosen: next }
}

/** Returns the command for a text that was typed while something waits; `undefined` if it is no answer. */
export function typedAnswer({ isAskingReason, wait }: WaitView, text: string): Command | undefined {
  const { kind, toolCallId } = wait
  if (isAskingReason) return { type: 'deny', toolCallId, reason: text }
  if (kind !== 'question') return undefined
  return { type: 'approve', toolCallId, answer: questionOf(wait).isMultiple ? [text] : text }
}

interface WaitQuestion {
  readonly question: string
  readonly options: readonly { readonly label: string; readonly description?: string }[]
  readonly isMultiple: boolean
}

function questionOf({ description, payload = {} }: PendingApproval): WaitQuestion {
  const { options, question } = payload
  const mode = payload['selectionMode'] ?? payload['mode']
  return {
    question: typeof question === 'string' ? question : description,
    options: Array.isArray(options) ? (options as readonly JsonValue[]).flatMap(optionOf).slice(0, MAX_OPTIONS) : [],
    isMultiple: payload['multiSelect'] === true || mode === 'multi' || mode === 'multiple' || mode === 'multi_select',
  }
}

function optionOf(option: JsonValue): WaitQuestion['options'] {
  if (typeof option === 'string') return [{ label: option }]
  if (typeof option !== 'object' || option === null || Array.isArray(option)) return []
  const { description, label } = option as JsonObject
  if (typeof label !== 'string') return []
  return [{ label, ...(typeof description === 'string' ? { description } : {}) }]
}
