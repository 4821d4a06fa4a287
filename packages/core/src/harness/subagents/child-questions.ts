import type { Answer, Wait } from '@inspan/protocol'
import type { Grants } from '@inspan/protocol'
import type { ThreadState } from '@inspan/protocol/log'
import { type LogEntry, recordsAfter, type ThreadRuntime } from '../../engine/index.ts'
import type { HarnessCore } from '../harness-core.ts'
import type { ChildNote } from './child-note.ts'
import { passedBack, passedId, passedOn, questionsIn } from './passed-question.ts'

export interface ChildQuestionsOptions {
  readonly core: HarnessCore
  readonly parent: ThreadRuntime
  readonly child: ThreadRuntime
  readonly name: string
  readonly note: ChildNote
  readonly onError: (error: unknown) => void
}

/**
 * Asks the questions of a subagent in the thread of its parent, and passes the answers back. Ids follow from those of
 * the subagent's own questions, so whatever an interrupted process had done is found and nothing is asked twice.
 */
export class ChildQuestions {
  readonly #options: ChildQuestionsOptions
  readonly #thread: string
  readonly #stops: readonly (() => void)[]
  #work: Promise<void> = Promise.resolve()

  constructor(options: ChildQuestionsOptions) {
    this.#options = options
    const { child, parent } = options
    this.#thread = child.state.head.stream
    this.#stops = [
      child.onEntry((entry) => {
        if (isAboutWaits(entry)) this.#next(() => this.#pass())
      }),
      parent.onEntry((entry) => {
        if (entry.kind !== 'record' || entry.record.body.type !== 'wait.answered') return
        const { answer, waitId } = entry.record.body
        const wait = this.#open().find(({ id }) => passedId(this.#thread, id) === waitId)
        if (wait !== undefined) this.#next(() => this.#answer(wait, answer))
      }),
    ]
    this.#next(() => this.#pass())
  }

  /** Stops listening. Questions that are open stay open. */
  async close(): Promise<void> {
    this.#stops.forEach((stop) => stop())
    await this.#work
  }

  /** Takes back what nobody has to answer any more. Call it when the subagent has ended. */
  async withdraw(): Promise<void> {
    this.#next(() => this.#pass())
    await this.#work
  }

  #next(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch(this.#options.onError)
  }

  #open(): Wait[] {
    return questionsIn(this.#options.child.state.head.waits)
  }

  /** Makes the parent's questions those that the subagent has open. */
  async #pass(): Promise<void> {
    const { name, note, parent } = this.#options
    const open = this.#open()
    const asked = new Map(open.map((wait) => [passedId(this.#thread, wait.id), wait]))
    const answered: [Wait, Answer][] = []
    await parent.change(async (log) => {
      const { run, stream, waits } = log.state.head
      for (const { id } of waits) {
        if (!id.startsWith(`${this.#thread}:`) || asked.has(id)) continue
        await log.commit([{ type: 'wait.superseded', waitId: id }])
      }
      for (const [id, wait] of asked) {
        if (waits.has(id)) continue
        const answer = await this.#answerOnRecord(stream, id)
        if (answer !== undefined) {
          answered.push([wait, answer])
          continue
        }
        const { agentType, task } = note
        const question = passedOn(wait, name, { agentType, task, threadId: this.#thread }, callIds(log.state))
        // A question of the run is withdrawn when that ends. A subagent in the background has none.
        const origin = run === null || note.background === true ? {} : { run: run.runId }
        await log.commit([{ type: 'wait.opened', wait: question }], origin)
      }
    })
    for (const [wait, answer] of answered) await this.#answer(wait, answer)
  }

  /** Finds the answer that a process recorded in the parent without passing it back. */
  async #answerOnRecord(stream: string, id: string): Promise<Answer | undefined> {
    const { store } = this.#options.core
    const row = await store.getWait(stream, id)
    if (row?.state !== 'answered') return undefined
    for await (const { body } of recordsAfter(store, stream, row.wait.openedAt)) {
      if (body.type === 'wait.answered' && body.waitId === id) return body.answer
    }
    return undefined
  }

  async #answer(wait: Wait, answer: Answer): Promise<void> {
    const { child, parent } = this.#options
    if (!child.state.head.waits.has(wait.id)) return
    await child.answer(wait.id, passedBack(wait, answer))
    const { grants } = child.state.head
    const missing = missingGrants(parent.state.head.grants, grants)
    // "Always" was said in the session of the parent and holds for all that works there.
    if (answer.remember !== undefined && missing !== undefined) await parent.configure({ grants: missing })
  }
}

/** The ids of the calls that wait or work in a thread. */
function callIds({ head, messages }: ThreadState): ReadonlySet<string | undefined> {
  const open = [...messages].flatMap(({ parts }) => [...parts].filter((part) => part.type === 'tool-call'))
  return new Set([...[...head.waits].map(({ subject }) => subject.toolCallId), ...open.map((part) => part.toolCallId)])
}

function isAboutWaits(entry: LogEntry): boolean {
  return entry.kind === 'record' && entry.record.body.type.startsWith('wait.')
}

/** Returns the union, or `undefined` if nothing is missing. */
function missingGrants(have: Grants, more: Grants): Grants | undefined {
  const tools = [...new Set([...have.tools, ...more.tools])]
  const categories = [...new Set([...have.categories, ...more.categories])]
  const isSame = tools.length === have.tools.length && categories.length === have.categories.length
  return isSame ? undefined : { tools, categories }
}
