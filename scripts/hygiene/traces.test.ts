import assert from 'node:assert/strict'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { tracesIn } from './traces.ts'

const parent = await realpath(await mkdtemp(join(tmpdir(), 'traces-')))
const root = join(parent, 'checkout')
await mkdir(join(parent, 'notes'))
await mkdir(root)
await writeFile(join(root, 'a.ts'), '')
after(() => rm(parent, { recursive: true, force: true }))

describe('a trace is', () => {
  it('the path of a file of this checkout', () => {
    assert.deepEqual(tracesIn(`see '${root}/a.ts'.`, root), [`${root}/a.ts`])
  })
  it('the path of a file next to it', () => {
    assert.deepEqual(tracesIn(`as in ${parent}/notes.`, root), [`${parent}/notes`])
  })
  it('the host of a registry', () => {
    const host = ['registry', 'npmjs', 'org'].join('.')
    assert.deepEqual(tracesIn(`https://${host}/zod`, root), [host])
  })
  it('the folder that a fixture was recorded in', () => {
    const folder = ['inspan-real', 'a1B2c3/'].join('-')
    assert.deepEqual(tracesIn(`"title":"tmp/${folder}work/a.txt"`, root), [folder])
  })
  for (const note of [
    ['seed', '003'],
    ['issue', '2 of 9'],
  ].map((words) => words.join(' '))) {
    it(`a note: ${note}`, () => assert.deepEqual(tracesIn(`// ${note}, below`, root), [note]))
  }
})

describe('no trace is', () => {
  const texts = [
    `/repo/a.ts`,
    `${parent}/does-not-exist`,
    parent,
    `/elsewhere${root}/a.ts`,
    'fc.assert(property, { seed: 42 })',
    'the fact/fiction.md',
    "mkdtemp(join(tmpdir(), 'inspan-real-'))",
  ]
  for (const text of texts) it(text.replace(parent, '<parent>'), () => assert.deepEqual(tracesIn(text, root), []))

  it('the neighbours of a checkout in the home folder, or at the root of the disk, are no traces', () => {
    assert.deepEqual(tracesIn(homedir(), join(homedir(), 'checkout')), [])
    assert.deepEqual(tracesIn(`${tmpdir()}/`, '/checkout'), [])
    assert.deepEqual(tracesIn(parent, join(tmpdir(), 'checkout')), [])
  })
})
