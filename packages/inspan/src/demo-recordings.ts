import { Agent, createTool, Harness } from '@inspan/core'
import type { Store } from '@inspan/protocol/store'
import { scriptedModel, type ModelTurn } from '@inspan/testing'

interface DemoRecording {
  readonly title: string
  readonly prompt: string
  readonly turns: readonly ModelTurn[]
}

const TEST_FAILS = 'not ok 3 - adds two numbers\n  expected: 5\n  actual: 6\n# tests 12\n# pass 11\n# fail 1'

/** Conversations with all that a card can show: reasoning, a failing command, an edit, a list of tasks. */
const RECORDINGS: readonly DemoRecording[] = [
  {
    title: 'Recording: an agent repairs a test',
    prompt: 'One test fails. Find out why and repair it.',
    turns: [
      {
        reasoning: 'The failing test tells where to look, so I run the tests first.',
        text: 'I run the tests first.',
        toolCalls: [{ name: 'execute_command', input: { command: 'npm test' } }],
        usage: { inputTokens: 1200, outputTokens: 60 },
      },
      {
        text: 'The sum is one too large. I look at the function:',
        toolCalls: [{ name: 'read_file', input: { path: 'src/add.ts' } }],
        usage: { inputTokens: 1500, outputTokens: 45 },
      },
      {
        text: 'There it is: a stray `+ 1`.',
        toolCalls: [
          {
            name: 'edit_file',
            input: { path: 'src/add.ts', old_string: '  return a + b + 1', new_string: '  return a + b' },
          },
        ],
        usage: { inputTokens: 1700, outputTokens: 70 },
      },
      {
        text: [
          'The test failed because `add` returned **one too much**.\n\n',
          '| file | change |\n| --- | --- |\n| `src/add.ts` | removed `+ 1` |\n\n',
          'This is a recording: nothing was run on your machine.',
        ],
        usage: { inputTokens: 1900, outputTokens: 80 },
      },
    ],
  },
  {
    title: 'Recording: an agent explains a project',
    prompt: 'What is this project, and where do I start?',
    turns: [
      {
        text: 'Let me look around.',
        toolCalls: [
          { name: 'list_files', input: { path: '.' } },
          { name: 'read_file', input: { path: 'README.md' } },
        ],
        usage: { inputTokens: 900, outputTokens: 40 },
      },
      {
        text: 'It is a small library with one function. Start with:\n\n1. `README.md`\n2. `src/add.ts`\n3. `npm test`\n',
        usage: { inputTokens: 1100, outputTokens: 55 },
      },
    ],
  },
]

const OUTPUTS: Readonly<Record<string, string>> = {
  execute_command: TEST_FAILS,
  read_file: 'export function add(a: number, b: number): number {\n  return a + b + 1\n}\n',
  edit_file: 'Changed src/add.ts',
  list_files: 'README.md\nsrc/\ntest/',
}

/** Fills an empty database with conversations to look at. Their agent and its tools are scripted. */
export async function addRecordings(storage: Store, resourceId: string): Promise<void> {
  const { items } = await storage.listThreads({ resourceId, limit: 1 })
  if (items.length > 0) return
  const tools = Object.entries(OUTPUTS).map(([id, output]) =>
    createTool({ id, description: 'Returns what was recorded.', category: 'read', execute: () => output }),
  )
  for (const { prompt, title, turns } of RECORDINGS) {
    const harness = new Harness({
      id: 'inspan',
      resourceId,
      storage,
      agent: new Agent({ id: 'recording', model: scriptedModel([...turns]), tools }),
      modes: [{ id: 'demo' }],
      // The tools only return what was recorded.
      permissions: { categories: { read: 'allow', edit: 'allow', execute: 'allow' } },
    })
    try {
      await harness.session.thread.create({ title })
      await harness.sendMessage({ content: prompt })
    } finally {
      await harness.destroy()
    }
  }
}
