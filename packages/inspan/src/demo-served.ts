import { readdir } from 'node:fs/promises'
import { Agent, createTool } from '@inspan/core'
import type { JsonObject } from '@inspan/protocol'
import { scriptedModel, type ModelTurn } from '@inspan/testing'
import { resultsOf } from './demo-results.ts'

/** More answers than a demonstration needs. */
const TURNS = 1000

/** An agent without a model for `inspan chat`: it lists the folder and says what it found. */
export function demoServed(cwd: string): Agent {
  // Conversations may be interrupted at any point, so each request says for itself how far it is.
  const next = (request: JsonObject): ModelTurn => {
    const result = resultsOf(request).at(-1)
    if (result === undefined) {
      return { text: ['Let me look ', 'at this folder.'], toolCalls: [{ name: 'list_files', input: { path: '.' } }] }
    }
    if (result.isError) return { text: ['Then I cannot say ', 'what is here.'] }
    const entries = result.text.split('\n').filter((name) => name !== '')
    const count = entries.length === 1 ? 'There is 1 entry here: ' : `There are ${entries.length} entries here: `
    return { text: [count, namesOf(entries)] }
  }
  const listFiles = createTool({
    id: 'list_files',
    description: 'Lists the names in the folder.',
    inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    execute: async () =>
      (await readdir(cwd))
        .filter((name) => !name.startsWith('.'))
        .toSorted()
        .join('\n'),
  })
  return new Agent({
    id: 'demo',
    model: scriptedModel(Array.from({ length: TURNS }, () => next)),
    tools: { list_files: listFiles },
  })
}

function namesOf(entries: readonly string[]): string {
  if (entries.length === 0) return 'the folder is empty.'
  return `${entries.slice(0, 8).join(', ')}${entries.length > 8 ? ', …' : '.'}`
}
