import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { toPublished, toSource, type Exports, type Manifest } from './pack-exports.ts'

const clone: Manifest = {
  name: '@inspan/example',
  version: '0.1.0',
  exports: {
    '.': './src/index.ts',
    './deep': './src/deep/index.ts',
    './each/*': './src/each/*.ts',
    './schemas/*.json': './schemas/*.json',
    './page': { browser: './src/page/browser.ts', default: './src/page/server.ts' },
    './internal/*': null,
  },
  imports: { '#worker': './src/worker.ts' },
}

const published: Manifest = {
  name: '@inspan/example',
  version: '0.1.0',
  exports: {
    '.': { types: './dist/index.d.ts', default: './dist/index.js' },
    './deep': { types: './dist/deep/index.d.ts', default: './dist/deep/index.js' },
    './each/*': { types: './dist/each/*.d.ts', default: './dist/each/*.js' },
    './schemas/*.json': './schemas/*.json',
    './page': {
      browser: { types: './dist/page/browser.d.ts', default: './dist/page/browser.js' },
      default: { types: './dist/page/server.d.ts', default: './dist/page/server.js' },
    },
    './internal/*': null,
  },
  imports: { '#worker': { types: './dist/worker.d.ts', default: './dist/worker.js' } },
}

test('a published manifest points at built JavaScript and its types', () => {
  assert.deepEqual(toPublished(clone), published)
})

test('types come first: TypeScript takes the first condition that fits', () => {
  const { exports } = toPublished({ name: 'a', exports: './src/index.ts' })
  assert.deepEqual(Object.keys(exports as object), ['types', 'default'])
})

test('the source form is restored from the published one, in the same order of keys', () => {
  assert.equal(JSON.stringify(toSource(published)), JSON.stringify(clone))
})

test('each direction leaves alone what already has its form, so an interrupted pack can be run again', () => {
  assert.deepEqual(toPublished(published), published)
  assert.deepEqual(toSource(clone), clone)
})

test('a manifest that is half in one form and half in the other is brought to either', () => {
  const half: Manifest = { name: 'a', exports: { '.': './src/a.ts', './b': publishedEntry('b') } }
  assert.deepEqual(toSource(half).exports, { '.': './src/a.ts', './b': './src/b.ts' })
  assert.deepEqual(toPublished(half).exports, { '.': publishedEntry('a'), './b': publishedEntry('b') })
})

test('a manifest without exports stays as it is', () => {
  assert.deepEqual(toPublished({ name: 'a' }), { name: 'a' })
  assert.deepEqual(toSource({ name: 'a' }), { name: 'a' })
})

for (const entry of ['./lib/a.ts', './src/a.tsx', './src/a.mts', './a.cts']) {
  test(`an entry that no build would produce is refused: ${entry}`, () => {
    assert.throws(() => toPublished({ name: 'a', exports: { '.': entry } }), /cannot be published/)
  })
}

test('there and back is the identity, whatever the nesting', () => {
  const path = fc.stringMatching(/^[a-z*]{1,4}(\/[a-z-]{1,4}){0,2}$/)
  const target = fc.oneof(
    path.map((name) => `./src/${name}.ts`),
    path.map((name) => `./schemas/${name}.json`),
    path.map((name) => `./bin/${name}.js`),
    fc.constant(null),
  )
  const { exports } = fc.letrec<{ exports: Exports }>((tie) => ({
    exports: fc.oneof(
      { depthSize: 'small' },
      target,
      fc.dictionary(path, tie('exports'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }))
  fc.assert(
    fc.property(exports, (value) => {
      const there = toPublished({ name: 'a', exports: value })
      assert.deepEqual(toSource(there), { name: 'a', exports: value })
      assert.deepEqual(toPublished(toSource(there)), there)
    }),
  )
})

function publishedEntry(name: string): Exports {
  return { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` }
}
