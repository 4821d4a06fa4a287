import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { Harness, MemoryStore } from '@inspan/core'
import { demoServed } from './demo-served.ts'

type Answer = 'approve' | 'decline' | 'abort'

/** Talks with the demo agent in a folder of two files. Returns what it said. */
async function talk(t: TestContext, answers: readonly Answer[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'inspan-demo-test-'))
  t.after(() => rm(folder, { recursive: true, maxRetries: 5 }))
  for (const name of ['b.txt', 'a.txt', '.hidden']) await writeFile(join(folder, name), '')
  const modes = [{ id: 'demo' }]
  const harness = new Harness({ id: 'demo', agent: demoServed(folder), modes, storage: new MemoryStore() })
  t.after(() => harness.destroy())
  const left = [...answers]
  let said = ''
  harness.subscribe(async (event) => {
    if (event.type === 'text') said += event.text
    if (event.type !== 'tool_approval_required') return
    const decision = left.shift()
    if (decision === 'abort' || decision === undefined) await harness.abort()
    else await harness.session.respondToToolApproval({ decision, toolCallId: event.toolCallId })
  })
  for (const answer of answers) await harness.sendMessage({ content: answer })
  return said
}

const FIRST = 'Let me look at this folder.'

test('the demo agent says what it found', async (t) => {
  assert.equal(await talk(t, ['approve']), `${FIRST}There are 2 entries here: a.txt, b.txt.`)
})

test('the demo agent claims nothing about a folder that it was not allowed to look into', async (t) => {
  assert.equal(
    await talk(t, ['decline', 'approve']),
    `${FIRST}Then I cannot say what is here.${FIRST}There are 2 entries here: a.txt, b.txt.`,
  )
})

test('the demo agent looks again after it was interrupted', async (t) => {
  assert.equal(await talk(t, ['abort', 'approve']), `${FIRST}${FIRST}There are 2 entries here: a.txt, b.txt.`)
})
