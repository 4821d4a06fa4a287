import { readdir } from 'node:fs/promises'
import { nativeDriver } from '@inspan/core'
import type { RunnableTool } from '@inspan/core/engine'
import type { AgentDriver } from '@inspan/protocol/driver'
import { scriptedModel, type ModelTurn } from '@inspan/testing'

const MAX_SHOWN = 8

/** An agent without a model: it looks into the folder and describes it. Needs no key and no network. */
export function demoAgent(
  cwd: string,
  options: { delayPerDeltaMs?: number } = {},
): {
  driver: AgentDriver
  tools: RunnableTool[]
} {
  const pace = options.delayPerDeltaMs === undefined ? {} : { delayPerDeltaMs: options.delayPerDeltaMs }
  let entries: string[] = []
  const lookAround = (): ModelTurn => ({
    text: words('Let me look at this folder first.'),
    toolCalls: [{ name: 'list_files', input: { path: '.' }, inputDeltas: 3 }],
    usage: { inputTokens: 40, outputTokens: 15 },
    ...pace,
  })
  const answer = (): ModelTurn => ({
    text: words(describe(entries)),
    usage: { inputTokens: 80, outputTokens: 60 },
    ...pace,
  })
  let step = 0
  const next = (): ModelTurn => (step++ % 2 === 0 ? lookAround() : answer())
  const model = scriptedModel(Array.from({ length: 200 }, () => next))
  const listFiles: RunnableTool = {
    name: 'list_files',
    description: 'Lists the names in a folder.',
    inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    annotations: { readOnlyHint: true },
    execute: async () => {
      entries = (await readdir(cwd)).filter((name) => !name.startsWith('.')).sort()
      return { result: { entries } }
    },
  }
  return {
    driver: nativeDriver({ id: 'demo', model, instructions: 'You show what Inspan records.' }),
    tools: [listFiles],
  }
}

function describe(entries: readonly string[]): string {
  const shown = entries.slice(0, MAX_SHOWN).join(', ')
  const more = entries.length > MAX_SHOWN ? ` and ${entries.length - MAX_SHOWN} more` : ''
  const seen = entries.length === 0 ? 'nothing' : `${shown}${more}`
  return (
    `I see ${seen}. I am the built-in demo agent: my answers are scripted and no model was called, ` +
    'but this text, the tool call before it and its result all went through the log, and you can replay them.'
  )
}

function words(text: string): string[] {
  return text.split(/(?<= )/)
}
