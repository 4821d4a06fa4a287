import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, Harness } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'
import { AuditedStore } from './audited-store.ts'

const folder = await mkdtemp(join(tmpdir(), 'custom-store-'))
const file = join(folder, 'audit.jsonl')
const storage = new AuditedStore(file)
const harness = new Harness({
  id: 'custom-store',
  agent: new Agent({ id: 'assistant', model: scriptedModel([{ text: 'Hello.' }]) }),
  storage,
  modes: [{ id: 'chat' }],
})
await harness.sendMessage({ content: 'Hi' })
await harness.destroy()
await storage.close()

const lines = (await readFile(file, 'utf8')).trim().split('\n')
const types = lines.map((line) => (JSON.parse(line) as { type: string }).type)
console.log(types.filter((type) => type.startsWith('run.') || type.startsWith('turn.')).join('\n'))
await rm(folder, { recursive: true })
