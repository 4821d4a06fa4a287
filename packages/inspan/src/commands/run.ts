import { constants } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { clis, type Cli, type PermissionLevel, type RecordOptions } from '@inspan/adapters/reading'
import { createThread, ProcessOwner, ThreadRuntime, type Redactor, type RuntimeAgent } from '@inspan/core/engine'
import type { PermissionPolicy } from '@inspan/core/policy'
import { InspanError, type Answer, type PermissionRules } from '@inspan/protocol'
import { didYouMean } from '@inspan/protocol/internal'
import type { Store } from '@inspan/protocol/store'
import { UsageError, type InspanCommand, type Terminal } from '../command.ts'
import { readConfig } from '../config-file.ts'
import { openStore, pruneRecordings, recordingsOf } from '../data-file.ts'
import { eventsOfEntry, type PrintedEvent } from '../entry-events.ts'
import { answerWaits, askPerson, openWaits, sayWaits, STILL_WAITING } from '../open-waits.ts'
import { NATIVE } from '../native-id.ts'
import { oneLine } from '../one-line.ts'
import { parseOptions } from '../parse-options.ts'
import { Progress } from '../progress.ts'
import { findThread, headOf, lastAgentOf } from '../read-thread.ts'
import { Recordings } from '../recordings.ts'
import { Renderer } from '../render.ts'
import { dollarsOf, secondsOf } from '../run-limits.ts'
import { suggestion } from '../suggestion.ts'

const DEMO = 'demo'
const DEMO_PROMPT = 'What is in this folder?'
/** Slow enough to be seen streaming, fast enough not to wait for. */
const DEMO_PACE_MS = 12
const LEVELS: readonly PermissionLevel[] = ['read-only', 'edit', 'full']
/** From Ctrl-C, a service manager, or a closed terminal. */
const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Done, but something that needs an approval was declined. */
const APPROVALS_DECLINED = 4
const WORKING = 'Working … Ctrl-C ends it.'
const NOBODY: Answer = { decision: 'decline', reason: 'nobody can be asked in "inspan run"' }

