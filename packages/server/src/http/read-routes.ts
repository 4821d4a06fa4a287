import type { ServerContext } from '../context.ts'
import type { App } from './app-types.ts'

/** What can be chosen: modes, models, agents, folders. */
export function addReadRoutes(app: App, { folders, hub }: ServerContext): void {
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
  app.get('/v1/folders', (c) => c.json({ folders }))
  app.get('/v1/limits', (c) => c.json({ limits: door.limits }))
}
