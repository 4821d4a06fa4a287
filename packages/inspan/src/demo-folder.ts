import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent } from '@inspan/core'
import { scriptedModel, type Turn } from '@inspan/testing'

/** More answers than a demonstration needs. */
const STEPS = 3000

const SAMPLE = '# A throw-away folder\n\nEverything in here goes with the server.\n'

/** A folder with something in it, that is removed at the end. */
export async function demoFolder(): Promise<{ readonly path: string; readonly remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'inspan-demo-'))
  await writeFile(join(path, 'README.md'), SAMPLE)
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

/**
 * An agent without a model for `inspan serve`: it looks around, asks whether it may write a file, and says what it did.
 * Its words are scripted; its tools, approvals and files are real.
 */
export function folderDemo(): Agent {
  let turn = 0
  const steps: readonly (() => Turn)[] = [
    () => ({
      text: words('Let me look at the files here first.'),
      toolCalls: [{ name: 'list_files', input: { path: '.' } }],
      delayPerDeltaMs: 20,
    }),
    () => ({
      text: words('I would like to leave a note. Writing needs your approval:'),
      toolCalls: [
        {
          name: 'write_file',
          input: { path: `note-${++turn}.md`, content: `# Note ${turn}\n\nWritten by the demo agent.\n` },
        },
      ],
      delayPerDeltaMs: 20,
    }),
    () => ({
      text: words(
        'That is all. I am the **built-in demo agent**: my words are scripted, and no model was called. The tools, the ' +
          'approval and the files are real. Start `inspan serve --model provider/model` for an agent that thinks.',
      ),
      delayPerDeltaMs: 20,
    }),
  ]
  let step = 0
  const next = (): Turn => (steps[step++ % steps.length] as () => Turn)()
  return new Agent({ id: 'demo', model: scriptedModel(Array.from({ length: STEPS }, () => next)) })
}

function words(text: string): string[] {
  return text.split(/(?<= )/)
}
