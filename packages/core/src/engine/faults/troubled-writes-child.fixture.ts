/**
 * The process of `troubled-writes.test.ts`: short threads in which one write is disturbed and a command arrives in the
 * middle of it, in all combinations. A separate process, because a test runner that follows every promise takes longer
 * for it than the threads do. Run as: node troubled-writes-child.fixture.ts <mode>.
 */
import assert from 'node:assert/strict'
import type { Host } from '@inspan/protocol/driver'
import { boundaryAt } from '../threads/boundaries.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import { follow, openStage, say, SHORT_THREADS, words, type ShortThread, type Stage } from './short-threads.fixture.ts'
import { forkThread, rewindThread } from '../threads/threads.ts'
import { answerAll, answerTo, checkThread, unlessTooLate, type Trouble } from './troubled-thread.fixture.ts'

/** Something that happens in the middle of a write. */
type Intrusion = (stage: Stage) => Promise<unknown>

const nothing: Intrusion = async () => undefined
const cancel: Intrusion = (stage) => {
  stage.isCancelled = true
  return stage.bench.runtime.cancel()
}
const close: Intrusion = ({ bench }) => bench.runtime.close()
const steer: Intrusion = async (stage) => {
  await stage.bench.runtime.steer({ agentId: agentOf(stage), parts: words('Steered.') })
  stage.accepted.push('Steered.')
}
const followUp: Intrusion = (stage) => follow(stage, agentOf(stage), 'Followed up.')
const submit: Intrusion = (stage) => say(stage, agentOf(stage), 'Submitted.')
const answer =
  (isYes: boolean): Intrusion =>
  async ({ bench }) => {
    const waits = [...bench.runtime.state.head.waits]
    await Promise.all(waits.map((wait) => unlessTooLate(bench.runtime.answer(wait.id, answerTo(wait, isYes)))))
  }
const deny: Intrusion = ({ bench }) =>
  bench.runtime.configure({ rules: { categories: {}, tools: { free: 'deny' }, patterns: [] } })
const handOff: Intrusion = ({ bench }) => bench.runtime.handOff({ agentId: 'cli' })
const rewind: Intrusion = ({ bench, store }) => bench.runtime.change((log) => rewindThread(store, log, 0))
const fork: Intrusion = async ({ bench, store }) => {
  const { state } = bench.runtime
  const owner = await ProcessOwner.register(store)
  const at = await boundaryAt(store, state.head.lineage, state.head.seq)
  await forkThread(store, owner, state, { resourceId: 'test', at })
  await owner.close()
}
const wanted: Intrusion = async ({ store }) => {
  const owner = await ProcessOwner.register(store)
  try {
    await owner.release('thread', await owner.claim('thread'))
  } finally {
    await owner.close()
  }
}
/** The foreign agent uses its host, whatever state it is in; nobody awaits the result. */
const program =
  (what: (host: Host) => unknown): Intrusion =>
  async ({ cli }) => {
    const host = cli.hosts.at(-1)
    if (host !== undefined) Promise.resolve(what(host)).catch(() => undefined)
  }
const question = program((host) =>
  host.ask({ id: crypto.randomUUID(), kind: 'question', subject: { agentId: 'cli' }, description: 'Late?' }),
)
const call = program((host) => host.callTool({ toolCallId: 'late', toolName: 'free', args: {} }))
const process_ = program((host) => host.noteProcess({ runTag: 'x', pid: 2 ** 30, startTime: 'x', bootId: 'x' }))

const both =
  (...all: readonly Intrusion[]): Intrusion =>
  (stage) =>
    Promise.all(all.map((each) => unlessTooLate(each(stage))))

function agentOf({ bench }: Stage): string {
  const { agentId, run } = bench.runtime.state.head
  return run?.agentId ?? agentId ?? 'native'
}

type Intrusions = { readonly [name: string]: Intrusion }

const COMMANDS: Intrusions = {
  nothing,
  cancel,
  close,
  submit,
  answer: answer(true),
  'cancel, close': both(cancel, close),
  'answer, cancel': both(answer(true), cancel),
  'steer, close': both(steer, close),
}

