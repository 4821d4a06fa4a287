import { Agent, Harness, SqliteStore } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'
import { serve } from './serve.ts'

/** Dies by SIGKILL as soon as the outcome of a command is on disk, before anybody can be told. */
class MortalStore extends SqliteStore {
  override async append(given: Parameters<SqliteStore['append']>[0]): Promise<number> {
    const seq = await super.append(given)
    if (process.env['DIES'] === 'yes' && (given.outcomes ?? []).length > 0) process.kill(process.pid, 'SIGKILL')
    return seq
  }
}

const storage = new MortalStore({ url: process.env['DB'] ?? '' })
const agent = new Agent({ id: 'agent', model: scriptedModel([{ text: 'the answer' }, { text: 'another' }]) })
const harness = new Harness({ id: 'mortal', agent, modes: [{ id: 'build' }], storage })
const server = await serve({ harness, port: Number(process.env['PORT']), token: process.env['TOKEN'] ?? '' })
process.stdout.write(`${server.port}\n`)
process.once('SIGTERM', () => {
  void server.close().then(async () => {
    await harness.destroy()
    await storage.close()
  })
})
