import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProvider } from '@inspan/testing'
import { harnessTable, testHarnessFactory } from '@inspan/testing/contracts'
import { AntigravityHarnessFactory } from '../index.ts'

const STAND_IN = fileURLToPath(new URL('./agy.fixture.ts', import.meta.url))

testHarnessFactory(
  async (script) => {
    const home = await mkdtemp(join(tmpdir(), 'inspan-agy-'))
    const bin = join(home, 'agy')
    await writeFile(bin, `#!/bin/sh\nexec "${process.execPath}" "${STAND_IN}" "$@"\n`)
    await chmod(bin, 0o700)
    const provider = await startProvider(script)
    const factory = new AntigravityHarnessFactory({ bin, env: { HOME: home, PROVIDER_URL: provider.url } })
    return {
      protocolVersion: factory.protocolVersion,
      create: (root) => factory.create(root),
      requests: () => provider.requests.map(({ text }) => text),
      [Symbol.asyncDispose]: async () => {
        await provider.close()
        await rm(home, { recursive: true, force: true })
      },
    }
  },
  {
    name: 'antigravity',
    // It prints an answer and no calls, so every item about calls has to be refused before it is played.
    tool: { name: 'none' },
    onTable: (rows) => {
      const table = harnessTable('antigravity', rows)
      assert.doesNotMatch(table, /failed|not tested/, table)
      assert.match(table, /not possible/)
    },
  },
)
