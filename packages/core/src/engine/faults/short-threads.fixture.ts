import { setImmediate as nextTask } from 'node:timers/promises'
import { Agent, createTool, type Tool } from '@inspan/agent'
import type { AgentEvent, Part } from '@inspan/protocol'
import type { AgentDriver, TurnDefaults } from '@inspan/protocol/driver'
import { scriptedModel, type ModelTurn } from '@inspan/testing'
import { createPolicy } from '../../policy/index.ts'
import { ForeignAgent, runs, says, type Act } from '../foreign-agent.fixture.ts'
import { RuntimeBench } from '../runtime-bench.fixture.ts'
import { runtimeAgent } from '../turns/runtime-agent.ts'
import type { ThreadRuntimeOptions } from '../thread-options.ts'
import { answerAll, TroubledStore, type Journal } from './troubled-thread.fixture.ts'

/** A thread with its agents, and what happened around it. */
export interface Stage extends Journal {
  readonly bench: RuntimeBench
  readonly store: TroubledStore
  readonly cli: ForeignAgent
}

/** A short scenario of a thread, without any disturbance. */
export interface ShortThread {
  readonly options?: Partial<ThreadRuntimeOptions>
  /** What the foreign agent does, turn by turn. */
  readonly acts?: (cli: () => ForeignAgent) => readonly Act[]
  readonly steer?: 'inject' | 'restart'
  readonly turn?: TurnDefaults
  readonly play: (stage: Stage) => Promise<void>
}

export const words = (text: string): Part[] => [{ id: '0', type: 'text', text }]

export async function say(stage: Stage, agentId: string, text: string): Promise<void> {
  await stage.bench.submit(text, { agentId })
  stage.accepted.push(text)
}

export async function follow(stage: Stage, agentId: string, text: string): Promise<void> {
  await stage.bench.runtime.followUp({ agentId, parts: words(text) })
  stage.accepted.push(text)
}

const QUESTION = { kind: 'question', subject: { agentId: 'cli' }, description: 'Sure?' } as const

const asks: Act = async function* (turn, host) {
  await host.ask({ ...QUESTION, id: crypto.randomUUID() })
  yield* says('Thank you.')(turn, host)
}

const takesBack: Act = async function* (turn, host) {
  const id = crypto.randomUUID()
  host.ask({ ...QUESTION, id }).catch(() => undefined)
  await nextTask()
  await host.withdraw(id)
  yield* says('Never mind.')(turn, host)
}

const startsProcess: Act = async function* (turn, host) {
  await host.noteProcess({ runTag: 'none', pid: 2 ** 30, startTime: 'never', bootId: 'none' })
  yield* says('Started.')(turn, host)
}

const slowly: Act = async function* () {
  yield { type: 'step-start', stepIndex: 0 }
  for (let word = 0; word < 6; word++) {
    await nextTask()
    yield { type: 'text-delta', text: 'word ' }
  }
  yield { type: 'step-finish', stepIndex: 0, finishReason: 'stop' }
}

/** Resolves when the idle thread was released. A thread that cannot be written is kept. */
function letGo({ bench, store }: Stage): Promise<void> {
  return bench.until(() => !bench.runtime.isHeld || store.hasFailed)
}

/** Resolves when the run is not active any more: the waiting foreign agent is closed. */
function programClosed({ bench, store }: Stage): Promise<void> {
  return bench.until(() => !bench.isRunning() || store.hasFailed)
}

