/** Compares a turn of streamed text through log and store with `streamText` and the bare stream of the same model. */
import { compare, report, scriptedModel, type CompareOptions, type Work } from '@inspan/testing'
import { streamText } from 'ai'
import { answerOf, memoryPlace, readyThread, sqlitePlace, type OwnedStore, type ReadyThread } from './turn.fixture.ts'

/** Every measured round does at least this much work, so that short and long turns are timed alike. */
const DELTAS_PER_ROUND = 20_000

function turnsPerRound(deltas: number): number {
  return deltas === 1 ? 200 : Math.ceil(DELTAS_PER_ROUND / deltas)
}

function repeat(deltas: number, turn: (deltas: number) => Promise<void>): Work {
  return async () => {
    for (let i = 0; i < turnsPerRound(deltas); i++) await turn(deltas)
    return turnsPerRound(deltas) * deltas
  }
}

async function sdkTurn(deltas: number): Promise<void> {
  const result = streamText({ model: scriptedModel(answerOf(deltas)), prompt: 'Go.' })
  for await (const part of result.fullStream) if (part.type === 'error') throw part.error
}

async function bareTurn(deltas: number): Promise<void> {
  const model = scriptedModel(answerOf(deltas))
  const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'Go.' }] }] })
  let seen = 0
  for await (const part of stream) if (part.type === 'text-delta') seen++
  if (seen < deltas) throw new Error('deltas were lost')
}

/** Turns on open threads: creating and opening them is not measured. */
function ours(
  place: OwnedStore,
  deltas: number,
  take: 'in turn' | 'at once' = 'in turn',
): Required<Pick<CompareOptions, 'ours' | 'prepare'>> {
  let threads: ReadyThread[] = []
  return {
    async prepare() {
      for (const { runtime } of threads) await runtime.close()
      threads = []
      while (threads.length < turnsPerRound(deltas)) threads.push(await readyThread(place, deltas))
    },
    async ours() {
      if (take === 'at once') await Promise.all(threads.map((thread) => thread.turn()))
      else for (const thread of threads) await thread.turn()
      return threads.length * deltas
    },
  }
}

const places: readonly { name: string; limit: number; open: () => Promise<OwnedStore> }[] = [
  { name: 'memory', limit: 0.2, open: memoryPlace },
  { name: 'sqlite', limit: 0.3, open: sqlitePlace },
]

async function measure(options: Omit<CompareOptions, 'clock'>): Promise<void> {
  report(await compare({ clock: 'cpu', rounds: 8, ...options }))
}

for (const { name, limit, open } of places) {
  await using place = await open()
  for (const deltas of [1, 100, 1_000, 10_000, 50_000]) {
    await measure({
      name: `turn of ${deltas === 1 ? 'one delta' : `${deltas} deltas`}, ${name}, relative to streamText`,
      limit: deltas === 1 ? 1 : limit,
      // Short turns leave much garbage for their time, and how much of it a round collects is chance.
      ...(deltas <= 100 ? { rounds: 60 } : {}),
      floor: repeat(deltas, sdkTurn),
      ...ours(place, deltas),
    })
  }
  await measure({
    name: `turn of 10000 deltas, ${name}, relative to the bare stream of the model`,
    limit: 10,
    floor: repeat(10_000, bareTurn),
    ...ours(place, 10_000),
  })
  const long = ours(place, 50_000)
  await long.prepare()
  await measure({
    name: `a delta of a turn of 1000, ${name}, relative to one of 50000`,
    limit: 1.3,
    floor: async () => {
      await long.prepare()
      return long.ours()
    },
    ...ours(place, 1_000),
  })
  await measure({
    name: `200 turns of 100 deltas at once, ${name}, relative to streamText one after the other`,
    limit: 1,
    floor: repeat(100, sdkTurn),
    ...ours(place, 100, 'at once'),
  })
}
