import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InspanError } from '@inspan/protocol'
import type { Store } from '@inspan/protocol/store'
import { SqliteStore } from '../src/sqlite-store.ts'
import type { ChildAnswer, ChildCall } from './store-process.ts'

// A process with a store of its own that does what its parent asks for, one call at a time.
const [url = ''] = process.argv.slice(2)
const uid = process.env['STORE_UID']
if (uid !== undefined) {
  // The other user may not be able to read our sources, so what a store loads on first use is loaded before.
  const folder = mkdtempSync(join(tmpdir(), 'inspan-load-'))
  await (await SqliteStore.open({ url: join(folder, 'any.db') })).close()
  rmSync(folder, { recursive: true })
  process.setgid?.(Number(uid))
  process.setuid?.(Number(uid))
}
// A write beyond the size limit of the process is then an error of that write instead of the end of the process.
process.on('SIGXFSZ', () => undefined)

const store: Store = new SqliteStore({ url })

process.on('message', (message: ChildCall) => {
  void answer(message).then((reply) => process.send?.(reply))
})
process.on('disconnect', () => process.exit())
process.send?.('ready')

async function answer({ id, method, args }: ChildCall): Promise<ChildAnswer> {
  try {
    const call = Reflect.get(store, method) as (...values: readonly unknown[]) => Promise<unknown>
    return { id, value: (await call.apply(store, [...args])) ?? null }
  } catch (error) {
    if (InspanError.is(error))
      return { id, error: { code: error.code, message: error.message, details: error.details } }
    return { id, error: { code: 'unexpected', message: String(error), details: {} } }
  }
}
