import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

const PROGRAM = `
  import { registerHooks } from 'node:module'
  const urls = []
  registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) })
  const { Harness, Workspace } = await import('@inspan/core')
  const harness = new Harness({
    id: 'loaded',
    modes: [{ id: 'chat', defaultModelId: 'any/model' }],
    workspace: new Workspace({ root: process.cwd() }),
  })
  await harness.init()
  process.stdout.write(JSON.stringify(urls))
  await harness.destroy()`

test('importing the package, and making a harness with a workspace, loads no library that it may not need', () => {
  const { stderr, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  })
  assert.notEqual(stdout, '', stderr)
  const urls = JSON.parse(stdout) as readonly string[]
  assert.ok(urls.some((url) => url.endsWith('/core/src/index.ts')))
  const libraries = urls.flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? [])
  // They check schemas, estimate tokens and read commands for the rules; all of them are small.
  assert.deepEqual([...new Set(libraries)].toSorted(), ['@cfworker/json-schema', 'tokenx', 'unbash'])
  assert.ok(!urls.some((url) => url.includes('/tools/src/checkpoints/')))
})

test('importing the package loads no part of its tools that waits for its first use', () => {
  const program = PROGRAM.replace(/const harness[^]*?init\(\)/, '').replace('await harness.destroy()', '')
  const { stderr, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  })
  assert.notEqual(stdout, '', stderr)
  const loaded = (JSON.parse(stdout) as readonly string[]).flatMap((url) => /\/tools\/src\/(.+)/.exec(url)?.[1] ?? [])
  assert.ok(loaded.includes('workspace/workspace.ts'), 'what was loaded is seen')
  const later = [
    /^workspace\/(?!workspace\.ts$)/,
    /^checkpoints\//,
    /^mcp\/(?:connect|stdio-transport|limited-fetch|output-checks|redirect-listener)\.ts$/,
    /^loopback\/tool-server\.ts$/,
    /^browser\/playwright-browser\.ts$/,
    /^skills\/load-skill\.ts$/,
  ]
  assert.deepEqual(
    loaded.filter((path) => later.some((pattern) => pattern.test(path))),
    [],
  )
})
