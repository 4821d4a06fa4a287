import assert from 'node:assert/strict'
import { createTool } from '@inspan/core'
import { scriptedModel } from '@inspan/testing'
import { harnessTable, testHarnessFactory } from '@inspan/testing/contracts'
import { NativeHarnessFactory } from '../index.ts'

const tools = [
  createTool({ id: 'work', description: 'Works.', inputSchema: { type: 'object' }, execute: async () => 'done' }),
]

testHarnessFactory((script) => new NativeHarnessFactory({ model: scriptedModel(script), tools }), {
  name: 'native',
  tool: { name: 'work' },
  onTable: (rows) => {
    const table = harnessTable('native', rows)
    assert.doesNotMatch(table, /failed|not possible/)
  },
})
