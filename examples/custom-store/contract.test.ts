/** The suite that every store has to pass. Run it with `node --test`. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storeContract } from '@inspan/testing/contracts'
import { AuditedStore } from './audited-store.ts'

storeContract({
  name: 'the audited store',
  open: async (how = {}) => {
    const folder = await mkdtemp(join(tmpdir(), 'custom-store-'))
    const store = new AuditedStore(join(folder, 'audit.jsonl'), how)
    await store.open()
    const close = async (): Promise<void> => {
      await store.close()
      await rm(folder, { recursive: true })
    }
    return { store, close }
  },
})
