import { appendFileSync } from 'node:fs'
import { nativeDriver } from '@inspan/agent'
import type { Answer, Wait } from '@inspan/protocol'
import type { Decision, FaultPoints, ToolSuspension } from '@inspan/protocol/driver'
import type { Store } from '@inspan/protocol/store'
import { SqliteStore } from '@inspan/stores'
import { scriptedModel, type ScriptedModel, type ModelTurn } from '@inspan/testing'
import type { RunnableTool } from '../calls/runnable-tool.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { createThread } from '../threads/threads.ts'
import { ThreadRuntime } from '../thread-runtime.ts'
import type { RuntimeAgents } from '../turns/active-run.ts'

export interface Life {
  readonly url: string
  /** The file in which tools note that they ran. */
  readonly journal: string
  readonly faults: FaultPoints
  readonly say: (line: string) => void
}

/** The agents of a run, and what is sent to it from outside. */
interface Cast {
  readonly agents: (runtime: () => ThreadRuntime) => RuntimeAgents
  readonly agentId: string
  readonly task: string
  readonly decide?: (toolName: string) => Decision
  /** Steered into the run when its first tool starts. */
  readonly steer?: string
  readonly answer: (wait: Wait) => Answer
}

/** The model's answer to a conversation, whichever process asks and how often. */
type PlayLine = (conversation: string) => ModelTurn

function mortalModel(line: PlayLine, faults: FaultPoints): ScriptedModel {
  const scripted = scriptedModel(
    Array.from(
      { length: 20 },
      () =>
        ({ prompt }) =>
          line(JSON.stringify(prompt)),
    ),
  )
  return {
    ...scripted,
    doStream: async (options) => {
      await faults.reach('model.before')
      const { stream, ...rest } = await scripted.doStream(options)
      const watched = stream.pipeThrough(new TransformStream({ flush: async () => faults.reach('model.after') }))
      return { ...rest, stream: watched }
    },
  }
}

function writing(name: string, journal: string): RunnableTool {
  return {
    name,
    inputSchema: { type: 'object' },
    execute: async (_input, { idempotencyKey }) => {
      appendFileSync(journal, `${name} ${idempotencyKey}\n`)
      return { result: 'ok' }
    },
  }
}

/** A tool that asks before it does anything. */
function asking(
  name: string,
  journal: string,
  suspend: Pick<ToolSuspension['suspend'], 'kind' | 'answerSchema'>,
): RunnableTool {
  return {
    name,
    inputSchema: { type: 'object' },
    execute: async (_input, { idempotencyKey, resume }) => {
      if (resume === undefined) return { suspend: { ...suspend, description: `${name}?` } }
      appendFileSync(journal, `${name} ${idempotencyKey}\n`)
      return { result: resume.value ?? null }
    },
  }
}

/** Reads change nothing, and heartbeats come at unpredictable times. */
const WITHOUT_POINTS = /^(open|close|get|list|read|latest|heartbeat)/

/** A store with fault points right before and after every write. */
function mortalStore(inner: Store, faults: FaultPoints): Store {
  return new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      const call = member.bind(target) as (...args: unknown[]) => unknown
      if (typeof name !== 'string' || WITHOUT_POINTS.test(name)) return call
      return async (...args: unknown[]) => {
        await faults.reach(`${name}.before`)
        const result = await call(...args)
        await faults.reach(`${name}.after`)
        return result
      }
    },
  })
}

