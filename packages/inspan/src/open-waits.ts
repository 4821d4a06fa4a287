import { createInterface } from 'node:readline/promises'
import type { ThreadRuntime } from '@inspan/core/engine'
import { InspanError, type Answer, type Wait } from '@inspan/protocol'
import type { Terminal } from './command.ts'
import { suggestion } from './suggestion.ts'
import { visible } from '@inspan/protocol/internal'

/** The exit code of a command that cannot go on before somebody answers. */
export const STILL_WAITING = 3

/** Returns the open waits of the thread, the oldest first. */
export function openWaits({ state }: ThreadRuntime): Wait[] {
  return [...state.head.waits].sort((a, b) => a.at - b.at)
}

/** Prints the open waits and how to answer them. */
export function sayWaits(
  waits: readonly Wait[],
  { thread, db }: { readonly thread: string; readonly db: string | undefined },
  terminal: Terminal,
): void {
  terminal.err(`Thread ${thread} waits for an answer, and goes on when it has one:`)
  for (const wait of waits) terminal.err(`  ${described(wait)}`)
  const [first] = waits
  const agentId = first?.subject.agentId
  const option = agentId === undefined || agentId === 'demo' ? '' : ` --harness ${agentId}`
  const words = first?.kind === 'approval' ? 'approve' : '"<your answer>"'
  const answer = suggestion(`run --thread ${thread}${option} --answer ${words}`, db, terminal)
  terminal.err(`Answer it: ${answer}`)
  terminal.err('("decline" says no. Several are answered in this order, with an --answer for each.)')
}

/** Asks the person at the terminal. False when the input ends or the signal aborts. */
export async function askPerson(runtime: ThreadRuntime, terminal: Terminal, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false
  using lines = createInterface({ input: terminal.input })
  const ended = Promise.withResolvers<undefined>()
  lines.once('close', () => ended.resolve(undefined))
  signal.addEventListener('abort', () => lines.close(), { once: true })
  for (const wait of openWaits(runtime)) {
    terminal.out(described(wait))
    terminal.write(wait.kind === 'approval' ? 'Approve it? [y/N] ' : 'Your answer (nothing declines): ')
    // `ended` comes first, because the input may have ended during the last answer, and then no question is possible.
    const line = await Promise.race([ended.promise, lines.question('')])
    if (line === undefined) return false
    await runtime.answer(wait.id, personsAnswer(wait, line.trim()), 'inspan run')
  }
  return true
}

/** Answers the open waits with the answers of the command line. False when there are too few. */
export async function answerWaits(runtime: ThreadRuntime, answers: readonly string[]): Promise<boolean> {
  const waits = openWaits(runtime)
  if (answers.length > waits.length) {
    throw new InspanError('misuse', `There are ${answers.length} answers, but ${waits.length} questions.`, {
      hint: waits.length === 0 ? 'Leave out --answer.' : 'Give one --answer for each.',
    })
  }
  for (const [index, answer] of answers.entries()) {
    const wait = waits[index]
    if (wait !== undefined) await runtime.answer(wait.id, commandsAnswer(wait, answer.trim()), 'inspan run')
  }
  return answers.length === waits.length
}

function described({ description, id, kind, subject }: Wait): string {
  const call = subject.toolName === undefined ? '' : ` ${subject.toolName} ${JSON.stringify(subject.args ?? {})}`
  return visible(`${kind} ${id}:${call}\n    ${description}`)
}

function commandsAnswer(wait: Wait, text: string): Answer {
  if (text === 'approve' || text === 'decline') return { decision: text }
  if (wait.kind !== 'approval') return worded(text)
  throw new InspanError('invalid-input', `"${text}" is not an answer to an approval.`, {
    hint: 'Say approve or decline.',
  })
}

function personsAnswer(wait: Wait, text: string): Answer {
  if (wait.kind === 'approval') return { decision: /^y(es)?$/i.test(text) ? 'approve' : 'decline' }
  return text === '' ? { decision: 'decline' } : worded(text)
}

/** Parses the answer as JSON if possible, else takes the text. */
function worded(text: string): Answer {
  try {
    return { decision: 'answer', value: JSON.parse(text) as Answer['value'] & {} }
  } catch {
    return { decision: 'answer', value: text }
  }
}
