/**
 * The process that `redaction-everywhere.test.ts` kills: says a word that must not be kept, in a part that never ends.
 * Run as: node redaction-child.fixture.ts <database> <thread> text|input|output.
 */
import { writeSync } from 'node:fs'
import { nativeDriver } from '@inspan/agent'
import { SqliteStore } from '@inspan/stores'
import { scriptedModel } from '@inspan/testing'
import { WORD } from '../erase/erase-everywhere.fixture.ts'
import type { ModelScript } from '../agent-bench.fixture.ts'
import { ProcessOwner } from '../threads/ownership.ts'
import type { RunnableTool } from '../calls/runnable-tool.ts'
import { ThreadRuntime } from '../thread-runtime.ts'

const [url = '', thread = '', where = ''] = process.argv.slice(2)
const store = new SqliteStore({ url })
const owner = await ProcessOwner.register(store)
const endless = Array.from({ length: 10_000 }, () => 'and so on ')
const turns: { readonly [where: string]: ModelScript } = {
  text: [{ text: [`It is ${WORD} `, ...endless], delayPerDeltaMs: 20 }],
  input: [
    {
      toolCalls: [{ name: 'look', input: { at: WORD, more: endless.join('') }, inputDeltas: 1000 }],
      delayPerDeltaMs: 20,
    },
  ],
  output: [{ toolCalls: [{ name: 'look', input: {} }] }],
}
const look: RunnableTool = {
  name: 'look',
  inputSchema: { type: 'object' },
  execute: async (_input, { progress }) => {
    progress(`I see ${WORD} and`)
    return new Promise(() => undefined)
  },
}
const runtime = await ThreadRuntime.open({
  store,
  owner,
  thread,
  agents: {
    native: { driver: nativeDriver({ id: 'native', model: scriptedModel(turns[where] ?? []) }), tools: [look] },
  },
  redact: Object.assign((text: string) => text.replaceAll(WORD, '[word]'), {
    settled: (text: string) => text.lastIndexOf(' ') + 1,
  }),
})
// Only what is on disk leaves as a frame.
runtime.onFrame((frame) => {
  if (JSON.stringify(frame).includes(where === 'input' ? 'look' : '[word]')) writeSync(1, 'written\n')
})
await runtime.submit({ agentId: 'native', parts: [{ id: '0', type: 'text', text: 'Go.' }] })
