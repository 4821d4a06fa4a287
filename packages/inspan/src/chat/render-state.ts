import { describeCost, summarizeCall, type ClientState } from '@inspan/client'
import type { JsonObject, JsonValue } from '@inspan/protocol'
import type { HarnessToolCall, WireMessage } from '@inspan/protocol/wire'
import { oneLine } from '../one-line.ts'
import { adviceOn, visible } from '@inspan/protocol/internal'
import { line, lines, type Block, type ToneLine, type Tone } from './block.ts'

/** How many lines of an output are shown when it is unfolded. The newest tell most. */
const UNFOLDED_LINES = 200
const SUBJECT_CHARS = 100

/** Returns what a message looks like. Folded, a tool call takes one line, and one more for the end of its output. */
export function messageBlocks(message: WireMessage, isUnfolded: boolean): readonly Block[] {
  const { attachments = [], content, reasoning, role, status, toolCalls = [] } = message
  const blocks: Block[] = []
  if (reasoning !== undefined) blocks.push(reasoningBlock(visible(reasoning), isUnfolded))
  const text = visible(content).trim()
  if (text !== '') blocks.push(textBlock(role, text))
  if (attachments.length > 0) {
    blocks.push(lines(...attachments.map((each) => line(visible(`[${each.fileName ?? each.mimeType}]`), 'soft'))))
  }
  if (toolCalls.length > 0) blocks.push(lines(...toolCalls.flatMap((call) => callLines(call, isUnfolded))))
  if (status === 'error' && role === 'assistant') blocks.push(lines(line('(interrupted)', 'soft')))
  return blocks
}

function textBlock(role: WireMessage['role'], text: string): Block {
  if (role === 'assistant') return { type: 'markdown', text }
  const [first = '', ...rest] = text.split('\n')
  const mark = role === 'user' ? '> ' : '* '
  return lines(line(`${mark}${first}`, 'strong'), ...rest.map((each) => line(`  ${each}`, 'strong')))
}

function reasoningBlock(text: string, isUnfolded: boolean): Block {
  if (!isUnfolded) return lines(line(`Thinking: ${oneLine(text)}`, 'soft'))
  return lines(...text.split('\n').map((each) => line(each, 'soft')))
}

const MARKS: Readonly<Record<HarnessToolCall['status'], readonly [mark: string, tone: Tone, note: string]>> = {
  running: ['…', 'soft', ''],
  'awaiting-approval': ['?', 'accent', ' (waits for you)'],
  complete: ['✓', 'good', ''],
  error: ['✗', 'bad', ' (failed)'],
  denied: ['✗', 'bad', ' (denied)'],
}

function callLines(call: HarnessToolCall, isUnfolded: boolean): readonly ToneLine[] {
  const [mark, tone, note] = MARKS[call.status]
  const subject = oneLine(visible(summarizeCall(call).subject), SUBJECT_CHARS)
  const title = `${mark} ${oneLine(visible(call.name))}${subject === '' ? '' : ` ${subject}`}${note}`
  const output = visible(wordsOf(call.output ?? '')).trimEnd()
  const change = isUnfolded ? changeLines(call.input) : []
  if (output === '') return [line(title, tone), ...change]
  const all = output.split('\n')
  if (!isUnfolded) return [line(title, tone), line(`  ${foldedOutput(all)}`, 'soft')]
  const left = all.length - UNFOLDED_LINES
  return [
    line(title, tone),
    ...change,
    ...(left > 0 ? [line(`  … ${left} lines before`, 'soft')] : []),
    ...all.slice(-UNFOLDED_LINES).map((each) => line(`  ${each}`, 'soft')),
  ]
}

/** Shows what a call that writes a file has changed. */
function changeLines(input: JsonObject | undefined): readonly ToneLine[] {
  const { content, new_string: after = content, old_string: before } = input ?? {}
  const marked = (mark: string, value: JsonValue | undefined, tone: Tone): readonly ToneLine[] =>
    typeof value === 'string' && value !== ''
      ? visible(value)
          .split('\n')
          .map((each) => line(`  ${mark} ${each}`, tone))
      : []
  return [...marked('-', before, 'bad'), ...marked('+', after, 'good')]
}

/** Takes the text out of a result that wraps it. */
function wordsOf(output: string): string {
  if (!output.startsWith('{"content":"')) return output
  try {
    return (JSON.parse(output) as { content: string }).content
  } catch {
    // The beginning of a long result.
    return output
  }
}

function foldedOutput(all: readonly string[]): string {
  const shown = oneLine(all.findLast((each) => each.trim() !== '') ?? '', SUBJECT_CHARS)
  return all.length === 1 ? shown : `${shown} (${all.length} lines, Ctrl+O unfolds)`
}

/** Returns the queued messages, and what the agent is doing or why it stopped. */
export function activityLines(state: ClientState): readonly ToneLine[] {
  const { error, head, status } = state
  const queued = [...head.queue].map(({ parts }) => {
    const text = parts.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join(' ')
    return line(`queued: ${oneLine(visible(text))}`, 'soft')
  })
  if (status === 'running') return [line('Working… Esc interrupts.', 'accent'), ...queued]
  if (error !== undefined) {
    const advice = head.lastRun?.error === undefined ? undefined : adviceOn(head.lastRun.error)
    const about = advice === undefined ? [] : [line(`  ${advice}`, 'soft')]
    return [line(`! ${visible(error)}`, 'bad'), ...about, ...queued]
  }
  return queued
}

/** Returns the line below the input: where this is, and whether it is connected. */
export function statusLine(state: ClientState): ToneLine {
  const { connection, head, problem } = state
  if (connection !== 'open') {
    const why = problem === undefined ? '' : ` (${oneLine(visible(problem))})`
    const what = connection === 'closed' ? 'The connection is closed' : 'Not connected, trying again'
    return line(`${what}${why}`, 'bad')
  }
  const { own, subagents } = head.usage
  const tokens = own.inputTokens + own.outputTokens
  const cost = describeCost({
    costUsd: own.costUsd + subagents.costUsd,
    estimatedUsd: (own.estimatedUsd ?? 0) + (subagents.estimatedUsd ?? 0),
  })
  const parts = [
    head.title ?? 'new thread',
    head.mode,
    head.model,
    tokens === 0 ? null : `${tokens.toLocaleString('en')} tokens`,
    cost === '' ? null : cost,
    '/help',
  ]
  return line(parts.flatMap((part) => (part === null ? [] : [oneLine(visible(part), 40)])).join(' · '), 'soft')
}