const MORE: Intrusions = {
  ...COMMANDS,
  steer,
  'follow up': followUp,
  decline: answer(false),
  deny,
  'hand off': handOff,
  rewind,
  fork,
  'somebody else wants it': wanted,
  'cancel twice': both(cancel, cancel),
  'cancel, submit': both(cancel, submit),
  'answer, close': both(answer(true), close),
  'steer, cancel': both(steer, cancel),
  'follow up, cancel': both(followUp, cancel),
  'hand off, cancel': both(handOff, cancel),
}

const WITH_A_PROGRAM: Intrusions = {
  ...MORE,
  'a question of the program': question,
  'a call of the program': call,
  'a process of the program': process_,
  'a question, cancel': both(question, cancel),
  'cancel, a question': both(cancel, question),
  'a question, close': both(question, close),
  'close, a question': both(close, question),
}

const TASKS = [1, 2, 5, 20] as const

interface TroubledWrite {
  readonly thread: ShortThread
  readonly trouble: Trouble
  readonly intrusion: Intrusion
}

/** Plays the thread to its end and checks it from another process. Returns whether the disturbed write occurred. */
async function meet({ thread, trouble, intrusion }: TroubledWrite): Promise<boolean> {
  const stage = await openStage(thread)
  await using bench = stage.bench
  let met: Promise<void> | undefined
  stage.store.meet(trouble, () => {
    met = unlessTooLate(intrusion(stage))
  })
  await unlessTooLate(thread.play(stage))
  await met
  await bench.closeAll()
  assert.equal((await stage.store.getStream('thread'))?.owner, null, 'the thread is not free')
  await bench.restart()
  await answerAll(bench)
  await checkThread(bench, stage)
  return met !== undefined
}

async function writesOf(thread: ShortThread): Promise<number> {
  const stage = await openStage(thread)
  await using bench = stage.bench
  await thread.play(stage)
  await bench.runtime.close()
  return stage.store.writes
}

type Kinds = readonly [Trouble['kind'], ...Trouble['kind'][]]

/** Plays all combinations and returns how many occurred. The delays of the write take turns. */
async function meetAll(name: string, thread: ShortThread, kinds: Kinds, all: Intrusions): Promise<number> {
  const writes = await writesOf(thread)
  let points = 0
  for (let at = 1; at <= writes; at++) {
    for (const [index, [who, intrusion]] of Object.entries(all).entries()) {
      const tasks = TASKS[(at + index) % TASKS.length] ?? 1
      const kind = kinds[(at + index) % kinds.length] ?? kinds[0]
      try {
        if (await meet({ thread, trouble: { at, kind, tasks }, intrusion })) points++
      } catch (error) {
        const meeting = `${name}: write ${at} of ${writes} (${kind}, ${tasks} tasks) meets: ${who}.`
        throw new Error(meeting, { cause: error })
      }
    }
  }
  return points
}

/** Lets another process take the thread while its holder goes on. */
function takenOver(all: Intrusions): Intrusions {
  const meanwhile =
    (then: Intrusion): Intrusion =>
    (stage) => {
      const mine = unlessTooLate(then(stage))
      return Promise.all([mine, stage.bench.restart()])
    }
  return Object.fromEntries(Object.entries(all).map(([name, then]) => [name, meanwhile(then)]))
}

interface TroubleMode {
  readonly kinds: Kinds
  readonly intrusions: Intrusions
  /** Only the threads with a foreign agent, or only those without. */
  readonly hasProgram?: boolean
}

const MODES: { readonly [mode: string]: TroubleMode } = {
  late: { kinds: ['late'], intrusions: MORE, hasProgram: false },
  'late for a program': { kinds: ['late'], intrusions: WITH_A_PROGRAM, hasProgram: true },
  fails: { kinds: ['fails'], intrusions: COMMANDS },
  'taken over': { kinds: ['late', 'late receipt'], intrusions: takenOver(COMMANDS) },
}

const mode = MODES[process.argv[2] ?? '']
if (mode === undefined) throw new Error('There is no such mode.')
let points = 0
for (const [name, thread] of Object.entries(SHORT_THREADS)) {
  const { hasProgram, intrusions, kinds } = mode
  if (hasProgram !== undefined && hasProgram !== (thread.acts !== undefined)) continue
  points += await meetAll(name, thread, kinds, intrusions)
}
process.stdout.write(`${points} points\n`)
assert.ok(!process.getActiveResourcesInfo().includes('Timeout'), 'a timer is left')