/** Plays one run in a process that may die at any point. Started again, it recovers what it finds. */
async function live({ faults, say, url }: Life, cast: Cast): Promise<void> {
  const store = mortalStore(new SqliteStore({ url }), faults)
  if ((await store.getThread('thread')) === null) await createThread(store, { id: 'thread', resourceId: 'test' })
  const owner = await ProcessOwner.register(store)
  const { agentId, decide, steer, task } = cast
  let opened: ThreadRuntime | undefined
  const current = (): ThreadRuntime => {
    if (opened === undefined) throw new Error('The thread is not open.')
    return opened
  }
  const open = ThreadRuntime.open(
    {
      store,
      owner,
      thread: 'thread',
      agents: cast.agents(current),
      ...(decide === undefined ? {} : { decide: ({ toolName }) => decide(toolName) }),
      // Writes already have fault points in the store.
      faults: { reach: (name, detail) => (name.startsWith('tool.') ? faults.reach(name, detail) : undefined) },
    },
    async (taken) => void (opened = taken),
  )
  const runtime = await open
  for (const { id } of runtime.state.head.waits) say(`found ${id}`)
  const isNew = runtime.state.head.seq === 0
  const submit = async (text: string): Promise<void> => {
    await runtime.submit({ agentId, parts: [{ id: '0', type: 'text', text }] })
    say(`accepted ${text}`)
  }
  let isSteered = !isNew || steer === undefined
  runtime.onEntry((entry) => {
    if (entry.kind !== 'record') return
    if (entry.record.body.type === 'wait.opened') say(`waiting ${entry.record.body.wait.id}`)
    if (entry.record.body.type === 'call.started' && !isSteered) {
      isSteered = true
      void submit(steer ?? '')
    }
  })
  if (isNew) await submit(task)
  for (;;) {
    await runtime.idle()
    const [wait] = [...runtime.state.head.waits]
    if (wait === undefined) break
    await runtime.answer(wait.id, cast.answer(wait), 'ann')
    say(`answered ${wait.id}`)
  }
  await runtime.close()
  await owner.close()
  await store.close()
  say('over')
}

/** Two calls at once, an approval and a steer. */
function turn(life: Life): Promise<void> {
  const { faults, journal } = life
  const line: PlayLine = (conversation) =>
    conversation.includes('"tool-result"')
      ? { text: ['All ', 'done.'] }
      : {
          text: 'Working.',
          toolCalls: [
            { id: 'c1', name: 'write', input: { path: 'a' } },
            { id: 'c2', name: 'guarded', input: { path: 'b' } },
          ],
        }
  const driver = nativeDriver({ id: 'native', model: mortalModel(line, faults) })
  return live(life, {
    agents: () => ({ native: { driver, tools: [writing('write', journal), writing('guarded', journal)] } }),
    agentId: 'native',
    task: 'Write both.',
    decide: (toolName) =>
      toolName === 'guarded' ? { policy: 'ask', reason: 'guarded' } : { policy: 'allow', reason: 'free' },
    steer: 'Hurry.',
    answer: () => ({ decision: 'approve' }),
  })
}

const CHOICE = { type: 'array', items: { enum: ['a', 'b', 'c'] }, uniqueItems: true }
const FILES = { type: 'object', properties: { files: CHOICE }, required: ['files'] }

/**
 * A planner asks for a choice and, at the same time, hands off to a builder, which has a tool that waits for something
 * outside, and answers with data.
 */
function floor(life: Life): Promise<void> {
  const { faults, journal } = life
  const plan: PlayLine = (conversation) =>
    conversation.includes('"tool-result"')
      ? { text: 'I could not give the floor.' }
      : {
          toolCalls: [
            { id: 'c1', name: 'choose' },
            { id: 'c2', name: 'give' },
          ],
        }
  const build: PlayLine = (conversation) =>
    conversation.includes('"toolName":"gather"')
      ? { text: '{ "files": ["a", "c"] }' }
      : { toolCalls: [{ id: 'c3', name: 'gather' }] }
  const choose = asking('choose', journal, { kind: 'question', answerSchema: JSON.stringify(CHOICE) })
  return live(life, {
    agents: (runtime) => ({
      planner: {
        driver: nativeDriver({ id: 'planner', model: mortalModel(plan, faults) }),
        tools: [choose, giving(journal, () => runtime().handOff({ agentId: 'builder' }))],
      },
      builder: {
        driver: nativeDriver({ id: 'builder', model: mortalModel(build, faults), output: { schema: FILES } }),
        tools: [asking('gather', journal, { kind: 'tool' })],
      },
    }),
    agentId: 'planner',
    task: 'Plan and build.',
    answer: ({ kind }) => ({ decision: 'answer', value: kind === 'question' ? ['a', 'c'] : { ready: true } }),
  })
}

function giving(journal: string, give: () => Promise<void>): RunnableTool {
  const { execute, ...tool } = writing('give', journal)
  return {
    ...tool,
    execute: async (input, context) => {
      await give()
      return execute(input, context)
    },
  }
}

export const PLAYS = { turn, floor } as const

export type PlayName = keyof typeof PLAYS
