import { readdir } from 'node:fs/promises'
import { Agent, createTool } from '@inspan/core'
import { scriptedModel, type ModelTurn } from '@inspan/testing'

/** More answers than a demonstration needs. */
const TURNS = 1000

/** An agent without a model for `inspan serve`: it lists the folder and says what it found. */
export function demoServed(cwd: string): Agent {
  let entries: readonly string[] = []
  let step = 0
  const next = (): ModelTurn =>
    step++ % 2 === 0
      ? { text: ['Let me look ', 'at this folder.'], toolCalls: [{ name: 'list_files', input: { path: '.' } }] }
      : {
          text: [
            entries.length === 1 ? 'There is 1 entry here: ' : `There are ${entries.length} entries here: `,
            namesOf(entries),
          ],
        }
  const listFiles = createTool({
    id: 'list_files',
    description: 'Lists the names in the folder.',
    inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    execute: async () => {
      entries = (await readdir(cwd)).filter((name) => !name.startsWith('.')).sort()
      return entries.join('\n')
    },
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