export const SHORT_THREADS: { readonly [name: string]: ShortThread } = {
  'an answer, and one that was queued': {
    play: async (stage) => {
      await say(stage, 'native', 'Talk.')
      await follow(stage, 'native', 'Talk on.')
      await stage.bench.runtime.idle()
    },
  },
  'calls that are free, approved and asked about': {
    play: async (stage) => {
      await say(stage, 'native', 'Work.')
      await answerAll(stage.bench)
    },
  },
  'a run that is let go of while it waits': {
    options: { passivateAfter: 0 },
    play: async (stage) => {
      await say(stage, 'native', 'Work.')
      await stage.bench.runtime.idle()
      await letGo(stage)
      await answerAll(stage.bench)
    },
  },
  'a run at the limit of its budget': {
    turn: { budget: { tokens: 1 } },
    play: async (stage) => {
      await say(stage, 'native', 'Work.')
      await follow(stage, 'native', 'Talk.')
      await answerAll(stage.bench)
    },
  },
  'a process that comes after another one': {
    play: async (stage) => {
      await say(stage, 'native', 'Work.')
      await stage.bench.runtime.idle()
      await stage.bench.runtime.close()
      await stage.bench.restart()
      await answerAll(stage.bench)
    },
  },
  'a program that asks': {
    acts: (cli) => [runs(cli, 'ls'), asks],
    play: async (stage) => {
      await say(stage, 'cli', 'List.')
      await follow(stage, 'cli', 'And ask.')
      await answerAll(stage.bench)
    },
  },
  'a program that takes its question back': {
    acts: () => [startsProcess, takesBack],
    play: async (stage) => {
      await say(stage, 'cli', 'Start.')
      await stage.bench.runtime.idle()
      await say(stage, 'cli', 'Ask.')
      await answerAll(stage.bench)
    },
  },
  'a program that is closed while it waits': {
    options: { parkAfter: 0, keepWarm: 0 },
    acts: (cli) => [runs(cli, 'ls'), runs(cli, 'ls')],
    play: async (stage) => {
      await say(stage, 'cli', 'List.')
      await stage.bench.runtime.idle()
      await programClosed(stage)
      await answerAll(stage.bench)
    },
  },
  'a program that is talked to while it works': {
    acts: () => [slowly, slowly],
    play: async (stage) => {
      await say(stage, 'cli', 'Begin.')
      await say(stage, 'cli', 'Faster.')
      await say(stage, 'cli', 'Even faster.')
      await stage.bench.runtime.idle()
    },
  },
  'a program that begins anew when it is talked to': {
    steer: 'restart',
    acts: () => [slowly, slowly],
    play: async (stage) => {
      await say(stage, 'cli', 'Begin.')
      await say(stage, 'cli', 'Faster.')
      await stage.bench.runtime.idle()
    },
  },
  'an agent that passes the floor on': {
    acts: () => [says('Here I am.')],
    play: async (stage) => {
      await say(stage, 'first', 'Pass it on.')
      await stage.bench.runtime.idle()
    },
  },
}

/** Answers depending on the request, so that it does not matter who asks, or how often. */
function model(): ReturnType<typeof scriptedModel> {
  let calls = 0
  const turn = (request: unknown): ModelTurn => {
    const last = (request as { readonly prompt: readonly unknown[] }).prompt.at(-1)
    if (!JSON.stringify(last).includes('Work.')) return { text: ['So ', 'be it.'] }
    const call = calls++
    return { text: 'Now.', toolCalls: ['free', 'careful', 'asking'].map((name) => ({ id: `${name}${call}`, name })) }
  }
  return scriptedModel(Array.from({ length: 12 }, () => turn))
}

function toolsOf({ effects, unwanted }: Journal): Tool[] {
  const effect = async (key: string, signal: AbortSignal): Promise<string> => {
    if (signal.aborted) unwanted.push(key)
    effects.push(key)
    await nextTask()
    return 'done'
  }
  return [
    createTool({
      id: 'free',
      description: 'Free.',
      execute: (_, { abortSignal, idempotencyKey }) => effect(idempotencyKey, abortSignal),
    }),
    createTool({
      id: 'careful',
      description: 'Wants to be approved.',
      requireApproval: true,
      execute: (_, { abortSignal, idempotencyKey }) => effect(idempotencyKey, abortSignal),
    }),
    createTool({
      id: 'asking',
      description: 'Asks.',
      execute: async (_, { abortSignal, idempotencyKey, resumeData, suspend }) =>
        resumeData === undefined ? suspend({}, { kind: 'question' }) : effect(idempotencyKey, abortSignal),
    }),
  ] as Tool[]
}

/** A native agent that hands off to the foreign one. */
function passing(handOff: () => Promise<void>): AgentDriver {
  const agent = new ForeignAgent('first', [], { continuity: 'log' })
  const run = async function* (): AsyncGenerator<AgentEvent> {
    yield { type: 'start' }
    yield { type: 'step-start', stepIndex: 0 }
    yield { type: 'tool-call', toolCallId: 'c', toolName: 'pass', args: {} }
    await handOff()
    yield { type: 'tool-result', toolCallId: 'c', toolName: 'pass', result: 'passed on' }
  }
  return {
    port: 1,
    id: 'first',
    describe: () => agent.describe(),
    open: async (binding, host) => ({ ...(await agent.open(binding, host)), run }),
  }
}

export async function openStage(thread: ShortThread): Promise<Stage> {
  const store = new TroubledStore()
  const journal: Journal = { effects: [], unwanted: [], accepted: [], isCancelled: false }
  const cli: ForeignAgent = new ForeignAgent('cli', thread.acts?.(() => cli) ?? [], { steer: thread.steer ?? 'inject' })
  const native = runtimeAgent(new Agent({ id: 'native', model: model(), tools: toolsOf(journal) }))
  const bench: RuntimeBench = await RuntimeBench.open(
    {
      native: { ...native, ...(thread.turn === undefined ? {} : { turn: thread.turn }) },
      cli: { driver: cli },
      first: { driver: passing(() => bench.runtime.handOff({ agentId: 'cli' })) },
    },
    {
      store,
      policy: createPolicy({ rules: { categories: {}, tools: { free: 'allow', asking: 'allow' }, patterns: [] } }),
      ...thread.options,
    },
  )
  return Object.assign(journal, { bench, store, cli })
}
