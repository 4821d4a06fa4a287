import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createPolicy, MemoryStore, nativeDriver } from '@inspan/core'
import { createThread, ProcessOwner, ThreadRuntime } from '@inspan/core/engine'
import { NO_RULES } from '@inspan/protocol'
import type { RunnableTool } from '@inspan/protocol/driver'
import type { LogRecord } from '@inspan/protocol/log'
import { scriptedModel } from '@inspan/testing'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const readme = readFileSync(join(root, 'README.md'), 'utf8')

interface Branch {
  readonly depth: number
  readonly type: string
  /** The drawing shows that more of the same follows. */
  readonly goesOn: boolean
}

/** Returns the lines of the tree in the README. */
function treeOfTurn(): Branch[] {
  const drawing = /^## One turn, as it is recorded\n\n```\n(.+?)^```$/ms.exec(readme)?.[1] ?? ''
  return drawing
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [, lead = '', type = '', more = ''] = /^([│├└─ ]*)([\w.-]+)( …)?/.exec(line) ?? []
      return { depth: lead.length / 3, type, goesOn: more !== '' }
    })
}

const read: RunnableTool = { name: 'read', inputSchema: { type: 'object' }, execute: async () => ({ result: 'ok' }) }

/** Records a real turn: a model that reasons, speaks and calls a tool that needs approval. */
async function recordedTurn(): Promise<{ records: readonly LogRecord[]; hadBatches: boolean }> {
  const store = new MemoryStore()
  const owner = await ProcessOwner.register(store)
  const { id: thread } = await createThread(store, { resourceId: 'readme' })
  const model = scriptedModel([
    { reasoning: 'Look first.', text: 'I read it.', toolCalls: [{ name: 'read' }] },
    { text: 'Done.' },
  ])
  const runtime = await ThreadRuntime.open({
    store,
    owner,
    thread,
    policy: createPolicy({ rules: NO_RULES }),
    agents: { me: { driver: nativeDriver({ id: 'me', model }), tools: [read] } },
  })
  let hadBatches = false
  runtime.onEntry((entry) => {
    if (entry.kind === 'delta') hadBatches = true
    else if (entry.record.body.type === 'run.parked') {
      const [waitId = ''] = entry.state.head.waits.keys()
      void runtime.answer(waitId, { decision: 'approve' })
    }
  })
  const run = await runtime.submit({ agentId: 'me', parts: [{ id: '0', type: 'text', text: 'Read it.' }] })
  assert.equal(await run.done, 'complete')
  const { items } = await store.readRecords(thread, { limit: 100 })
  await runtime.close()
  await owner.close()
  await store.close()
  return { records: items, hadBatches }
}

/** Returns the depth of each record: in its run, in its turn, in its step. */
function branchesOf(records: readonly LogRecord[]): Pick<Branch, 'depth' | 'type'>[] {
  let depth = 0
  return records.map(({ body: { type } }) => {
    if (type === 'step.ended') return { depth: depth--, type }
    if (type === 'turn.ended') return { depth: depth--, type }
    if (type === 'run.ended') return { depth: depth--, type }
    if (type === 'run.started' || type === 'turn.started' || type === 'step.started') return { depth: depth++, type }
    return { depth, type }
  })
}

describe('the README', () => {
  it('has a first program of at most 15 lines', () => {
    const program = /^```ts first-program\n(.+?)^```$/ms.exec(readme)?.[1] ?? ''
    const lines = program.trimEnd().split('\n')
    assert.ok(lines.length > 5 && lines.length <= 15, `${lines.length} lines`)
    assert.ok(lines.every((line) => line.length <= 120))
  })

  it('draws one turn as it is really recorded', async () => {
    const { records, hadBatches } = await recordedTurn()
    const drawn = treeOfTurn()
    assert.ok(hadBatches && drawn.some(({ type, goesOn }) => type === 'batch' && goesOn), 'what streamed in is drawn')
    const shown = drawn.filter(({ type }) => type !== 'batch')
    const again = shown.findIndex(({ goesOn }) => goesOn)
    assert.equal(shown[again]?.type, 'step.started')
    const found = branchesOf(records)
    const plain = (branches: readonly Pick<Branch, 'depth' | 'type'>[]): string[] =>
      branches.map(({ depth, type }) => `${'  '.repeat(depth)}${type}`)
    // The first step as it is drawn, then more of the same, then the ends.
    assert.deepEqual(plain(found.slice(0, again + 1)), plain(shown.slice(0, again + 1)))
    const ends = shown.slice(again + 1)
    assert.deepEqual(plain(found.slice(-ends.length)), plain(ends))
    const between = found.slice(again + 1, -ends.length).map(({ type }) => type)
    assert.deepEqual(
      between.filter((type) => !shown.some((branch) => branch.type === type)),
      [],
    )
  })

  it('lists exactly the packages there are, each with a link', () => {
    const map = /^## Packages\n(.+?)^## /ms.exec(readme)?.[1] ?? ''
    const listed = [...map.matchAll(/^\| \[`(.+?)`\]\((.+?)\) +\| \S/gm)].map(([, name, path]) => `${name} ${path}`)
    const real = readdirSync(join(root, 'packages')).map((folder) => {
      const manifest = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8')) as {
        name: string
      }
      return `${manifest.name} packages/${folder}`
    })
    assert.deepEqual(listed.sort(), real.sort())
  })

  it('names the two commands, and they are the ones there are', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Readonly<Record<string, string>>
    }
    const commands = /^## Two commands\n\n```sh\n(.+?)^```$/ms.exec(readme)?.[1] ?? ''
    const named = [...commands.matchAll(/^npm (\w+)/gm)].map(([, name]) => name ?? '')
    assert.deepEqual(named, ['start', 'test'])
    assert.ok(named.every((name) => Object.hasOwn(scripts, name)))
  })

  it('links to documents that exist', () => {
    const links = [...readme.matchAll(/\]\(([\w./-]+)\)/g)].map(([, path]) => path ?? '')
    for (const path of links) assert.doesNotThrow(() => readdirOrFile(path), path)
    assert.ok(links.includes('docs/index.md'))
  })

  it('leads to every page, through the index of the docs', () => {
    const index = readFileSync(join(root, 'docs/index.md'), 'utf8')
    const links = new Set([...index.matchAll(/\]\(([\w./-]+)\)/g)].map(([, path]) => path ?? ''))
    const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    assert.deepEqual(
      pages.filter((name) => /^(guide|internals)[\\/][\w-]+\.md$/.test(name) && !links.has(name)),
      [],
    )
  })
})

function readdirOrFile(path: string): void {
  if (/\.(md|png)$|^LICENSE$/.test(path)) readFileSync(join(root, path))
  else readdirSync(join(root, path))
}
