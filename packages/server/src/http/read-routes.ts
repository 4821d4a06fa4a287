import { InspanError } from '@inspan/protocol'
import type { ServerContext } from '../context.ts'
import type { App } from './app-types.ts'

/** What can be chosen: modes, models, agents, folders. */
export function addReadRoutes(app: App, { folders, hub, worktrees }: ServerContext): void {
  const { door } = hub

  app.get('/v1/modes', (c) =>
    c.json({
      default: door.defaultModeId,
      modes: door.modes.map(({ defaultModelId, description, id, name }) => ({
        id,
        name: name ?? id,
        ...(description === undefined ? {} : { description }),
        ...(defaultModelId === undefined ? {} : { defaultModelId }),
      })),
    }),
  )
  app.get('/v1/models', async (c) => c.json({ models: await door.models() }))
  app.get('/v1/agents', async (c) => c.json({ agents: await door.agents() }))
  app.get('/v1/folders', (c) => c.json({ folders, worktrees }))
  app.get('/v1/sessions', async (c) => {
    const folder = c.req.query('folder')
    // Only folders of the list: a path of a request must not reach the disk.
    if (folder !== undefined && !folders.includes(folder)) {
      throw new InspanError('not-found', 'This folder is not among those of the server.')
    }
    // The sessions on this machine are its owner's, not those of the tenants of a shared server.
    const wanted = c.get('caller').tenant !== undefined ? [] : folder === undefined ? folders : [folder]
    const sessions = (await Promise.all(wanted.map((each) => door.nativeSessions(each)))).flat()
    return c.json({ sessions: sessions.sort((a, b) => b.updatedAt - a.updatedAt) })
  })
  app.get('/v1/limits', (c) => c.json({ limits: door.limits }))
}
