import assert from 'node:assert/strict'
import { harnessTable, testHarnessFactory } from './contracts/index.ts'
import { ScriptedHarnessFactory } from './index.ts'

testHarnessFactory((script) => new ScriptedHarnessFactory({ script, tools: { work: () => 'done' } }), {
  name: 'scripted',
  tool: { name: 'work' },
  onTable: (rows) => {
    const refused = rows.filter(({ result }) => result !== 'passed')
    assert.doesNotMatch(harnessTable('scripted', rows), /failed/)
    // What it cannot do, it says.
    assert.deepEqual(
      refused.map(({ item }) => item),
      [
        'compacts a thread into a new one, and leaves the old one as it was',
        'takes skills from a folder',
        'can be told to wait for the end of a limit',
        'takes a budget in tokens, or refuses it before there is a stream',
        'takes a level of effort, or refuses it before there is a stream',
        'lets its model search for tools',
        'lists the MCP servers of its config',
      ],
    )
  },
})
