import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Agent, type Workspace } from '@inspan/core'
import type { JsonObject } from '@inspan/protocol'
import { scriptedModel, type ModelTurn } from '@inspan/testing'
import { resultsOf } from './demo-results.ts'

/** More answers than a demonstration needs. */
const STEPS = 3000

const SAMPLE = '# A throw-away folder\n\nEverything in here goes with the server.\n'

export interface DemoFolder {
  readonly path: string
  /** Where worktrees of the folder are made. */
  readonly worktrees: string
  readonly remove: () => Promise<void>
}

/** A folder with something in it, that is removed at the end. Where there is git it is a repository. */
export async function demoFolder(): Promise<DemoFolder> {
  const base = await mkdtemp(join(tmpdir(), 'inspan-demo-'))
  const path = join(base, 'project')
  await mkdir(path)
  await writeFile(join(path, 'README.md'), SAMPLE)
  const git = (...args: readonly string[]): Promise<unknown> =>
    promisify(execFile)('git', ['-c', 'user.name=Inspan', '-c', 'user.email=inspan@localhost', ...args], { cwd: path })
  try {
    await git('init', '--quiet')
    await git('add', '--all')
    await git('commit', '--quiet', '--no-gpg-sign', '--message', 'Begin')
  } catch {
    // Without git there are no worktrees, and everything else works.
  }
  return { path, worktrees: join(base, 'worktrees'), remove: () => rm(base, { recursive: true, force: true }) }
}

/**
 * An agent without a model for `inspan serve`: it looks around, asks whether it may write a file, and says what it did.
 * Its words are scripted; its tools, approvals and files are real. `workspace`: where it works, if not where others do.
 */
export function folderDemo(workspace?: Workspace): Agent {
  let turn = 0
  const steps: readonly (() => ModelTurn)[] = [
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
  // Several conversations may go on at once, so each request says for itself how far it is.
  const next = (request: JsonObject): ModelTurn =>
    (steps[resultsOf(request).length % steps.length] as () => ModelTurn)()
  const model = scriptedModel(Array.from({ length: STEPS }, () => next))
  return new Agent({ id: 'demo', model, ...(workspace === undefined ? {} : { workspace }) })
}

function words(text: string): string[] {
  return text.split(/(?<= )/)
}
