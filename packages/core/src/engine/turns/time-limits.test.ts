import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ForeignAgent } from '../foreign-agent.fixture.ts'
import { describeInTime } from './time-limits.ts'

test('an agent that throws when it is asked what it can do fails like one that fails later', async () => {
  const describe = (): never => {
    throw new Error('I do not know.')
  }
  const polite = new ForeignAgent('cli', [])
  const asked = describeInTime({ port: 1, id: 'cli', describe, open: (binding, host) => polite.open(binding, host) })
  await assert.rejects(asked, /I do not know/)
})
