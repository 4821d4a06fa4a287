import type { Comparison, LaneReport } from '@inspan/client/compare'
import type { ToolCategory } from '@inspan/protocol'
import { startLocalServer } from '../chat/local-server.ts'
import type { Terminal } from '../command.ts'
import { oneLine } from '../one-line.ts'
import { Progress } from '../progress.ts'
import type { CliId } from '../served-modes.ts'
import type { CompareWorktrees } from './worktrees.ts'

/** A coding agent, a model of our own loop, or, without either, the demo agent. */
export interface LaneAgent {
  readonly name: string
  readonly cli?: CliId
  readonly model?: string
}

export interface LanesOptions {
  readonly prompt: string
  readonly agents: readonly LaneAgent[]
  /** Categories that are allowed besides reading and, in a worktree, editing. */
  readonly allowed: readonly ToolCategory[]
  readonly timeoutMs: number
  readonly maxCostUsd: number
  readonly worktrees: CompareWorktrees | undefined
  readonly db: string | undefined
}

/** Gives the prompt to all agents: at the same time in worktrees, else one after the other and read-only. */
export async function runLanes(options: LanesOptions, terminal: Terminal): Promise<Comparison> {
  const { agents, prompt, worktrees } = options
  const ended = new AbortController()
  const onInterrupt = (): void => ended.abort()
  process.once('SIGINT', onInterrupt)
  process.once('SIGTERM', onInterrupt)
  using progress = new Progress(terminal)
  const states = new Map(agents.map(({ name }) => [name, 'waiting']))
  const play = (agent: LaneAgent): Promise<LaneReport> =>
    runAgent(agent, { ...options, signal: ended.signal }, terminal, ({ commands, durationMs, files, status }) => {
      const done = status === 'running' ? `${files.length} files, ${commands.length} commands` : status
      states.set(agent.name, `${Math.round(durationMs / 1000)} s, ${done}`)
      progress.show([...states].map(([name, state]) => `${name}: ${state}`).join(' · '))
    })
  try {
    if (worktrees !== undefined) return { prompt, lanes: await Promise.all(agents.map(play)) }
    const lanes: LaneReport[] = []
    for (const agent of agents) lanes.push(await play(agent))
    return { prompt, lanes }
  } finally {
    process.removeListener('SIGINT', onInterrupt)
    process.removeListener('SIGTERM', onInterrupt)
  }
}

async function runAgent(
  { cli, model, name }: LaneAgent,
  options: LanesOptions & { readonly signal: AbortSignal },
  terminal: Terminal,
  onReport: (report: LaneReport) => void,
): Promise<LaneReport> {
  const { allowed, db, maxCostUsd, prompt, signal, timeoutMs, worktrees } = options
  const [{ connect }, { runLane }] = await Promise.all([import('@inspan/client'), import('@inspan/client/compare')])
  const folder = await worktrees?.add(name)
  const local = await startLocalServer(
    {
      model,
      cli,
      db,
      isWritingDemo: true,
      permissions: { categories: categoriesFor(folder !== undefined, allowed) },
      ...(folder === undefined ? {} : { folder }),
    },
    terminal,
  )
  try {
    const client = await connect({ transport: local.server.transport(), window: 500 })
    try {
      const thread = await client.routes.createThread({ title: oneLine(`${name}: ${prompt}`) })
      await client.open(thread.id)
      const report = await runLane(client, {
        name,
        prompt,
        maxCostUsd,
        onReport,
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
        declineWith: folder === undefined ? 'This comparison is read-only.' : 'This comparison does not allow it.',
      })
      if (worktrees === undefined) return report
      // What is on the disk counts: a command may have written files, too.
      return { ...report, files: await worktrees.changedFiles(name), diff: await worktrees.diff(name) }
    } finally {
      await client.close()
    }
  } finally {
    await local.close()
  }
}

function categoriesFor(
  isContained: boolean,
  allowed: readonly ToolCategory[],
): { [category in ToolCategory]?: 'allow' | 'ask' | 'deny' } {
  if (!isContained) return { read: 'allow', edit: 'deny', execute: 'deny', mcp: 'deny', other: 'deny' }
  return { read: 'allow', edit: 'allow', ...Object.fromEntries(allowed.map((category) => [category, 'allow'])) }
}
