/** The comparison page: what it claims about Inspan is run here; the peers are not installed for a test. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { killDuringApproval } from './compare/kill-during-approval.ts'
import { benchTable, countLines } from './compare/tables.ts'
import { PEERS } from './peers/install-peer.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const page = readFileSync(join(root, 'docs/guide/compare.md'), 'utf8')

const PROGRAMS = {
  Inspan: 'inspan.mjs',
  Mastra: 'mastra.mjs',
  'AI SDK harness': 'ai-sdk.mjs',
  'AI SDK harness, program saves the state': 'ai-sdk-saved.mjs',
} as const

/** Returns the cells of the row that begins with a name. */
function cells(name: string): string[] {
  const line = page.split('\n').find((each) => each.split('|')[1]?.trim() === name)
  return (line?.split('|') ?? []).slice(2, -1).map((cell) => cell.trim())
}

suite('the comparison page', { timeout: 180_000 }, () => {
  test('shows for Inspan what happens when its program is killed', async () => {
    const after = await killDuringApproval('inspan.mjs', join(root, 'node_modules'))
    assert.deepEqual(after, { isAskedAgain: true, toolRuns: 1, isFinished: true })
    assert.deepEqual(cells('Inspan').slice(0, 3), ['yes', '1', 'yes'])
  })

  for (const [name, program] of Object.entries(PROGRAMS)) {
    test(`has as many lines for ${name} as its program`, () => {
      assert.equal(cells(name)[3], String(countLines(join(root, 'scripts/compare', program))))
    })
  }

  test('names the versions that are compared', () => {
    for (const { packages } of Object.values(PEERS)) {
      const version = packages[0].slice(packages[0].lastIndexOf('@') + 1)
      assert.ok(page.includes(version), packages[0])
    }
  })

  test('has a row for every measure and a column for every subject', () => {
    const [head = '', , ...rows] = benchTable([]).split('\n')
    for (const title of [...head.split('|').slice(2, -1), ...rows.map((row) => row.split('|')[1] ?? '')]) {
      assert.ok(page.includes(`| ${title.trim()} `), title)
    }
    assert.match(benchTable([{ measure: 'idle', count: 100, subject: 'mastra', heapKb: 22.1 }]), /idle session.*22\.1/)
  })
})
