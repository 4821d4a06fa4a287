/** Our factories for programs keep the promises of every harness, or refuse with a typed error. Prints the table. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProvider } from '@inspan/testing'
import { harnessTable, testHarnessFactory } from '@inspan/testing/contracts'
import { installedCli, REAL_FACTORIES } from './programs.fixture.ts'

const { INSPAN_REAL_FACTORIES } = process.env
const wanted = INSPAN_REAL_FACTORIES?.split(',') ?? Object.keys(REAL_FACTORIES)

for (const [name, { make, program = name, tool }] of Object.entries(REAL_FACTORIES)) {
  if (!wanted.includes(name)) continue
  testHarnessFactory(
    async (script) => {
      const bin = await installedCli(program)
      const home = await mkdtemp(join(tmpdir(), 'inspan-factory-'))
      const provider = await startProvider(script)
      const factory = make({ bin, home, url: provider.url })
      return {
        protocolVersion: factory.protocolVersion,
        create: (root) => factory.create(root),
        requests: () => provider.requests.map(({ text }) => text),
        [Symbol.asyncDispose]: async () => {
          await provider.close()
          await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
        },
      }
    },
    {
      name,
      tool,
      onTable: (rows) => {
        console.log(harnessTable(name, rows))
        assert.ok(rows.every(({ result }) => result !== 'failed'))
      },
    },
  )
}
