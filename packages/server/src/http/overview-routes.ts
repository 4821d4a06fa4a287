import { viewFrom } from '@inspan/protocol/log'
import type { ThreadInfo } from '@inspan/protocol/store'
import { publicHead, toHarnessState } from '@inspan/protocol/wire'
import type { ServerContext } from '../context.ts'
import type { Hub } from '../hub.ts'
import type { App } from './app-types.ts'

const RECENT = 30
/** More open waits than any person answers. */
const MOST_WAITS = 1000

/** A thread of the overview. */
interface ShownInOverview extends Readonly<Record<string, unknown>> {
  readonly project?: string
}

/** What needs a person, what runs and what was done last, over all threads of the caller. */
export function addOverviewRoutes(app: App, { executor, hub, otherProjects, projects }: ServerContext): void {
  const openable = ({ project }: ShownInOverview): { readonly canOpen?: true } =>
    project !== undefined && projects?.has(project) === true ? { canOpen: true } : {}
  app.get('/v1/overview', async (c) => {
    await hub.door.ready()
    const caller = c.get('caller')
    const resourceId = hub.tenantOf(caller)
    const { store } = hub.door
    const seesOthers = otherProjects && caller.tenant === undefined
    const [recent, others, waiting] = await Promise.all([
      store.listThreads({ resourceId, limit: RECENT }),
      seesOthers ? store.listThreads({ limit: RECENT }) : { items: [] },
      waitingThreads(hub),
    ])
    const all = new Map([...waiting, ...recent.items, ...others.items].map((info) => [info.id, info]))
    const infos = [...all.values()]
    const shown = (wanted: readonly ThreadInfo[]): Promise<readonly (ShownInOverview | undefined)[]> =>
      Promise.all(wanted.map((info) => overviewOf(hub, info)))
    const threads = await shown(infos.filter((info) => info.resourceId === resourceId))
    const elsewhere = seesOthers ? await shown(infos.filter((info) => info.resourceId !== resourceId)) : []
    return c.json({
      threads: threads.filter((thread) => thread !== undefined),
      elsewhere: elsewhere
        .filter((thread) => thread !== undefined)
        .map((thread) => ({ ...thread, ...openable(thread) })),
    })
  })

  app.post('/v1/sessions/:session/thread', async (c) => {
    const thread = await executor.threadOf(c.req.param('session'), c.get('caller'))
    // Fails for a session that nobody knows.
    await hub.door.find(thread, hub.tenantOf(c.get('caller')))
    return c.json({ thread })
  })

  app.get('/v1/threads/:thread/children', async (c) => {
    const parent = await hub.door.find(c.req.param('thread'), hub.tenantOf(c.get('caller')))
    const { items } = await hub.door.store.listThreads({ root: parent.root ?? parent.id, includeHidden: true })
    const children = items.filter((info) => info.parent === parent.id)
    return c.json({
      threads: children.map(({ createdAt, id, parentCall, title, updatedAt }) => ({
        id,
        title,
        createdAt,
        updatedAt,
        ...(parentCall === undefined ? {} : { parentCall }),
      })),
    })
  })
}

/** Waits may be old: their threads need not be among the newest. */
async function waitingThreads({ door }: Hub): Promise<readonly ThreadInfo[]> {
  const { items } = await door.store.listWaits({ state: 'pending', limit: MOST_WAITS })
  const ids = [...new Set(items.map(({ stream }) => stream))]
  const found = await Promise.all(ids.map((id) => door.store.getThread(id)))
  return found.flatMap((info) => (info !== null && !info.hidden ? [info] : []))
}

/** Returns undefined for a thread in which nothing was said or done yet. */
async function overviewOf({ door }: Hub, info: ThreadInfo): Promise<ShownInOverview | undefined> {
  const { createdAt, forkedFrom, id, resourceId, title, updatedAt } = info
  const state = await door.state(id)
  const { head } = state
  if (title === null && head.run === null && head.lastRun === null) return undefined
  const { error, pendingApprovals, status } = toHarnessState(
    viewFrom({ seq: head.seq, head: publicHead(head), messages: [] }),
  )
  return {
    id,
    title,
    createdAt,
    updatedAt,
    ...(forkedFrom === undefined ? {} : { forkedFrom }),
    ...(resourceId === door.resourceId ? {} : { project: resourceId }),
    status,
    agentId: head.run?.agentId ?? door.agentOf(state),
    mode: head.mode ?? door.defaultModeId,
    ...(head.model === null ? {} : { model: head.model }),
    ...(pendingApprovals === undefined ? {} : { pendingApprovals }),
    ...(error === undefined ? {} : { error }),
  }
}
