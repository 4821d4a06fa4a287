import { InspanError, type BlobRef, type StoredMessage } from '@inspan/protocol'
import { lineageUpTo } from '@inspan/protocol/log'
import { MAX_PAGE, type ThreadInfo } from '@inspan/protocol/store'
import { publicHead } from '@inspan/protocol/wire'
import type { Context } from 'hono'
import type { ServerContext } from '../context.ts'
import { agentLimits } from './agent-limits.ts'
import { readBody, type App, type AppEnv } from './app-types.ts'

const MAX_TITLE = 1000

/** Threads: listing, reading, creating, renaming, forking, deleting. */
export function addThreadRoutes(app: App, { executor, hub }: ServerContext): void {
  const { door } = hub
  const tenant = (c: Context<AppEnv>): string => hub.tenantOf(c.get('caller'))

  app.get('/v1/threads', async (c) => {
    await door.ready()
    const cursor = c.req.query('cursor')
    const search = c.req.query('search')?.toLowerCase()
    const limit = limitOf(c, 50)
    const found: ThreadInfo[] = []
    let next: string | null = cursor ?? null
    do {
      const page = await door.listThreads({
        resourceId: tenant(c),
        limit: limit - found.length,
        ...(next === null ? {} : { cursor: next }),
      })
      found.push(...page.items.filter((thread) => matches(thread, search)))
      ;({ next } = page)
      if (search === undefined) break
      // A page that is half full is enough: the little that is left of it would be searched in ever smaller steps.
    } while (next !== null && found.length * 2 < limit)
    return c.json({ threads: found.map(shown), next })
  })

  app.post('/v1/threads', async (c) => {
    const { title, worktree } = (await readBody(c)) as { title?: unknown; worktree?: unknown }
    const wantsTree = executor.wantsWorktree(worktree)
    const info = await door.create(tenant(c), title === undefined ? {} : { title: titleOf(title) })
    if (wantsTree) await executor.makeWorktree(info.id, c.get('caller'))
    return c.json({ thread: shown(info) }, 201)
  })

  app.get('/v1/threads/:thread', async (c) => {
    const info = await door.find(c.req.param('thread'), tenant(c))
    const { head } = await door.state(info.id)
    return c.json({ thread: shown(info), head: publicHead(head) })
  })

  app.patch('/v1/threads/:thread', async (c) => {
    const { title } = (await readBody(c)) as { title?: unknown }
    const { id: thread } = await door.find(c.req.param('thread'), tenant(c))
    await executor.carryOut({ type: 'rename', title: titleOf(title), thread }, c.get('caller'))
    return c.json({ thread: shown(await door.find(thread, tenant(c))) })
  })

  app.delete('/v1/threads/:thread', async (c) => {
    const info = await door.find(c.req.param('thread'), tenant(c))
    const report = await door.remove(info.id)
    return c.json({ deleted: report.deleted, retained: report.retained })
  })

  app.post('/v1/threads/:thread/forks', async (c) => {
    const { messageId, title, worktree } = (await readBody(c)) as Readonly<Record<string, unknown>>
    const wantsTree = executor.wantsWorktree(worktree)
    const info = await door.fork(c.req.param('thread'), tenant(c), {
      ...(typeof messageId === 'string' ? { messageId } : {}),
      ...(title === undefined ? {} : { title: titleOf(title) }),
    })
    if (wantsTree) await executor.makeWorktree(info.id, c.get('caller'))
    return c.json({ thread: shown(info) }, 201)
  })

  app.delete('/v1/threads/:thread/worktree', async (c) => {
    const { id } = await door.find(c.req.param('thread'), tenant(c))
    const how = c.req.query('changes')
    if (how !== 'apply' && how !== 'discard') {
      throw new InspanError('invalid-input', '"changes" has to be "apply" or "discard".')
    }
    const used = await hub.use(id, c.get('caller'))
    try {
      await door.endWorktree(used.runtime, how)
    } finally {
      used.release()
    }
    return c.body(null, 204)
  })

  app.get('/v1/threads/:thread/messages', async (c) => {
    const info = await door.find(c.req.param('thread'), tenant(c))
    const { head } = await door.state(info.id)
    const before = Number(c.req.query('before') ?? head.seq + 1)
    if (!Number.isInteger(before) || before < 1) throw new InspanError('invalid-input', '"before" has to be a number.')
    const older = lineageUpTo(head.lineage, Math.min(before - 1, head.seq))
    const limit = limitOf(c, 50)
    const { items, next } = await door.store.listMessages(older, { order: 'newest', limit })
    const oldest = items.at(-1)
    return c.json({
      messages: items.toReversed(),
      before: next === null || oldest === undefined ? null : oldest.order,
      rewrittenAt: head.rewrittenAt,
    })
  })

  app.get('/v1/threads/:thread/files', async (c) => {
    const info = await door.find(c.req.param('thread'), tenant(c))
    return c.json({ files: await door.changes(info.id) })
  })

  app.get('/v1/threads/:thread/waits/:wait/file', async (c) => {
    const info = await door.find(c.req.param('thread'), tenant(c))
    const before = await door.askedFile(info.id, c.req.param('wait'))
    return c.json(before === undefined ? {} : { before })
  })

  app.get('/v1/threads/:thread/memory', async (c) => {
    const info = await door.find(c.req.param('thread'), tenant(c))
    return c.json({ memory: await door.memory(info.id, tenant(c)) })
  })

  app.get('/v1/threads/:thread/grants', async (c) => {
    const { id, resourceId } = await door.find(c.req.param('thread'), tenant(c))
    const { head } = await door.state(id)
    return c.json({ thread: head.grants, project: await door.grants(resourceId), resource: resourceId })
  })

  app.get('/v1/threads/:thread/limits', async (c) => {
    const info = await door.find(c.req.param('thread'), tenant(c))
    const { head } = await door.state(info.id)
    // A limit of a provider is a wait that nobody has to answer.
    const waits = [...head.waits].filter(({ kind }) => kind === 'limit')
    const agents = await agentLimits(door.store, info.id, head.seq)
    return c.json({ limits: door.limits, waits, agents, usage: head.usage })
  })

  app.get('/v1/threads/:thread/blobs/:hash', async (c) => {
    const info = await door.find(c.req.param('thread'), tenant(c))
    const hash = c.req.param('hash')
    const { head, messages } = await door.state(info.id)
    const messageId = c.req.query('message')
    const stored = messageId === undefined ? null : await door.store.getMessage(head.lineage, messageId)
    const open = messageId === undefined ? undefined : messages.get(messageId)
    const holder = stored ?? (open === undefined ? null : { ...open, parts: open.parts.toArray() })
    // Only what the message refers to: a hash alone must not open the contents of another thread.
    const ref = holder === null ? undefined : refsOf(holder).find((each) => each.blob === hash)
    const blob = ref === undefined ? null : await door.store.readBlob(hash, head.lineage)
    if (blob === null) throw new InspanError('not-found', 'The message has no such content.')
    c.header('content-type', 'application/octet-stream')
    c.header('content-disposition', 'attachment')
    c.header('x-inspan-mime', blob.mime)
    return c.body(blob.bytes as Uint8Array<ArrayBuffer>)
  })
}

function refsOf(message: Pick<StoredMessage, 'parts'>): readonly BlobRef[] {
  const found: BlobRef[] = []
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if ('blob' in value && typeof value.blob === 'string' && 'size' in value) found.push(value as BlobRef)
    for (const each of Object.values(value)) walk(each)
  }
  for (const part of message.parts) walk(part)
  return found
}

function matches({ id, title }: ThreadInfo, search: string | undefined): boolean {
  return search === undefined || id === search || (title ?? '').toLowerCase().includes(search)
}

function shown({ createdAt, forkedFrom, id, title, updatedAt }: ThreadInfo): object {
  return { id, title, createdAt, updatedAt, ...(forkedFrom === undefined ? {} : { forkedFrom }) }
}

function titleOf(title: unknown): string {
  if (typeof title === 'string' && title !== '' && title.length <= MAX_TITLE) return title
  throw new InspanError('invalid-input', `A title has to be a text of 1 to ${MAX_TITLE} characters.`)
}

function limitOf(c: Context<AppEnv>, usual: number): number {
  const limit = Number(c.req.query('limit') ?? usual)
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_PAGE) return limit
  throw new InspanError('invalid-input', `"limit" has to be between 1 and ${MAX_PAGE}.`)
}