export const runCommand: InspanCommand = {
  name: 'run',
  help: [
    'Usage: inspan run "<prompt>" [options]',
    '',
    'Runs an agent on a prompt, shows what it does as it happens, and stores everything in a database file.',
    'With --model and no --harness it is our own loop with that model, whose key is taken from the environment.',
    'With neither, a conversation continues with the agent it was last with, and a new one is with the built-in demo agent,',
    'which needs no key and no network.',
    'Use - to read the prompt from standard input, and -- before a prompt that begins with a dash.',
    '',
    `  --harness <id>         which coding agent: ${clis.map((cli) => cli.profile.id).join(', ')}`,
    '                         ("inspan doctor" shows which can be used here)',
    '  --acp <command>        any agent that speaks the Agent Client Protocol: the command that starts it, for example',
    '                         --acp "gemini --acp"',
    '  --model <id>           the model: provider/model for our own loop, or as the coding agent names it',
    `  --permissions <level>  what it may do, as it cannot ask: ${LEVELS.join(', ')} (default: edit)`,
    '  --allow <category>     also let it use tools of this category without asking: edit, execute, mcp, other. Reading is',
    '                         always allowed. Can be repeated. For our own loop',
    '  --deny <category>      never let it use tools of this category. Can be repeated. For our own loop',
    '  --max-cost <dollars>   end the run when it has cost more, as far as its cost is known',
    '  --timeout <seconds>    end the run after this time, whichever agent it is',
    '  --deadline <seconds>   end the run after this time, as failed (default: 4 hours)',
    '  --stall <seconds>      warn when nothing was printed for this time (default: 5 minutes)',
    '  --abort-on-stall       end the run then, as failed',
    '  --record <dir>         where to write raw.jsonl and events.jsonl of the run (default: below ~/.inspan/recordings,',
    '                         where they are kept for a week)',
    '  --redact <pattern>     a regular expression: what it matches in the output of agents and tools is not stored.',
    '                         Can be repeated',
    '  --thread <id>          continue this conversation instead of starting a new one; the end of its id is enough',
    '  --answer <words>       answer an open question of the conversation: approve, decline, or words; once per question.',
    '                         On a terminal you are asked instead. Without an answer the open questions are listed, and',
    `                         the exit code is ${STILL_WAITING}`,
    '  --db <file>            the database file (default: ~/.inspan/inspan.db)',
    '  --json                 print every event as one line of JSON: the activity it stands for is in "activity"; what is',
    '                         only activity, such as a warning, is an event of type "note"',
    '  --demo                 the demo agent, with a built-in prompt if none is given',
    '',
    'Exit codes: 0 done, 1 failed, 2 wrong usage, 3 something waits for an answer, 4 done, but something that needs an',
    'approval was declined because nobody could be asked.',
    '',
    'Examples:',
    '  inspan run "Explain this project" --model anthropic/claude-sonnet-4-5',
    '  inspan run "Fix the failing test" --model openai/gpt-5-mini --allow edit --allow execute --max-cost 0.50',
    '  inspan run "Review the last commit" --harness codex --permissions read-only --json',
    '  git diff | inspan run - --harness claude-code',
  ].join('\n'),
  run,
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseOptions(args, {
    harness: { type: 'string' },
    acp: { type: 'string' },
    model: { type: 'string' },
    permissions: { type: 'string' },
    deadline: { type: 'string' },
    stall: { type: 'string' },
    'abort-on-stall': { type: 'boolean' },
    record: { type: 'string' },
    redact: { type: 'string', multiple: true },
    allow: { type: 'string', multiple: true, default: [] },
    deny: { type: 'string', multiple: true, default: [] },
    'max-cost': { type: 'string' },
    timeout: { type: 'string' },
    thread: { type: 'string' },
    answer: { type: 'string', multiple: true, default: [] },
    db: { type: 'string' },
    json: { type: 'boolean', default: false },
    demo: { type: 'boolean', default: false },
  })
  const words = positionals.length === 1 && positionals[0] === '-' ? await text(terminal.input) : positionals.join(' ')
  const prompt = words.trim() || (values.demo ? DEMO_PROMPT : '')
  const { answer: answers } = values
  if (answers.length > 0 && values.thread === undefined) {
    throw new UsageError('--answer is for a conversation that waits: name it with --thread')
  }
  if (prompt === '' && answers.length === 0) {
    throw new UsageError('say what to do: inspan run "Explain this project"')
  }

  const config = await readConfig(terminal.cwd)
  const usesConfig = !values.demo && values.thread === undefined
  const { permissions } = values
  const model = values.model ?? (usesConfig ? config.model : undefined)
  const maxCost = values['max-cost'] === undefined ? config.maxCost : dollarsOf('--max-cost', values['max-cost'])
  const timeoutMs = values.timeout === undefined ? (config.timeout ?? 0) * 1000 : secondsOf('--timeout', values.timeout)
  const rules = rulesOf(values.allow, [...values.deny, ...(config.deny ?? [])])
  const { deadline, stall, 'abort-on-stall': abortsOnStall } = values
  const foreign = { permissions, deadline, stall, 'abort-on-stall': abortsOnStall, record: values.record }
  const [only] = Object.entries(foreign).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (values.acp !== undefined && (values.harness !== undefined || values.demo)) {
    throw new UsageError('--acp names the agent: leave out --harness and --demo')
  }
  const refuseFor = (agent: Cli | undefined): void => {
    if (agent === undefined && values.acp === undefined && only !== undefined) {
      throw new UsageError(`--${only} is for coding agents: name one with --harness or --acp`)
    }
    if (model !== undefined && values.demo) throw new UsageError('--demo has no model: leave out --model')
  }
  const limits = {
    ...(deadline === undefined ? {} : { deadlineMs: secondsOf('--deadline', deadline) }),
    ...(stall === undefined ? {} : { stallMs: secondsOf('--stall', stall) }),
    ...(abortsOnStall === true ? { onStall: 'abort' as const } : {}),
  }
  // The model of the command line without an agent means our own loop, whatever the config says.
  const configured = usesConfig && values.model === undefined ? config.harness : undefined
  const givenCli = values.harness ?? configured
  const named = givenCli === undefined ? undefined : cliCalled(givenCli)
  if (values.thread === undefined) refuseFor(named)
  const redact = values.redact === undefined ? {} : { redact: redactorOf(values.redact) }
  const level = permissions === undefined ? undefined : levelCalled(permissions)

  let runtime: ThreadRuntime | undefined
  // The first signal ends the run cleanly, even if it comes before there is a run. What the run did is kept.
  let interruptedBy: NodeJS.Signals | undefined
  let asking: AbortController | undefined
  const onInterrupt = (signal: NodeJS.Signals): void => {
    interruptedBy ??= signal
    // While a person is asked, no agent is working. Open waits stay open.
    if (asking === undefined) void runtime?.cancel()
    else asking.abort()
  }
  const store = await openStore(values.db, terminal)
  for (const signal of ENDING_SIGNALS) process.once(signal, onInterrupt)
  const owner = await ProcessOwner.register(store)
  try {
    const known = values.thread === undefined ? undefined : await findThread(store, values.thread)
    const isNamed = values.demo || values.acp !== undefined
    const cli = named ?? (known === undefined || isNamed ? undefined : await cliOf(store, known))
    refuseFor(cli)
    const own = cli !== undefined || isNamed ? undefined : (model ?? (await ownModelOf(store, known)))
    const native = own === undefined ? undefined : await nativeAgent(own, terminal)
    const thread = known ?? (await createThread(store, { resourceId: terminal.cwd, title: oneLine(prompt) })).id
    const recordings = new Recordings()
    const record = (turnId: string): RecordOptions => {
      const dir =
        values.record === undefined
          ? join(recordingsOf(thread, terminal), turnId)
          : resolve(terminal.cwd, values.record)
      return { ...recordings.add(dir), ...redact }
    }
    const setup = foreignOptions({ model, level, limits, record }, terminal)
    const spoken = values.acp === undefined ? undefined : await acpRun(values.acp, level, setup)
    const agent = spoken ?? (cli === undefined ? (native ?? (await demo(terminal))) : { driver: cli.agent(setup) })
    const agents = { [agent.driver.id]: agent }
    const judged = spoken?.policy ?? (native === undefined ? undefined : await policyOf(rules, terminal.cwd))
    const policy = judged === undefined ? {} : { policy: judged }
    const price = maxCost === undefined ? {} : { priceOf: (await import('@inspan/core')).priceOf }
    const options = { store, owner, thread, agents, maxAttempts: 1, ...policy, ...price, ...redact }
    runtime = await ThreadRuntime.open(options)
    watchCost(runtime, maxCost)
    using progress = new Progress({ isTty: terminal.isTty && !values.json })
    const show = values.json ? jsonLines(terminal) : people(terminal, progress)
    runtime.onEntry((entry) => eventsOfEntry(entry).forEach(show))
    const declined = declineQuestions(runtime)
    // So that the conversation can continue without naming it again.
    if (own !== undefined && runtime.state.head.model !== own) await runtime.configure({ model: own })
    let lost: Error | undefined
    runtime.onLost(({ error }) => (lost = error))
    if (interruptedBy !== undefined) return exitCodeOf(interruptedBy)
    if (cli !== undefined || spoken !== undefined) await pruneRecordings(terminal)
    asking = new AbortController()
    const isAnswered = await goOn(runtime, answers, terminal, asking.signal)
    asking = undefined
    if (!isAnswered) {
      sayWaits(openWaits(runtime), { thread, db: values.db }, terminal)
      return interruptedBy === undefined ? STILL_WAITING : exitCodeOf(interruptedBy)
    }
    if (interruptedBy !== undefined) void runtime.cancel()
    let outcome = await runtime.run?.done
    if (prompt !== '' && interruptedBy === undefined) {
      if (!values.json && terminal.isTty) terminal.out(`> ${prompt}`)
      const parts = [{ id: '0', type: 'text', text: prompt }] as const
      progress.show(WORKING)
      const submitted = await runtime.submit({ agentId: agent.driver.id, parts })
      const timer = timeoutMs === 0 ? undefined : setTimeout(() => void runtime?.cancel(), timeoutMs)
      outcome = await submitted.done
      clearTimeout(timer)
      progress.hide()
    }
    for (const problem of recordings.problems) terminal.err(problem)
    if (!values.json) {
      terminal.err(`\nKept as thread ${thread}. See it again: ${suggestion(`replay ${thread}`, values.db, terminal)}`)
      for (const dir of recordings.whole) terminal.err(`Recorded in ${dir}`)
    }
    if (lost !== undefined) terminal.err(`inspan run: ${lost.message}`)
    if (interruptedBy !== undefined) return exitCodeOf(interruptedBy)
    if (declined.count > 0) {
      terminal.err(
        `inspan run: ${declined.count} approvals were declined, because nobody could be asked (see --allow).`,
      )
    }
    if (outcome !== 'complete') return 1
    return declined.count > 0 ? APPROVALS_DECLINED : 0
  } finally {
    for (const signal of ENDING_SIGNALS) process.removeListener(signal, onInterrupt)
    await runtime?.close()
    await owner.close()
    await store.close()
  }
}

