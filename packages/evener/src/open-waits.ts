import { createInterface } from 'node:readline/promises'
import type { ThreadRuntime } from '@evener/core/engine'
import { EvenerError, type Answer, type Wait } from '@evener/protocol'
import type { Terminal } from './command.ts'
import { suggestion } from './suggestion.ts'
import { visible } from './visible-text.ts'

/** How a command ends that cannot go on before somebody answers. */
export const STILL_WAITING = 3

/** What the thread waits for, the oldest first. */
export function openWaits({ state }: ThreadRuntime): Wait[] {
  return [...state.head.waits].sort((a, b) => a.at - b.at)
}

/** Says what is waited for, and how it can be answered. */
export function sayWaits(
  waits: readonly Wait[],
  { thread, db }: { readonly thread: string; readonly db: string | undefined },
  terminal: Terminal,
): void {
  terminal.err(`Thread ${thread} waits for an answer, and goes on when it has one:`)
  for (const wait of waits) terminal.err(`  ${described(wait)}`)
  const [first] = waits
  const agentId = first?.subject.agentId
  const harness = agentId === undefined || agentId === 'demo' ? '' : ` --harness ${agentId}`
  const words = first?.kind === 'approval' ? 'approve' : '"<your answer>"'
  const answer = suggestion(`run --thread ${thread}${harness} --answer ${words}`, db, terminal)
  terminal.err(`Answer it: ${answer}`)
  terminal.err('("decline" says no. Several are answered in this order, with an --answer for each.)')
}

/** Asks the person at the terminal. False when there are no more answers to be had, or when asking is ended. */
export async function askPerson(runtime: ThreadRuntime, terminal: Terminal, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false
  using lines = createInterface({ input: terminal.input })
  const ended = Promise.withResolvers<undefined>()
  lines.once('close', () => ended.resolve(undefined))
  signal.addEventListener('abort', () => lines.close(), { once: true })
  for (const wait of openWaits(runtime)) {
    terminal.out(described(wait))
    terminal.write(wait.kind === 'approval' ? 'Approve it? [y/N] ' : 'Your answer (nothing declines): ')
    // The end first: it may have come while the last answer was given, and then nothing can be asked.
    const line = await Promise.race([ended.promise, lines.question('')])
    if (line === undefined) return false
    await runtime.answer(wait.id, personsAnswer(wait, line.trim()), 'evener run')
  }
  return true
}

/** Gives the answers of the command line to what waits. False when they are not enough. */
export async function answerWaits(runtime: ThreadRuntime, answers: readonly string[]): Promise<boolean> {
  const waits = openWaits(runtime)
  if (answers.length > waits.length) {
    throw new EvenerError('misuse', `There are ${answers.length} answers, but ${waits.length} questions.`, {
      hint: waits.length === 0 ? 'Leave out --answer.' : 'Give one --answer for each.',
    })
  }
  for (const [index, answer] of answers.entries()) {
    const wait = waits[index]
    if (wait !== undefined) await runtime.answer(wait.id, commandsAnswer(wait, answer.trim()), 'evener run')
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
  throw new EvenerError('invalid-input', `"${text}" is not an answer to an approval.`, {
    hint: 'Say approve or decline.',
  })
}

function personsAnswer(wait: Wait, text: string): Answer {
  if (wait.kind === 'approval') return { decision: /^y(es)?$/i.test(text) ? 'approve' : 'decline' }
  return text === '' ? { decision: 'decline' } : worded(text)
}

/** Data where it is some, else what was written. */
function worded(text: string): Answer {
  try {
    return { decision: 'answer', value: JSON.parse(text) as Answer['value'] & {} }
  } catch {
    return { decision: 'answer', value: text }
  }
}
