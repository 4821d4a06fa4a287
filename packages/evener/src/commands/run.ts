import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { harnesses } from '@evener/adapters'
import { createThread, ProcessOwner, ThreadRuntime, type LogEntry, type RuntimeAgent } from '@evener/core/engine'
import { agentEventsOf, isSealedPart, type AgentDriver, type AgentEvent } from '@evener/protocol'
import { UsageError, type Command, type Terminal } from '../command.ts'
import { openStore } from '../data-file.ts'
import { demoAgent } from '../demo-agent.ts'
import { Renderer } from '../render.ts'

const DEMO_PROMPT = 'What is in this folder?'
/** Slow enough to be seen arriving, fast enough not to wait for. */
const DEMO_PACE_MS = 12
/** What a shell expects of a program that was ended by Ctrl-C. */
const INTERRUPTED = 130

export const runCommand: Command = {
  name: 'run',
  summary: 'ask an agent and watch it work',
  help: [
    'Usage: evener run "<what to do>" [options]',
    '',
    'Asks an agent, shows what it does as it does it, and keeps everything in a file.',
    'Without a model or another harness the built-in demo agent answers: no key, no network.',
    '',
    `  --harness <id> which coding agent: ${harnesses.map((harness) => harness.profile.id).join(', ')}`,
    '                 ("evener doctor" says which can be used here)',
    '  --model <id>   the model it uses, in its own words',
    '  --record <dir> write raw.jsonl and events.jsonl of the run into this folder',
    '  --thread <id>  go on with this conversation instead of starting a new one',
    '  --db <file>    where conversations are kept (default: ~/.evener/evener.db)',
    '  --json         print every event as one line of JSON',
    '  --demo         a prompt for the demo agent is made up when none is given',
  ].join('\n'),
  run,
}

async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      harness: { type: 'string' },
      model: { type: 'string' },
      record: { type: 'string' },
      thread: { type: 'string' },
      db: { type: 'string' },
      json: { type: 'boolean', default: false },
      demo: { type: 'boolean', default: false },
    },
  })
  const prompt = positionals.join(' ').trim() || (values.demo ? DEMO_PROMPT : '')
  if (prompt === '') throw new UsageError('say what to do: evener run "Explain this project"')

  if (values.harness === undefined && (values.model ?? values.record) !== undefined) {
    throw new UsageError('--model and --record are for coding agents: name one with --harness')
  }

  let runtime: ThreadRuntime | undefined
  // The first Ctrl-C ends the run cleanly, also one that comes before there is a run; what it did is kept.
  let isInterrupted = false
  const onInterrupt = (): void => {
    isInterrupted = true
    void runtime?.cancel()
  }
  const store = openStore(values.db, terminal)
  process.once('SIGINT', onInterrupt)
  const owner = await ProcessOwner.register(store)
  try {
    const thread =
      values.thread ?? (await createThread(store, { resourceId: terminal.cwd, title: prompt.slice(0, 80) })).id
    const agent =
      values.harness === undefined ? demo(terminal) : { driver: foreignAgent(values.harness, values, terminal) }
    const agents = { [agent.driver.id]: agent }
    runtime = await ThreadRuntime.open({ store, owner, thread, agents, maxAttempts: 1 })
    if (!values.json && terminal.isTty) terminal.out(`> ${prompt}`)
    const show = values.json ? jsonLines(terminal) : people(terminal)
    runtime.onEntry((entry) => eventsOf(entry).forEach(show))
    if (isInterrupted) return INTERRUPTED
    const run = await runtime.submit({ agentId: agent.driver.id, parts: [{ id: '0', type: 'text', text: prompt }] })
    const outcome = await run.done
    if (!values.json) terminal.err(`\nKept as thread ${thread}. See it again: evener replay ${thread}`)
    if (isInterrupted) return INTERRUPTED
    return outcome === 'complete' ? 0 : 1
  } finally {
    process.removeListener('SIGINT', onInterrupt)
    await runtime?.close()
    await owner.close()
    await store.close()
  }
}

function demo(terminal: Terminal): RuntimeAgent {
  return demoAgent(terminal.cwd, terminal.isTty ? { delayPerDeltaMs: DEMO_PACE_MS } : {})
}

function foreignAgent(
  id: string,
  options: { readonly model?: string | undefined; readonly record?: string | undefined },
  terminal: Terminal,
): AgentDriver {
  const harness = harnesses.find((candidate) => candidate.profile.id === id)
  if (harness === undefined) {
    const known = harnesses.map((candidate) => candidate.profile.id).join(', ')
    throw new UsageError(`there is no harness "${id}"; known: ${known}`)
  }
  const { model, record } = options
  return harness.agent({
    cwd: terminal.cwd,
    env: terminal.env,
    ...(model === undefined ? {} : { model }),
    ...(record === undefined ? {} : { record: () => ({ dir: resolve(terminal.cwd, record) }) }),
  })
}

function people(terminal: Terminal): (event: AgentEvent) => void {
  const renderer = new Renderer(terminal)
  return (event) => renderer.show(event)
}

function jsonLines(terminal: Terminal): (event: AgentEvent) => void {
  return (event) => terminal.out(JSON.stringify(event))
}

/** Texts have been shown delta by delta when their sealed record comes. */
function eventsOf(entry: LogEntry): readonly AgentEvent[] {
  if (entry.kind === 'delta') return [entry.event]
  const { body } = entry.record
  if (isSealedPart(body) && (body.type === 'text-delta' || body.type === 'reasoning-delta')) return []
  return agentEventsOf(entry.record)
}