/** Returns the exit code that shells expect of a program ended by this signal. */
function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}

/** Settles the open waits before anything else. False when some are still open. */
async function goOn(
  runtime: ThreadRuntime,
  answers: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
): Promise<boolean> {
  if (answers.length > 0) return answerWaits(runtime, answers)
  if (openWaits(runtime).length === 0) return true
  return terminal.isTty && (await askPerson(runtime, terminal, signal))
}

/** Declines every question, because with nobody to answer, the command would wait forever. */
function declineQuestions(runtime: ThreadRuntime): { count: number } {
  const declined = { count: 0 }
  runtime.onEntry((entry) => {
    if (entry.kind !== 'record' || entry.others === true || entry.record.body.type !== 'wait.opened') return
    if (entry.record.body.answered === true) return
    if (entry.record.body.wait.kind === 'approval') declined.count++
    // Fails when the wait was withdrawn or cancelled in the meantime, and then there is nothing to decline.
    runtime.answer(entry.record.body.wait.id, NOBODY, 'inspan run').catch(() => undefined)
  })
  return declined
}

/** Ends the run when it has cost too much. Only what is known counts: a step is paid for before its cost is known. */
function watchCost(runtime: ThreadRuntime, maxCost: number | undefined): void {
  if (maxCost === undefined) return
  const before = costOf(runtime)
  runtime.onEntry(() => {
    if (runtime.run !== undefined && costOf(runtime) - before > maxCost) void runtime.cancel()
  })
}

