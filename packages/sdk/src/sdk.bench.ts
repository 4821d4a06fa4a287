/**
 * A turn of a chat session relative to the same turn of a harness, both in memory, and restoring agents relative to
 * reading their files.
 */
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, Harness, MemoryStore, type Session } from '@inspan/core'
import { compare, report, scriptedModel } from '@inspan/testing'
import { createAgentManager, NativeHarnessFactory, type ChatSession } from './index.ts'

const DELTAS = 2_000
const ROUNDS = 15
const base = await mkdtemp(join(tmpdir(), 'inspan-sdk-bench-'))

function speaker(): ReturnType<typeof scriptedModel> {
  return scriptedModel([{ text: Array.from({ length: DELTAS }, (_, i) => `word${i % 10} `), repeat: true }])
}

async function folder(name: string): Promise<string> {
  const path = join(base, name)
  await mkdir(path, { recursive: true })
  return path
}

try {
  const harness = new Harness({
    id: 'bench',
    agent: new Agent({ id: 'agent', model: speaker() }),
    modes: [{ id: 'chat' }],
  })
  const sessions: Session[] = []
  const root = await folder('turns')
  const store = new MemoryStore()
  const manager = await createAgentManager(root, new NativeHarnessFactory({ model: speaker(), store }))
  const agent = await manager.createAgent(root)
  const chats: ChatSession[] = []
  for (let n = 0; n <= ROUNDS; n++) {
    const session = await harness.createSession({ resourceId: `r${n}` })
    await session.thread.create()
    sessions.push(session)
    chats.push(await agent.createChatSession())
  }
  report(
    await compare({
      name: `turn of a chat session, ${DELTAS} deltas, relative to a harness`,
      limit: 1.1,
      clock: 'cpu',
      rounds: ROUNDS,
      floor: async () => {
        const session = sessions.pop()
        let updates = 0
        session?.subscribe((event) => {
          if (event.type === 'message_update') updates++
        })
        await session?.sendMessage({ content: 'Go.' })
        if (updates < DELTAS) throw new Error('events were lost')
        return DELTAS
      },
      ours: async () => {
        const result = await chats.pop()?.chat('Go.')
        let updates = 0
        for await (const event of result?.eventStream ?? []) if (event.type === 'text-delta') updates++
        if (updates < DELTAS) throw new Error('events were lost')
        return DELTAS
      },
    }),
  )
  await manager.shutdown()
  await harness.destroy()

  const restores = new Map<number, () => Promise<number>>()
  for (const count of [1, 100, 1_000]) {
    const place = await folder(`restore-${count}`)
    const start = () => createAgentManager(place, new NativeHarnessFactory({ model: speaker() }))
    const first = await start()
    for (let n = 0; n < count; n++) await first.createAgent(place, { agentId: `agent-${n}` })
    await first.shutdown()
    const agents = join(place, 'agents')
    const ours = async () => {
      await (await start()).shutdown()
      return count
    }
    restores.set(count, ours)
    report(
      await compare({
        name: `restoring ${count} agents, relative to reading their files`,
        limit: count === 1 ? 120 : 15,
        rounds: 5,
        floor: async () => {
          for (const file of await readdir(agents)) JSON.parse(await readFile(join(agents, file), 'utf8'))
          return count
        },
        ours,
      }),
    )
  }
  const [floor, ours] = [restores.get(100), restores.get(1_000)]
  if (floor === undefined || ours === undefined) throw new Error('nothing was restored')
  report(
    await compare({
      name: 'restoring one of 1,000 agents, relative to one of 100',
      limit: 1.2,
      clock: 'cpu',
      rounds: 5,
      floor,
      ours,
    }),
  )
} finally {
  await rm(base, { recursive: true })
}