function costOf({ state }: ThreadRuntime): number {
  const { own, subagents } = state.head.usage
  return own.costUsd + subagents.costUsd
}

async function policyOf(rules: PermissionRules['categories'], cwd: string): Promise<PermissionPolicy> {
  const [{ createPolicy }, { Workspace }] = await Promise.all([import('@inspan/core/policy'), import('@inspan/core')])
  const workspace = new Workspace({ root: cwd })
  return createPolicy({
    rules: { categories: rules },
    cwd,
    toolCategory: (name) => workspace.categoryOf(name) ?? null,
  })
}

const CATEGORIES = ['edit', 'execute', 'mcp', 'other'] as const

function rulesOf(allow: readonly string[], deny: readonly string[]): PermissionRules['categories'] {
  const named = (option: string, names: readonly string[]): readonly (typeof CATEGORIES)[number][] =>
    names.map((name) => {
      const category = CATEGORIES.find((each) => each === name)
      if (category === undefined) throw new UsageError(`${option} takes one of ${CATEGORIES.join(', ')}`)
      return category
    })
  return Object.fromEntries([
    ['read', 'allow'],
    ...named('--allow', allow).map((category) => [category, 'allow'] as const),
    ...named('--deny', deny).map((category) => [category, 'deny'] as const),
  ])
}

function redactorOf(patterns: readonly string[]): Redactor {
  const expressions = patterns.map((pattern) => {
    try {
      return new RegExp(pattern, 'gu')
    } catch {
      throw new UsageError(`--redact ${JSON.stringify(pattern)} is not a regular expression`)
    }
  })
  return (text) => expressions.reduce((left, expression) => left.replace(expression, '[redacted]'), text)
}

async function nativeAgent(model: string, terminal: Terminal): Promise<RuntimeAgent> {
  return (await import('../native-agent.ts')).nativeAgent(model, terminal)
}

/** Returns the model of a conversation that was last with our own loop. */
async function ownModelOf(store: Store, thread: string | undefined): Promise<string | undefined> {
  if (thread === undefined || (await lastAgentOf(store, thread)) !== NATIVE) return undefined
  return (await headOf(store, thread)).model ?? undefined
}

async function demo(terminal: Terminal): Promise<RuntimeAgent> {
  const { demoAgent } = await import('../demo-agent.ts')
  return demoAgent(terminal.cwd, terminal.isTty ? { delayPerDeltaMs: DEMO_PACE_MS } : {})
}

function cliCalled(id: string): Cli {
  const cli = clis.find((candidate) => candidate.profile.id === id)
  if (cli !== undefined) return cli
  const known = clis.map((candidate) => candidate.profile.id)
  throw new UsageError(`there is no coding agent "${id}". ${didYouMean(id, known)}`)
}

/** Returns the CLI that had the last turn of the thread; `undefined` for the demo agent. */
async function cliOf(store: Store, thread: string): Promise<Cli | undefined> {
  const agentId = await lastAgentOf(store, thread)
  if (agentId === undefined || agentId === DEMO || agentId === NATIVE) return undefined
  const cli = clis.find(({ profile }) => profile.id === agentId)
  if (cli !== undefined) return cli
  throw new InspanError('not-found', `This conversation is with "${agentId}", which inspan does not have.`, {
    hint: 'Name the agent that is to continue it: --harness <id>, --model <provider/model>, or --demo.',
  })
}

function levelCalled(name: string): PermissionLevel {
  const level = LEVELS.find((candidate) => candidate === name)
  if (level === undefined) throw new UsageError(`--permissions takes one of ${LEVELS.join(', ')}`)
  return level
}

interface ForeignOptions {
  readonly model: string | undefined
  readonly level: PermissionLevel | undefined
  readonly limits: Pick<Parameters<Cli['agent']>[0], 'deadlineMs' | 'stallMs' | 'onStall'>
  readonly record: (turnId: string) => RecordOptions
}

function foreignOptions(
  { model, level, limits, record }: ForeignOptions,
  terminal: Terminal,
): Parameters<Cli['agent']>[0] {
  return {
    ...limits,
    cwd: terminal.cwd,
    env: terminal.env,
    ...(model === undefined ? {} : { model }),
    ...(level === undefined ? {} : { permissions: level }),
    room: () => terminal.taken?.(),
    record: (turn) => record(turn.turnId),
  }
}

/** An ACP agent cannot be given a level of permissions, but it asks, and rules answer. */
async function acpRun(
  command: string,
  level: PermissionLevel | undefined,
  { permissions: _level, ...options }: Parameters<Cli['agent']>[0],
): Promise<RuntimeAgent & { readonly policy: PermissionPolicy }> {
  const { acpAgent, levelPolicy } = await import('../acp-run.ts')
  return { driver: acpAgent(command, options), policy: levelPolicy(level) }
}

function people(terminal: Terminal, progress: Progress): (event: PrintedEvent) => void {
  const renderer = new Renderer(terminal)
  return (event) => {
    progress.hide()
    renderer.show(event)
    // Not within a line that goes on.
    if (event.type !== 'finish' && !renderer.isInText) progress.show(WORKING)
  }
}

function jsonLines(terminal: Terminal): (event: PrintedEvent) => void {
  return (event) => terminal.out(JSON.stringify(event))
}
